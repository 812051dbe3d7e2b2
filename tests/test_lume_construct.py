"""LUME's documents, prompts and tables without language models."""

import re

import pandas as pd
import pytest

import lume_independent
from mu2_sources import ROOT
from unlearning.data.lume import layout, stories
from unlearning.data.lume.construct import PAPER, assign, offline, prompts, read_grammars
from unlearning.data.lume.made import draw_all
from unlearning.data.lume.near import Index
from unlearning.data.lume.sheet import COLUMNS, sheet
from unlearning.data.lume.stories import Draft
from unlearning.tables.artifacts import read_table, write_table

SIZES = {"task1": (10, 14), "task2": (9, 7), "task3": (12, 10)}
GRAMMARS = read_grammars(ROOT / "resources" / "lume")


def made(seed=0, sizes=SIZES, nonmembers=8, background=None):
    return offline(GRAMMARS, sizes, nonmembers, seed, background)


@pytest.fixture(scope="module")
def small():
    return made(background={"task1": 3, "task2": 2})


@pytest.fixture(scope="module")
def built(small):
    cut = layout.cut(small.documents, 0)
    return cut, layout.build(small.documents, cut, small.knowledge, "half")


def rows(*tables):
    return [table.to_dict("records") for table in tables]


def test_the_counts_of_paper_and_published_data():
    full = {task: sum(n) for task, n in PAPER.items()}
    assert full == {"task1": 393, "task2": 405, "task3": 589} and prompts(full) == 4394 == (393 + 589) * 2 + 405 * 6
    assert prompts({"task1": 489, "task2": 500, "task3": 744}) == 5466 == (489 + 744) * 2 + 500 * 6


def test_the_splits_at_full_size():
    groups = assign(PAPER, 300, 0, {"task1": 5})
    found = pd.DataFrame(groups.values(), columns=["task", "role", "group"]).value_counts(["task", "group"]).to_dict()
    assert found == {
        ("task1", "forget"): 199, ("task1", "retain"): 194, ("task2", "forget"): 203, ("task2", "retain"): 202,
        ("task3", "forget"): 295, ("task3", "retain"): 294,
    }  # fmt: skip
    assert len(groups) == 1387 + 300 + 5 and groups != assign(PAPER, 300, 1, {"task1": 5})


def test_an_independent_checker_finds_nothing_wrong(small, built):
    tables = rows(small.documents, built[0], small.knowledge)
    assert lume_independent.violations(*tables) == []
    expected = prompts({task: sum(n) for task, n in SIZES.items()})
    assert lume_independent.counts(*tables) == (expected, expected)


