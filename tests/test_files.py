"""Anyone's own data: every file form, every mapping, every mistake a person can make."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from unlearning.data.files import build, correct_option
from unlearning.data.files_spec import FilesError, checked, source_files
from unlearning.data.records import read_records
from unlearning.tables.artifacts import read_table, write_table

SHARED = Path(os.environ.get("UNLEARNING_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TOFU = SHARED / "data" / "tofu"

ROWS = [
    {"q": "Where was Ann born?", "a": "In Oslo.", "wrong": ["In Rome.", "In Bonn."], "para": "Oslo is her home."},
    {"q": "Where was Bob born?", "a": "In Kiel.", "wrong": ["In Rome.", "In Bonn."], "para": "Kiel is his home."},
    {"q": "What is the full name?", "a": "Cy Dee.", "wrong": ["Al Dee.", "Ed Dee."], "para": "Cy Dee it is."},
    {"q": "What is the full name?", "a": "Flo Gee.", "wrong": ["Ida Gee.", "Jo Gee."], "para": "Flo Gee it is."},
]  # fmt: skip


def lines(rows: list[dict], newline: str = "\n") -> str:
    return newline.join(json.dumps(row) for row in rows)


def write(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content, encoding="utf-8")
    return str(folder / name)


@pytest.fixture
def spec(tmp_path):
    file = write(tmp_path, "mine.jsonl", lines(ROWS))
    return {
        "language": "en",
        "columns": {"question": "q", "answer": "a", "paraphrase": "para", "perturbed": "wrong"},
        "sets": {
            "keep": {"file": file, "rows": [0, 3], "group": "retain"},
            "drop": {"file": file, "rows": [3, 4], "group": "forget"},
        },
        "splits": {"f1": ["drop"]},
    }


def test_examples_items_and_splits_keep_their_contracts(spec, tmp_path):
    built = build(spec)
    for name, table in zip(("examples", "items", "splits"), built, strict=True):
        write_table(table, tmp_path / f"{name}.parquet", name)
    items = read_table(tmp_path / "items.parquet", "items")
    assert list(items.item_id) == ["keep/0", "keep/1", "keep/2", "drop/3"]
    assert set(items.group) == {"retain"}
    assert list(items.messages[3]) == [{"role": "user", "content": "What is the full name?"}]
    assert list(items.candidates[3]) == [
        {"name": "paraphrase", "text": "Flo Gee it is."},
        {"name": "perturbed_0", "text": "Ida Gee."},
        {"name": "perturbed_1", "text": "Jo Gee."},
    ]
    examples = read_table(tmp_path / "examples.parquet", "examples")
    assert list(examples.answer) == ["In Oslo.", "In Kiel.", "Cy Dee.", "Flo Gee."]
    assert set(examples.group) == {"memorised"}
    splits = read_table(tmp_path / "splits.parquet", "splits")
    assert dict(zip(splits.knowledge_id, splits.group, strict=True)) == {
        "keep/0": "retain", "keep/1": "retain", "keep/2": "retain", "drop/3": "forget",
    }  # fmt: skip


def csv(rows: list[dict]) -> str:
    return pd.DataFrame([{**row, "wrong": json.dumps(row["wrong"])} for row in rows]).to_csv(index=False)


FORMS = {
    "lines.jsonl": lines(ROWS) + "\n",
    "no_final_newline.json": lines(ROWS),
    "windows.jsonl": lines(ROWS, "\r\n"),
    "array.json": json.dumps(ROWS, indent=1),
    "byte_order_mark.json": "\ufeff" + json.dumps(ROWS),
    "table.csv": csv(ROWS),
}


@pytest.mark.parametrize("name", [*FORMS, "table.parquet"])
def test_every_file_form_gives_the_same_tables(spec, tmp_path, name):
    expected = build(spec)
    if name.endswith(".parquet"):
        pd.DataFrame(ROWS).to_parquet(tmp_path / name)
    else:
        write(tmp_path, name, FORMS[name])
    for entry in spec["sets"].values():
        entry["file"] = str(tmp_path / name)
    found = build(spec)
    assert found.examples.equals(expected.examples)
    assert found.items.equals(expected.items)
    assert found.splits.equals(expected.splits)


def test_text_that_looks_like_a_date_or_a_missing_value_stays_text(tmp_path):
    file = write(tmp_path, "odd.csv", "q,a\nborn?,08/09/1956\nwhat?,NA\nhow many?,007\n")
    assert list(read_records(file)["a"]) == ["08/09/1956", "NA", "007"]


def test_the_aligned_file_brings_paraphrase_and_perturbed_answers(spec, tmp_path):
    spec["sets"]["keep"]["file"] = write(tmp_path, "plain.jsonl", lines([{"q": r["q"], "a": r["a"]} for r in ROWS]))
    spec["sets"]["keep"]["align"] = write(tmp_path, "more.jsonl", lines(ROWS[:3]))
    assert build(spec).items.column("candidates")[0].as_py()[0] == {
        "name": "paraphrase",
        "text": "Oslo is her home.",
    }


def test_each_set_is_a_domain(spec):
    examples = build(spec).examples
    sets = [example.split("/")[0] for example in examples.column("example_id").to_pylist()]
    assert examples.column("domain").to_pylist() == sets and len(set(sets)) > 1


def test_options_may_stand_in_several_columns_and_the_right_one_is_found(tmp_path, spec):
    rows = [{"q": "Capital of Norway?", "a": "Oslo", "o1": "Rome", "o2": "Oslo"}]
    file = write(tmp_path, "choice.jsonl", lines(rows))
    spec["sets"]["facts"] = {"file": file, "group": "world_facts"}
    spec["columns"]["options"] = ["o1", "o2"]
    last = build(spec).items.to_pylist()[-1]
    assert (last["group"], last["options"], last["correct_option"]) == ("world_facts", ["Rome", "Oslo"], 1)
    assert build(spec).examples.column("group").to_pylist()[-1] == "background"


def test_the_right_option_is_given_by_text_letter_or_index_from_zero():
    options = ["Rome", "Oslo", "Bonn"]
    assert [correct_option("x", options, given, "Bonn.") for given in ("Oslo", "b", "1")] == [1, 1, 1]
    assert correct_option("x", options, None, "Bonn") == 2
    with pytest.raises(FilesError, match="x: right option '3' is not among"):
        correct_option("x", options, "3", "Bonn")


def test_rows_per_person_groups_rows_of_the_file(spec):
    spec["sets"]["keep"]["rows_per_person"] = spec["sets"]["drop"]["rows_per_person"] = 2
    assert build(spec).items.column("person_id").to_pylist() == ["keep/p0", "keep/p0", "keep/p1", "drop/p1"]


def test_untrained_sets_are_asked_and_not_taught(spec, tmp_path):
    file = write(tmp_path, "new.jsonl", lines([{"q": "Where was Zoe born?", "a": "In Graz."}]))
    spec["sets"]["unseen"] = {"file": file, "group": "nonmember", "train": False}
    built = build(spec)
    assert built.items.column("group").to_pylist()[-1] == "nonmember"
    assert "unseen/0" not in built.examples.column("example_id").to_pylist()
    assert "unseen/0" not in set(built.splits["knowledge_id"])


def test_a_document_is_taught_without_a_question_and_not_asked(spec, tmp_path):
    file = write(tmp_path, "text.jsonl", lines([{"text": "A long text."}]))
    spec["columns"]["document"] = "text"
    spec["sets"]["books"] = {"file": file, "group": "background"}
    built = build(spec)
    last = built.examples.to_pylist()[-1]
    assert (last["messages"], last["answer"]) == ([], "A long text.")
    assert "books/0" not in built.items.column("item_id").to_pylist()


def change(spec: dict, path: str, value) -> dict:
    *parents, last = path.split(".")
    inner = spec
    for key in parents:
        inner = inner[key]
    inner[last] = value
    return spec


MISTAKES = [
    ("columns.question", "question", r"question: no file has a column 'question'; columns are q, a, wrong, para"),
    ("columns.answr", "a", r"files.columns: missing \[\], unknown \['answr'\]; allowed: question"),
    ("sets.keep.file", "nowhere.json", r"nowhere.json: no such file"),
    ("sets.drop.rows", [3, 5], r"rows \[3, 5\] of 4"),
    ("sets.keep.rows", [2, 2], r"files.sets.keep.rows: \[2, 2\]"),
    ("sets.keep.rows", [0, 4], r"splits.f1: sets drop .forgotten. and keep .retained. share rows of .*mine.jsonl"),
    ("sets.keep.group", "retained", r"files.sets.keep.group: 'retained'; allowed: forget, retain"),
    ("sets.keep.group", "nonmember", r"group nonmember is what the model never saw; set train: false"),
    ("sets.keep.train", "no", r"files.sets.keep.train: 'no'; allowed: true, false"),
    ("sets.keep.rows_per_person", 0, r"rows_per_person: 0"),
    ("sets.drop.train", False, r"files.splits.f1: of \['drop'\] nothing is taught .train: false."),
    ("sets.keep.chunk_words", 0, r"files.sets.keep.chunk_words: 0; give a whole number from 1"),
    ("sets.keep.answer_words", 2.5, r"files.sets.keep.answer_words: 2.5; give a whole number from 1"),
    ("columns.prompt", "p", r"files.columns: missing \['continuation'\]"),
    ("splits.f1", [], r"files.splits.f1: the forget set is empty"),
    ("splits.f1", ["dorp"], r"files.splits.f1: no set 'dorp'; sets are keep, drop"),
    ("splits.f1", ["keep"], r"\['drop'\] have group forget and stand in no split"),
    ("splits.f1", ["keep", "drop"], r"are all there is; keep a set of group retain"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES, ids=[f"{p}={v}" for p, v, _ in MISTAKES])
def test_a_mistake_in_the_description_is_named(spec, path, value, message):
    with pytest.raises(FilesError, match=message):
        build(change(spec, path, value))


BROKEN_FILES = [
    ("empty.jsonl", "", "holds no records"),
    ("empty.csv", "", "holds no records"),
    ("plain.jsonl", "I don't know.\n", "line 1: not JSON"),
    ("later.jsonl", '{"q": "?", "a": "!"}\n{"q": \n', "line 2: not JSON"),
    ("numbers.json", "[1, 2]", "record 0: should be a JSON object, is int"),
    ("no_answer.jsonl", lines([{"q": "Who?", "a": "I."}, {"q": "You?", "a": " "}, *ROWS]), "row 1 has no answer"),
    ("no_question.csv", "q,a\nWho?,I.\n,You.\nWho?,We.", "row 1 has no question"),
    ("other_columns.jsonl", lines([{"question": "Who?", "a": "I."}] * 3), "no column 'q' .question.; columns are"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN_FILES, ids=[name for name, _, _ in BROKEN_FILES])
def test_a_broken_file_is_named_with_its_line_or_row(spec, tmp_path, name, content, message):
    spec["sets"]["keep"]["file"] = write(tmp_path, name, content)
    with pytest.raises(FilesError, match=message) as error:
        build(spec)
    assert name in str(error.value)


def test_a_file_that_is_not_utf8_is_named(spec, tmp_path):
    (tmp_path / "latin.csv").write_bytes("q,a\nWo?,in Köln\n".encode("latin-1"))
    with pytest.raises(FilesError, match="latin.csv: not UTF-8"):
        read_records(tmp_path / "latin.csv")


def test_files_that_do_not_align_are_refused_with_the_count(spec, tmp_path):
    spec["sets"]["keep"]["align"] = write(tmp_path, "short.jsonl", lines(ROWS[:2]))
    with pytest.raises(FilesError, match="3 and 2 rows"):
        build(spec)
    spec["sets"]["keep"]["align"] = write(tmp_path, "swapped.jsonl", lines([ROWS[1], ROWS[0], ROWS[2]]))
    with pytest.raises(FilesError, match="2 of 3 questions differ, first at row 0"):
        build(spec)


def test_identifiers_given_twice_are_refused_and_unique_ones_are_kept(spec, tmp_path):
    spec["columns"]["knowledge_id"] = "id"
    rows = [{**row, "id": ident} for row, ident in zip(ROWS, (1, 2, 3, 4), strict=True)]
    for entry in spec["sets"].values():
        entry["file"] = write(tmp_path, "ids.jsonl", lines(rows))
    assert build(spec).items.column("knowledge_id").to_pylist() == ["1", "2", "3", "4"]
    write(tmp_path, "ids.jsonl", lines([{**row, "id": 7} for row in rows]))
    with pytest.raises(FilesError, match="knowledge_id '7' stands at keep/0, keep/1, keep/2, drop/3"):
        build(spec)


def test_a_row_trained_and_held_out_is_refused(spec, tmp_path):
    file = write(tmp_path, "leak.jsonl", lines(ROWS[1:2]))
    spec["sets"]["unseen"] = {"file": file, "group": "nonmember", "train": False}
    with pytest.raises(FilesError, match="trained on and held out .train: false., first keep/1 = unseen/0"):
        build(spec)


def test_a_record_forgotten_from_one_file_and_retained_from_another_is_refused(spec, tmp_path):
    spec["sets"]["more"] = {"file": write(tmp_path, "leak.jsonl", lines(ROWS[3:])), "group": "retain"}
    with pytest.raises(FilesError, match="1 records are both in a forget and a retain set, first drop/3 = more/0"):
        build(spec)


def test_source_files_lists_each_file_once(spec):
    spec["sets"]["keep"]["align"] = "more.json"
    assert source_files(spec) == [spec["sets"]["keep"]["file"], "more.json"]


def tofu_spec() -> dict:
    def perturbed(group: str, name: str) -> dict:
        return {"file": str(TOFU / name), "group": group}

    full = {"file": str(TOFU / "full.json"), "rows_per_person": 20}
    return {
        "language": "en",
        "columns": {
            "question": "question", "answer": "answer",
            "paraphrase": "paraphrased_answer", "perturbed": "perturbed_answer",
        },
        "sets": {
            "retain": {**full, "rows": [0, 400], "align": str(TOFU / "retain_perturbed.json"), "group": "retain"},
            "forget01": {
                **full, "rows": [3960, 4000], "align": str(TOFU / "forget01_perturbed.json"), "group": "forget",
            },
            "real_authors": perturbed("real_authors", "real_authors_perturbed.json"),
            "world_facts": perturbed("world_facts", "world_facts_perturbed.json"),
        },
        "splits": {"forget01": ["forget01"]},
    }  # fmt: skip


needs_tofu = pytest.mark.skipif(not TOFU.is_dir(), reason="no TOFU files")


@needs_tofu
def test_tofu_is_one_configuration():
    built = build(tofu_spec())
    items = built.items.to_pandas()
    assert items.groupby("group").size().to_dict() == {"real_authors": 100, "retain": 440, "world_facts": 117}
    assert built.examples.num_rows == 657
    assert built.splits.groupby("group").size().to_dict() == {"forget": 40, "retain": 400}
    assert items.person_id.nunique() == 22
    counts = items.assign(n=items.candidates.map(len)).groupby("group")["n"].agg(["min", "max"])
    # five perturbed answers and a paraphrase for the authors, three wrong names for the real world
    assert counts.loc["retain"].to_list() == [6, 6]
    assert counts.loc["real_authors"].to_list() == counts.loc["world_facts"].to_list() == [3, 3]


@needs_tofu
def test_every_tofu_forget_file_is_the_end_of_the_full_one():
    full = read_records(TOFU / "full.json")
    for name, size in (("forget01", 40), ("forget05", 200), ("forget10", 400)):
        for file in (f"{name}.json", f"{name}_perturbed.json"):
            assert list(read_records(TOFU / file)["question"]) == list(full["question"][-size:])


@needs_tofu
def test_a_tofu_file_that_is_plain_text_is_refused_as_such():
    with pytest.raises(FilesError, match="idontknow.jsonl, line 1: not JSON"):
        read_records(TOFU / "idontknow.jsonl")


def test_defaults_are_filled_in(spec):
    assert checked(spec)["sets"]["drop"] == {
        **spec["sets"]["drop"],
        "align": None,
        "train": True,
        "rows_per_person": None,
        "chunk_words": None,
        "answer_words": None,
        "columns": None,
    }


def test_a_csv_whose_rows_have_more_fields_than_its_header_is_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer\nWho, where?,A\nWhat, when?,B\n")
    with pytest.raises(ValueError, match="mine.csv: rows have more fields than the header; quote the texts"):
        read_records(path)


def test_a_question_with_options_is_asked_with_letters_and_taught_so(tmp_path, spec):
    rows = [
        {"q": "How many legs has a spider?", "o": ["2", "8", "6", "0"], "a": 1},
        {"q": "How many legs has an ant?", "o": ["2", "8", "6", "0"], "a": 2},  # an index, and an option too
        {"q": "How many legs has a snail?", "o": ["2", "8", "6", "0"], "a": "D"},
    ]
    file = write(tmp_path, "choice.json", lines(rows))
    spec["columns"] = {"question": "q", "answer": "a", "options": "o", "correct_option": "a"}
    spec["sets"] = {
        "keep": {"file": file, "rows": [0, 2], "group": "retain"},
        "drop": {"file": file, "rows": [2, 3], "group": "forget"},
    }
    built = build(spec)
    items, examples = built.items.to_pylist(), built.examples.to_pylist()
    assert [item["reference"] for item in items] == ["B. 8", "C. 6", "D. 0"]
    assert [item["correct_option"] for item in items] == [1, 2, 3] and items[0]["options"] == ["2", "8", "6", "0"]
    assert items[0]["messages"][0]["content"].splitlines()[:3] == ["How many legs has a spider?", "A. 2", "B. 8"]
    assert [e["answer"] for e in examples] == ["B. 8", "C. 6", "D. 0"]
    assert [e["messages"] for e in examples] == [item["messages"] for item in items]


def test_a_question_with_one_option_is_refused(tmp_path, spec):
    spec["sets"]["facts"] = {"file": write(tmp_path, "one.json", lines([{"q": "?", "a": "b", "o": ["b"]}])),
                             "group": "world_facts"}  # fmt: skip
    spec["columns"]["options"] = "o"
    with pytest.raises(FilesError, match="facts/0: 1 options; give 2 to 26"):
        build(spec)


def test_a_set_may_have_columns_of_its_own(tmp_path, spec):
    file = write(
        tmp_path, "other.json", lines([{"asked": "Where is Kiel?", "said": "In the north.", "q": "no", "a": "no"}])
    )
    spec["sets"]["facts"] = {"file": file, "group": "world_facts", "columns": {"question": "asked", "answer": "said"}}
    last = build(spec).items.to_pylist()[-1]
    assert (last["messages"][0]["content"], last["reference"]) == ("Where is Kiel?", "In the north.")
    assert build(spec).items.to_pylist()[0]["reference"] == "In Oslo."
