"""LUME's published files, and biographies of real people, as they are read."""

import itertools
import json
import os
import sys
import types
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from mu2_sources import ROOT
from unlearning.data.files_spec import FilesError
from unlearning.data.lume import layout
from unlearning.data.lume.made import ALIKE
from unlearning.data.lume.near import Index
from unlearning.data.lume.published import FIELDS, joined, read_published
from unlearning.data.lume.real import from_datasets, read_biographies, sample
from unlearning.tables.artifacts import write_table

LUME = Path(os.environ.get("UNLEARNING_SHARED", ROOT.parent / "shared")) / "data" / "lume"
needs_data = pytest.mark.skipif(not (LUME / "forget.jsonl").is_file(), reason="LUME's published files are not there")

STORY = '"1f-a"'  # identifiers of Task1 have quotes in them
FORGET = [
    (f"{STORY}sc1", "Ann sang. Bo", "left at noon.", "Task1"),
    (f"{STORY}qa0", "Who sang?", "Ann", "Task1"),
    ("77sc1", "Cid Roe was born in 1970.", "\nHe sang.", "Task3"),
    ("77qa0", "When was Cid Roe born?", "1970", "Task3"),
]
RETAIN = [
    ("b2sc1", "Dot Ash was born on May 1, 1970.", "Call 291-555-0101.", "Task2"),
    *((f"b2qa{n}", f"Which is number {n} of Dot Ash?", str(n), "Task2") for n in (11, 0, 2, 10)),
]


