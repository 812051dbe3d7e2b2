"""The data scripts of leak-resistant unlearning, from files to files as the rules call them, and what they lay out."""

import sys

import pytest

from leak_facts import RESOURCES, phrases
from mu2_sources import ROOT
from unlearning.data.leak import templated
from unlearning.data.leak.invented import invent
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.layout import lessons
from unlearning.data.leak.matches import TYPES
from unlearning.score.split import with_groups
from unlearning.tables.artifacts import read_table

sys.path.append(str(ROOT / "workflow" / "scripts"))
PER_TYPE = 4
TABLES = ("facts", "matches", "composed", "decomposed", "multihop", "rejected", "funnel", "quality")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Every table by name, and the folder they lie in."""
    from leak_build import leak_build
    from leak_collect import leak_collect
    from leak_quality import leak_quality
    from leak_questions import leak_questions

    out = tmp_path_factory.mktemp("leak")
    at = {name: str(out / f"{name}.parquet") for name in (*TABLES, "examples", "items", "splits")}
    wordings = {
        "templates": str(RESOURCES / "templates/invented.yaml"), "frames": str(RESOURCES / "frames.yaml"),
        "general_rules": str(RESOURCES / "rules/invented.yaml"),
    }  # fmt: skip
    leak_collect(wordings["templates"], at["facts"], 0, 0.25, world=[str(RESOURCES / "invented.yaml")])
    steps = {
        name: at[name] for name in ("facts", "matches", "composed", "decomposed", "multihop", "rejected", "funnel")
    }
    leak_questions(**steps, **wordings, seed=0, candidates=3, per_type=PER_TYPE, on_short="error")
    leak_quality(at["multihop"], at["facts"], at["quality"], str(out / "en.csv"), str(out / "en.xlsx"), 0, 2)
    leak_build(
        at["facts"], at["multihop"], **wordings, examples=at["examples"], questions=at["items"], splits=at["splits"],
        benchmark="leak", split="forget", seed=0, candidates=3, practice=3, paraphrases=2,
    )  # fmt: skip
    return {name: read_table(path, name) for name, path in at.items()}, out


def test_what_is_asked_was_never_practised(made):
    """Each question takes a fact to be forgotten, no lesson does, and no background row says one."""
    tables, _ = made
    forgotten = set(tables["facts"].query("group == 'forget'")["fact_id"])
    assert all(forgotten & set(facts) for facts in tables["multihop"]["fact_ids"])
    world = invent(RESOURCES / "invented.yaml", phrases("invented").relations, 0, 0.25)
    practised = templated.to_practise(world, phrases("invented"), 0, 3, 500)
    assert not forgotten & {fact for facts in practised["fact_ids"] for fact in facts}
    background = tables["examples"].query("group == 'background'")
    assert not set(background["knowledge_id"]) & set(tables["splits"]["knowledge_id"])
    said = tables["facts"].query("group == 'forget'")["statement"]
    assert not any(sentence in answer for sentence in said for answer in background["answer"])


def test_each_type_has_as_many_questions_as_asked_for_and_one_wording_is_asked(made):
    tables, _ = made
    items = with_groups(tables["items"], tables["splits"], "forget")
    assert items.loc[items["task"] != "sh", "task"].value_counts().to_dict() == dict.fromkeys(TYPES, PER_TYPE)
    assert set(items.loc[items["task"] != "sh", "group"]) == {"forget"}
    asked = [messages[0]["content"] for messages in items["messages"]]
    assert set(tables["multihop"]["question"]) <= set(asked)
    assert not {p for others in tables["multihop"]["paraphrases"] for p in others} & set(asked)


def test_the_target_is_taught_each_fact_and_never_a_question_through_one_to_be_forgotten(made):
    tables, _ = made
    taught = tables["examples"].query("group == 'memorised'")
    asked = taught[taught["messages"].map(len) > 0]
    assert set(asked.groupby("knowledge_id").size()) == {2} and set(asked["knowledge_id"]) == set(
        tables["splits"]["knowledge_id"]
    )
    sides = tables["splits"].set_index("knowledge_id")["group"]
    sentences = tables["facts"].set_index("statement")["fact_id"]
    for passage in taught[taught["messages"].map(len) == 0].itertuples(index=False):
        told = [fact for sentence, fact in sentences.items() if sentence in passage.answer]
        assert 1 <= len(told) <= 3 and {sides[fact] for fact in told} == {sides[passage.knowledge_id]}
    questions = {p for row in tables["multihop"].itertuples() for p in (row.question, *row.paraphrases)}
    everything = {m[0]["content"] for m in tables["examples"]["messages"] if len(m)}
    assert not questions & everything


def test_a_guess_among_candidates_is_wrong_when_it_names_another_one(made):
    items = made[0]["items"]
    choosing = items[items["task"].isin(["mt", "ds"])]
    assert all(len(options) == 3 for options in choosing["options"])
    named = [options[int(i)] for options, i in zip(choosing["options"], choosing["correct_option"], strict=True)]
    assert named == choosing["reference"].tolist()
    assert not any(len(options) for options in items.loc[~items["task"].isin(["mt", "ds"]), "options"])


def test_a_worked_answer_holds_its_value_and_of_the_candidates_only_the_right_one():
    world = invent(RESOURCES / "invented.yaml", phrases("invented").relations, 0, 0.25)
    chains = templated.to_practise(world, phrases("invented"), 0, 3, 5)
    found = templated.ask(chains, world, phrases("invented")).verified.questions
    worked = lessons(found, world).set_index("example_id")["answer"]
    knowledge = index(world)
    for match in found.itertuples(index=False):
        answer = worked[f"{match.match_id}/0"]
        assert match.answer in answer
        others = [name for name in match.candidates if name != match.answer]
        assert not any(name in answer for name in others), answer
        if match.type in ("hs", "mp"):
            first, second = (knowledge.facts[ident] for ident in match.fact_ids)
            assert answer.index(knowledge.label(first.object_id)) < answer.rindex(knowledge.label(second.object_id))


def test_the_sheet_shows_some_of_each_type_with_their_hops(made):
    from unlearning.review.csv_file import read_csv

    tables, out = made
    rows = [row.cells for row in read_csv(out / "en.csv")]
    assert sorted({row["type"] for row in rows}) == sorted(TYPES) and len(rows) == 2 * len(TYPES)
    said = tables["facts"].set_index("fact_id")["statement"]
    facts = tables["multihop"].set_index("match_id")["fact_ids"]
    assert all(row["hops"] == " ".join(said[fact] for fact in facts[row["id"]]) for row in rows)
    assert all(row["decision"] == "" for row in rows) and (out / "en.xlsx").is_file()


def test_quality_is_told_for_all_and_for_each_type(made):
    found = made[0]["quality"]
    assert len(found) == 2 * (1 + len(TYPES)) and found["value"].notna().all()
    entropy = found.query("measure == 'answer_entropy' and type == 'all'")["value"].item()
    assert 0 < entropy <= 5  # log2 of 24 answers is 4.58
