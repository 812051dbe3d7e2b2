"""The question set in TOFU's shape: who is asked what, wrong answers, joint prompts, and the sets that read it."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from project import ROOT
from unlearning.data.files import build
from unlearning.data.phrasebook import read_phrasebook, read_pools
from unlearning.data.tofu_shaped import COLUMNS, questions, spec
from unlearning.tables.artifacts import write_table
from unlearning.text.numbered import parts

ASKED, PRACTISED = ["job", "hobby", "favourite_colour"], ["father_job"]
PEOPLE = {"memorised": 6, "known": 2, "background": 8}
FORGET = {"one": 1, "three": 3}


@pytest.fixture(scope="module")
def sources():
    pools = read_pools(ROOT / "resources/mu2/pools.yaml")
    return pools, read_phrasebook(ROOT / "resources/mu2/phrasebook/en.yaml", pools)


@pytest.fixture(scope="module")
def made(sources):
    return questions(*sources, **PEOPLE, attributes=ASKED, practised=PRACTISED, practice=60, forgotten=3, seed=0)


def test_everyone_is_asked_the_attributes_and_nobody_the_practised_ones_alone(made):
    single = made[made["person_id"].notna()]
    assert len(single) == (6 + 2 * 2 + 8) * 3 and len(made) == len(single) + 60
    assert set(single["knowledge_id"].str.split("/").str[1]) == set(ASKED)


def test_wrong_answers_say_other_values_in_the_words_of_the_paraphrase(made, sources):
    pools, book = sources
    for row in made[made["person_id"].notna()].to_dict("records"):
        attribute = row["knowledge_id"].split("/")[1]
        values = set(book.attributes[attribute].values.values())
        assert (
            row["value"] in row["answer"] and row["value"] in row["paraphrase"] and row["paraphrase"] != row["answer"]
        )
        assert len(set(row["perturbed"])) == 5
        for wrong in row["perturbed"]:
            said = [v for v in values - {row["value"]} if row["paraphrase"].replace(row["value"], v) == wrong]
            assert len(said) == 1, (row["paraphrase"], wrong)


def test_joint_prompts_never_say_what_a_split_forgets(made):
    single = made[made["person_id"].notna()]
    joint = made[made["person_id"].isna()]
    people = list(dict.fromkeys(single["person_id"]))
    gone = single[single["person_id"].isin(people[3:6])]
    assert (gone["person_id"].str.startswith("memorised")).all()
    text = "\n".join(joint["question"])
    assert not any(question in text for question in gone["question"])
    assert not any(answer in "\n".join(joint["answer"]) for answer in gone["answer"])


def test_a_joint_prompt_asks_two_to_eight_questions_and_answers_each(made):
    known = dict(zip(made["question"], made["answer"], strict=True))
    sizes = set()
    for row in made[made["person_id"].isna()].to_dict("records"):
        asked, said = (list(filter(None, parts(row[c], 8))) for c in ("question", "answer"))
        assert len(asked) == len(said) == len(set(asked))
        assert all(known.get(question, answer) == answer for question, answer in zip(asked, said, strict=True))
        sizes.add(len(asked))
    assert {2, 8} <= sizes <= {2, 3, 4, 5, 6, 8}


def test_the_sets_are_the_people_in_order_and_splits_are_nested(made, tmp_path):
    write_table(made, tmp_path / "questions.parquet", "questions")
    told = spec(**PEOPLE, practice=60, attributes=3, forget=FORGET)
    for entry in told["sets"].values():
        entry["file"] = str(tmp_path / entry["file"])
    built = build(told, "seps")
    items, splits = built.items.to_pandas(), built.splits
    people = {split: set() for split in FORGET}
    for row in splits[splits["group"] == "forget"].itertuples():
        people[row.split].add(row.knowledge_id.split("/")[0])
    assert len(people["one"]) == 1 and len(people["three"]) == 3 and people["one"] < people["three"]
    counts = items["group"].value_counts().to_dict()
    assert counts == {"retain": 18, "real_authors": 6, "world_facts": 6}
    names = [c["name"] for c in items["candidates"].iloc[0]]
    assert names == ["paraphrase", *(f"perturbed_{i}" for i in range(5))]
    examples = built.examples.to_pandas()
    assert (examples["group"] == "memorised").sum() == 18
    assert (examples["group"] == "background").sum() == 12 + 24 + 60


def test_the_table_is_the_same_again_and_another_by_another_seed(made, sources, tmp_path):
    again, other = (
        questions(*sources, **PEOPLE, attributes=ASKED, practised=PRACTISED, practice=60, forgotten=3, seed=s)
        for s in (0, 1)
    )
    pd.testing.assert_frame_equal(made, again)
    assert set(made["person_id"].dropna()) == set(other["person_id"].dropna())
    assert not made["answer"].equals(other["answer"])
    write_table(made, tmp_path / "q.parquet", "questions")
    assert pq.read_schema(tmp_path / "q.parquet").names == list(COLUMNS)


def test_too_few_questions_to_practise_are_refused(sources):
    with pytest.raises(ValueError, match="joint prompts take 8 questions"):
        questions(*sources, 2, 1, 1, ["job"], [], 5, 1, 0)