def write(folder, forget=FORGET, retain=RETAIN):
    for name, rows in (("forget", forget), ("retain", retain)):
        lines = [json.dumps(dict(zip(FIELDS, row, strict=True)) if isinstance(row, tuple) else row) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_rows_become_documents_cuts_and_questions(tmp_path):
    found = read_published(write(tmp_path))
    assert found.documents[["document_id", "task", "group", "text"]].values.tolist() == [
        ["1f-a", "task1", "forget", "Ann sang. Bo left at noon."],
        ["77", "task3", "forget", "Cid Roe was born in 1970.\nHe sang."],
        ["b2", "task2", "retain", "Dot Ash was born on May 1, 1970. Call 291-555-0101."],
    ]
    assert found.documents["n_words"].tolist() == [6, 8, 10]
    assert found.continuations["reference"].tolist() == ["left at noon.", "\nHe sang.", "Call 291-555-0101."]
    own = found.knowledge[found.knowledge["document_id"] == "b2"]
    assert own[["number", "answer"]].values.tolist() == [[0, "0"], [2, "2"], [10, "10"], [11, "11"]]
    for name in ("documents", "continuations", "knowledge"):
        write_table(getattr(found, name), tmp_path / f"{name}.parquet", name)
    built = layout.build(found.documents, found.continuations, found.knowledge, "published")
    assert "b2/qa11" in built.items["item_id"].to_pylist() and built.splits["group"].tolist() == ["forget"] * 2 + [
        "retain"
    ]


def changed(at, **cells):
    row = dict(zip(FIELDS, FORGET[at], strict=True)) | cells
    return [*FORGET[:at], {key: value for key, value in row.items() if value is not ...}, *FORGET[at + 1 :]]


@pytest.mark.parametrize(
    ("forget", "said"),
    [
        (changed(1, output=""), "forget.jsonl, line 2, output: is empty; every row has id, input, output, task"),
        (changed(1, output=None), "forget.jsonl, line 2, output: is empty"),
        (changed(1, input=["Who?"]), "forget.jsonl, line 2, input: a list where one text is needed"),
        (changed(2, task="Task4"), "forget.jsonl, line 3: task 'Task4'; tasks are Task1, Task2, Task3"),
        (changed(3, id="77"), "forget.jsonl, line 4: id '77' should be a document's identifier and sc1 or qa<number>"),
        (changed(3, id="77sc2"), "forget.jsonl, line 4: id '77sc2' should be"),
        (changed(3, id="qa0"), "forget.jsonl, line 4: id 'qa0' should be"),
        (changed(1, id="77qa0"), "forget.jsonl, line 4: id '77qa0' occurs twice; keep one"),
        (changed(3, task="Task1"), "forget.jsonl, line 4: id '77qa0' is of a document that stands in another task or"),
        (changed(3, id="78qa0"), "forget.jsonl, line 4: id '78qa0' has no row with suffix sc1"),
        ([("b2qa7", "What?", "x", "Task2")], "retain.jsonl, line 1: id 'b2sc1' is of a document that stands in"),
        ([{"id": "1sc1", "input": "a", "output": "b"}], "forget.jsonl: no field task; a row has id, input, output"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_file_and_line(tmp_path, forget, said):
    with pytest.raises(FilesError) as error:
        read_published(write(tmp_path, forget))
    assert said in str(error.value)


def test_broken_json_and_a_missing_file_are_named(tmp_path):
    write(tmp_path)
    (tmp_path / "retain.jsonl").write_text('{"id": "a\n')
    with pytest.raises(FilesError, match="retain.jsonl, line 1: not JSON"):
        read_published(tmp_path)
    (tmp_path / "retain.jsonl").unlink()
    with pytest.raises(FilesError, match="retain.jsonl: no such file"):
        read_published(tmp_path)


@needs_data
def test_the_published_data_has_the_counts_it_is_known_for():
    found = read_published(LUME)
    counts = Counter(zip(found.rows["group"], found.rows["task"], strict=True))
    assert counts == {
        ("forget", "task1"): 486, ("forget", "task2"): 1500, ("forget", "task3"): 746,
        ("retain", "task1"): 492, ("retain", "task2"): 1500, ("retain", "task3"): 742,
    }  # fmt: skip
    assert Counter(found.documents["task"]) == {"task1": 489, "task2": 500, "task3": 744}
    assert len(found.rows) == 5466 and found.rows["id"].str.contains('"').sum() == 486 + 492
    assert not found.documents["document_id"].str.contains('"').any()
    assert found.continuations["reference"].str.startswith("\n").sum() == 2
    assert len(found.knowledge) == 489 + 500 * 5 + 744 and found.knowledge["number"].max() == 4
    asked = layout.build(found.documents, found.continuations, found.knowledge, "published").items
    assert Counter(asked["task"].to_pylist())["task2_knowledge"] == 2500


def test_documents_are_joined_as_they_were_cut():
    assert [joined("a", "b"), joined("a", "\nb"), joined("a\n", "b")] == ["a b", "a\nb", "a\nb"]


WORDS = [f"word{n}" for n in range(60)]


def life(n, sentences=12):
    """A text of about ten words a sentence, much unlike that of another n."""
    return " ".join(
        f"P{n} " + " ".join(WORDS[(n * 7 + k * n + s) % 60] for k in range(9)) + "." for s in range(sentences)
    )


def biographies(n):
    return pd.DataFrame({"id": [str(i) for i in range(n)], "title": None, "text": [life(i + 1) for i in range(n)]})


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_biographies_are_read_from_files_of_every_kind(tmp_path, ending):
    rows = pd.DataFrame({"page": ["1", "2"], "name": ["Ann", "Bo"], "body": ["Ann sang.\nOften.", "He left."]})
    path = tmp_path / f"people.{ending}"
    {"jsonl": lambda: rows.to_json(path, orient="records", lines=True), "csv": lambda: rows.to_csv(path, index=False),
     "parquet": lambda: rows.to_parquet(path)}[ending]()  # fmt: skip
    found = read_biographies(path, {"id": "page", "title": "name", "text": "body"})
    assert found["text"].tolist() == ["Ann sang.\nOften.", "Bo\n\nHe left."] and found["id"].tolist() == ["1", "2"]
    plain = read_biographies(path, {"id": "page", "text": "body"})
    assert plain["text"].tolist() == ["Ann sang.\nOften.", "He left."] and plain["title"].isna().all()


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        ([{"id": "1", "text": "a"}, {"id": "1", "text": "b"}], None, "people.jsonl, line 2: id '1' occurs twice; keep"),
        ([{"id": "1", "text": "a"}, {"id": "2", "text": " "}], None, "people.jsonl, line 2, text: is empty"),
        ([{"id": "1", "text": ["a"]}], None, "people.jsonl, line 1, text: a list where one text is needed"),
        ([{"id": "1", "body": "a"}], None, "people.jsonl: no column text; columns are id, body"),
        ([{"id": "1", "text": "a"}], {"text": "text"}, "should say which are id and text, and title if any (id)"),
        ([{"id": "1", "text": "a"}], {"id": "id", "text": "text", "x": "id"}, "and title if any (x)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_of_biographies_is_named(tmp_path, rows, columns, said):
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(FilesError) as error:
        read_biographies(path, *([columns] if columns else []))
    assert said in str(error.value) and "people.jsonl" in str(error.value)


def test_members_and_non_members_are_disjoint_and_fit(tmp_path):
    given = biographies(20)
    given.loc[0, "text"] = "Too short. Really."
    given.loc[1, "text"] = "word " * 120
    given.loc[2, "text"] = given.loc[3, "text"].replace("P4", "P5")
    made = sample(given, 5, 4, 6, 0)
    assert made.documents["role"].value_counts().to_dict() == {"memorised": 9, "nonmember": 6}
    assert made.documents["group"].value_counts().to_dict() == {"forget": 5, "retain": 4}
    assert made.documents["document_id"].is_unique and made.documents["n_words"].between(100, 200).all()
    everyone = sample(given, 5, 4, 8, 0)
    assert sorted(everyone.rejected["check"]) == ["cut", "length", "near_duplicate"]
    assert everyone.documents["document_id"].tolist()[:9] == made.documents["document_id"].tolist()[:9]
    assert everyone.funnel.set_index("step")["n"].to_dict() == {
        "drawn": 20, "length": 19, "cut": 18, "near_duplicate": 17, "kept": 17,
    }  # fmt: skip
    index = Index()
    for at, text in enumerate(everyone.documents["text"]):
        assert index.nearest(text)[0] < ALIKE
        index.add(str(at), text)
    write_table(everyone.documents, tmp_path / "documents.parquet", "documents")
    assert len(layout.cut(everyone.documents, 0)) == 9
    with pytest.raises(ValueError, match="18 biographies of 100 to 200 words are needed, 17 of 20 can be used"):
        sample(given, 5, 4, 9, 0)
    assert sample(given, 5, 4, 6, 1).documents["document_id"].tolist() != made.documents["document_id"].tolist()


def test_a_data_set_is_read_by_datasets(monkeypatch):
    """A stand-in for `datasets`, whose import takes seconds: which options are used, and that rows are streamed."""
    asked = []

    def load_dataset(path, name, **options):
        asked.append((path, name, options))
        return ({"page": str(n), "body": life(n)} for n in itertools.count())

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
    found = from_datasets("some/lives", {"id": "page", "text": "body"}, revision="abc", config="en", most=3)
    assert found["id"].tolist() == ["0", "1", "2"] and found["text"].tolist() == [life(n) for n in range(3)]
    assert asked == [("some/lives", "en", {"split": "train", "revision": "abc", "streaming": True})]
    with pytest.raises(FilesError, match="some/lives: no column id, text; columns are page, body"):
        from_datasets("some/lives", most=1)


@needs_data
def test_the_published_biographies_serve_as_real_ones(tmp_path):
    documents = read_published(LUME).documents
    rows = documents[documents["task"] == "task3"][["document_id", "text"]].rename(columns={"document_id": "id"})
    rows.to_parquet(tmp_path / "people.parquet")
    made = sample(read_biographies(tmp_path / "people.parquet"), 60, 60, 60, 0)
    assert len(made.documents) == 180 and len(layout.cut(made.documents, 0)) == 120