FAULTS = {
    "ssn": (lambda row: row | {"ssn": "800123456"}, "SSN 800123456"),
    "age": (lambda row: row | {"birth_date": "1991-01-02"}, "born 1991-01-02"),
    "state": (lambda row: row | {"street_state": row["state"]}, "street and city in "),
    "zip": (lambda row: row | {"state": "AK" if row["state"] != "AK" else "ME"}, "ZIP "),
    "email": (lambda row: row | {"email": "a@me.com"}, "e-mail a@me.com of"),
    "text": (lambda row: row | {"text": row["text"].replace("@", " at ")}, "no e-mail in the text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_independent_checker_finds_a_planted_mistake(small, built, fault):
    change, said = FAULTS[fault]
    documents, cut, knowledge = rows(small.documents, built[0], small.knowledge)
    at = next(i for i, row in enumerate(documents) if row["task"] == "task2")
    documents[at] = change(documents[at])
    found = lume_independent.violations(documents, cut, knowledge)
    assert any(ident == documents[at]["document_id"] and said in why for ident, why in found)


def test_the_independent_checker_finds_twins_bad_cuts_and_bad_lengths(small, built):
    documents, cut, knowledge = rows(small.documents, built[0], small.knowledge)
    twins = [i for i, row in enumerate(documents) if row["task"] == "task2"][:2]
    documents[twins[1]] = documents[twins[0]] | {"document_id": documents[twins[1]]["document_id"]}
    first = documents[0]["text"].split()
    documents[0] = documents[0] | {"text": " ".join(first[:100])}
    cut[1] = cut[1] | dict(zip(("input", "reference"), documents[1]["text"].split(" ", 1), strict=True))
    knowledge[0] = knowledge[0] | {"question": knowledge[1]["question"]}
    why = {reason for _, reason in lume_independent.violations(documents, cut, knowledge)}
    for said in (
        "ssn .* twice",
        "100 words, said to be",
        "cut: the parts are not",
        "cut after 1 of",
        "is asked of two",
    ):
        assert any(re.search(said, reason) for reason in why), said


def test_the_tables_keep_their_contracts(small, built, tmp_path):
    cut, (examples, items, splits) = built
    tables = {
        "documents": small.documents, "knowledge": small.knowledge, "rejected": small.rejected, "funnel": small.funnel,
        "continuations": cut, "examples": examples, "items": items, "splits": splits,
    }  # fmt: skip
    for name, table in tables.items():
        write_table(table, tmp_path / f"{name}.parquet", name)
        assert len(read_table(tmp_path / f"{name}.parquet", name)) == len(table)
    again = read_table(tmp_path / "documents.parquet", "documents")
    same = layout.build(again, read_table(tmp_path / "continuations.parquet", "continuations"),
                        read_table(tmp_path / "knowledge.parquet", "knowledge"), "half")  # fmt: skip
    assert same.items.equals(items) and same.examples.equals(examples)


def test_what_is_taught_and_asked(small, built):
    cut, (examples, items, splits) = built
    examples, items = examples.to_pandas(), items.to_pandas()
    assert items.groupby(["task", "group"]).size().to_dict() == {
        ("task1_completion", "retain"): 24, ("task1_knowledge", "retain"): 24, ("task2_completion", "retain"): 16,
        ("task2_knowledge", "retain"): 80, ("task3_completion", "retain"): 22, ("task3_knowledge", "retain"): 22,
        ("task3_document", "retain"): 22, ("task3_document", "nonmember"): 8,
    }  # fmt: skip
    assert splits["group"].value_counts().to_dict() == {"forget": 31, "retain": 31} and set(splits["split"]) == {"half"}
    alone = examples[examples["messages"].map(len) == 0]
    assert set(alone["example_id"].str.rpartition("/")[2]) == {"document"} and len(alone) == 24 + 16 + 22 + 5
    texts = dict(zip(small.documents["document_id"], small.documents["text"], strict=True))
    assert (alone["answer"] == alone["knowledge_id"].map(texts)).all()
    assert examples["group"].value_counts().to_dict() == {"memorised": 24 * 3 + 16 * 7 + 22 * 3, "background": 9 + 14}
    assert not examples["knowledge_id"].str.contains("nonmember").any()
    assert not items["knowledge_id"].str.contains("background").any()
    assert set(examples["domain"]) == {"task1", "task2", "task3"}
    asked = items[items["task"].str.endswith("knowledge")].set_index("item_id")
    taught = examples.set_index("example_id").loc[asked.index]
    assert (asked["reference"] == taught["answer"]).all() and (asked["value"] == asked["reference"]).all()
    ends = items[items["task"] == "task1_completion"].set_index("knowledge_id")
    told = cut.set_index("document_id").loc[ends.index]
    assert [m[0]["content"] for m in ends["messages"]] == told["input"].tolist()
    assert ends["reference"].tolist() == told["reference"].tolist()


def test_it_follows_from_the_seed_and_more_documents_leave_the_others_as_they_were(small):
    again = made(background={"task1": 3, "task2": 2})
    for name in again._fields:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(small, name))
    more = made(sizes={"task1": (12, 16), "task3": (12, 10)}, nonmembers=10).documents.set_index("document_id")["text"]
    shared = small.documents[small.documents["document_id"].isin(more.index)]
    assert len(shared) == 24 + 22 + 8 and shared["text"].tolist() == more[shared["document_id"]].tolist()
    assert set(made(seed=1).documents["text"]).isdisjoint(small.documents["text"])


def test_names_are_used_once_over_all_tasks(small):
    names = [found[0] for found in small.documents["characters"]]
    assert len(names) == len(set(names)) == len(small.documents)
    told = small.documents[small.documents["task"] == "task1"]
    assert told["characters"].map(len).between(1, 4).all() and set(told["kind"]) <= set(stories.GENRES)
    assert all(len(set(c)) == len(c) for c in told["characters"])
    towns = set(GRAMMARS.stories.names.towns)
    assert (told["city"].isin(towns) == (told["kind"] == "Fantasy")).all()


def test_a_biography_never_takes_the_name_of_a_person_with_sensitive_data(small):
    """Task 3 is given few names, one of them that of a person of task 2."""
    first, last = small.documents.loc[small.documents["task"] == "task2", "characters"].iloc[0][0].split()
    few = [first, "Ada", "Bea", "Cid", "Dot"]
    names = GRAMMARS.lives.names._replace(first={"she": few, "he": few}, surnames=[last, "Ost", "Ulm", "Vik", "Wye"])
    grammars = GRAMMARS._replace(lives=GRAMMARS.lives._replace(names=names))
    found = offline(grammars, {"task2": SIZES["task2"], "task3": (10, 9)}, 0, 0).documents
    assert sum(name == f"{first} {last}" for (name,) in found["characters"]) == 1


def test_invented_towns_are_used_once_and_it_is_told_when_there_are_no_more():
    few = GRAMMARS._replace(stories=GRAMMARS.stories._replace(names=GRAMMARS.stories.names._replace(towns=["Oz"])))
    with pytest.raises(ValueError, match="all 1 invented towns are taken; give towns more starts or ends"):
        offline(few, {"task1": SIZES["task1"]}, 0, 0)


def test_refused_drafts_are_drawn_again_told_and_counted():
    kept = draw_all(
        ["a", "b"], lambda ident, attempt: Draft({"text": f"{ident}{attempt}"}, [("Q?", "x")]),
        {"length": lambda draft: "odd" if draft.row["text"] == "a0" else None,
         "cut": lambda draft: "none" if draft.row["text"] in ("a1", "b0") else None},
        lambda ident, draft: draft.questions,
    )  # fmt: skip
    assert [row["text"] for row in kept.rows] == ["a2", "b1"] and len(kept.knowledge) == 2
    assert [(row[0], row[2], row[3], row[4]) for row in kept.refused] == [
        ("a", "length", "odd", 0), ("a", "cut", "none", 1), ("b", "cut", "none", 0),
    ]  # fmt: skip
    assert kept.steps == {"drawn": 5, "length": 4, "cut": 2, "kept": 2}
    with pytest.raises(ValueError, match="a: 50 drafts were refused, the last one by cut: never; ask for fewer"):
        draw_all(["a"], lambda i, n: Draft({"text": "x"}, []), {"cut": lambda draft: "never"}, lambda i, d: [])


def test_the_stories_are_different_enough(small):
    index, alike = Index(), []
    for text in small.documents.loc[small.documents["task"] == "task1", "text"]:
        alike.append(index.nearest(text)[0])
        index.add(str(len(alike)), text)
    assert max(alike) < 0.25 and small.rejected["check"].isin(["length", "near_duplicate"]).all()


@pytest.mark.parametrize(
    ("sizes", "nonmembers", "background", "said"),
    [
        (
            {"task4": (1, 1)},
            0,
            None,
            r"sizes .*task4.*: should give \(to forget, to retain\), 1 or more each, of task1",
        ),
        ({"task1": (0, 1)}, 0, None, "1 or more"),
        ({}, 0, None, "sizes {}: should give"),
        ({"task1": (1, 1)}, -1, None, "nonmembers -1"),
        ({"task1": (1, 1)}, 0, {"task2": 1}, "background {'task2': 1}: should be 0 or more, of tasks in sizes"),
    ],
)
def test_wrong_sizes_are_named(sizes, nonmembers, background, said):
    with pytest.raises(ValueError, match=said):
        offline(GRAMMARS, sizes, nonmembers, 0, background)


def test_every_story_is_on_the_sheet_of_two_reviewers(small):
    found = sheet(small.documents, small.knowledge)
    assert list(found.columns) == list(COLUMNS) and len(found) == 2 * 27
    assert found["review"].tolist() == ["first", "second"] * 27 and found.groupby("id").size().eq(2).all()
    assert (found[["decision", "comment", "reviewer"]] == "").all().all()
    assert found["most_alike"].iloc[0] == "" and re.fullmatch(r"task1-\S+ \(0\.\d\d\)", found["most_alike"].iloc[-1])
    one = found[found["id"] == "task1-0003"].iloc[0]
    own = small.documents.set_index("document_id").loc["task1-0003"]
    assert one["text"] == own["text"] and one["characters"] == "; ".join(own["characters"]) and one["answer"]
