"""Cells of anyone's own files: lists written out in a CSV, and lists or objects where a text belongs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unlearning.data.cells import CellError, one_text, paraphrase_text, texts
from unlearning.data.files import build
from unlearning.data.files_spec import FilesError
from unlearning.data.records import place, read_records

AWKWARD = ["In Rome.", 'it\'s "so"', "a, b", "back\\slash", "two\nlines", "Köln 東京", "[x]", ""]


@pytest.mark.parametrize("written", [str, json.dumps], ids=["pandas", "json"])
def test_a_list_comes_back_from_a_csv_however_it_is_written(tmp_path, written):
    """pandas writes str(list) into a CSV; every awkward text survives, the empty one is left out."""
    lists = [AWKWARD, AWKWARD[:1], [], ["'quoted'"]]
    if written is str:
        pd.DataFrame({"wrong": lists}).to_csv(tmp_path / "lists.csv", index=False)
    else:
        pd.DataFrame({"wrong": [written(row) for row in lists]}).to_csv(tmp_path / "lists.csv", index=False)
    cells = read_records(tmp_path / "lists.csv")["wrong"]
    assert [texts(cell) for cell in cells] == [AWKWARD[:-1], AWKWARD[:1], [], ["'quoted'"]]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("In Rome.", ["In Rome."]),
        ("", []),
        (None, []),
        (["a", None, " ", 7], ["a", "7"]),
        (" ['a','b',] ", ["a", "b"]),
        ("[1, 2.5]", ["1", "2.5"]),
        ("[sic] he said", ["[sic] he said"]),  # brackets that do not hold all of it
        ("['a' + 'b']", "no list that can be read"),
        ("['a', 'b'", ["['a', 'b'"]),
        (str(np.array(["a", "b"])), "no list that can be read"),  # Python would read ['a' 'b'] as the one text ab
        ("['a', nan]", "no list that can be read"),
        ("[__import__('os').getcwd()]", "no list that can be read"),
        ("[Oslo]", 'write JSON, ["a", "b"]'),
        ('["a", ["b"]]', "a list where one text is needed: ['b']"),
        ({"a": 1}, "an object where one text is needed"),
    ],
)
def test_a_cell_of_a_list_column_is_read_or_refused(cell, found):
    if isinstance(found, list):
        assert texts(cell) == found
    else:
        with pytest.raises(CellError) as error:
            texts(cell)
        assert found in str(error.value)


def test_a_text_is_a_number_or_date_as_written_and_never_a_python_spelling():
    assert [one_text(cell) for cell in ("x", 7, 1.5, True, float("nan"), None, " ")] == [
        "x", "7", "1.5", "True", None, None, None,
    ]  # fmt: skip
    for cell in (["a"], {"a": 1}, b"a", ("a", "b")):
        with pytest.raises(CellError, match="where one text is needed"):
            one_text(cell)
    assert one_text("['a', 'b']") == "['a', 'b']"  # an answer about Python may be a list's spelling
    with pytest.raises(CellError, match="keep one paraphrase"):
        paraphrase_text("['a', 'b']")


ROWS = [{"q": "Who?", "a": "I."}, {"q": "What, then?", "a": "It."}, {"q": "Where?", "a": "Here."}]


def spec(file: Path) -> dict:
    return {
        "language": "en",
        "columns": {"question": "q", "answer": "a", "paraphrase": "para", "aliases": "also"},
        "sets": {
            "drop": {"file": str(file), "rows": [0, 1], "group": "forget"},
            "keep": {"file": str(file), "rows": [1, 3], "group": "retain"},
        },
        "splits": {"f1": ["drop"]},
    }


def written(rows: list[dict], file: Path) -> Path:
    frame = pd.DataFrame(rows)
    if file.suffix == ".parquet":
        frame.to_parquet(file)
    elif file.suffix == ".csv":
        frame.to_csv(file, index=False)
    else:
        file.write_text("\n".join(json.dumps(row) for row in rows) if file.suffix == ".jsonl" else json.dumps(rows))
    return file


def with_cell(column: str, cell) -> list[dict]:
    rows = [{"para": "x", "also": "y", **row} for row in ROWS]
    rows[2][column] = cell
    return rows


@pytest.mark.parametrize(
    ("name", "column", "cell", "message"),
    [
        ("m.jsonl", "a", ["Here.", "There."], "m.jsonl, line 3, column 'a' (answer): a list where one text is needed"),
        ("m.jsonl", "q", {"en": "Where?"}, "m.jsonl, line 3, column 'q' (question): an object where one text"),
        ("m.json", "a", ["Here."], "m.json, record 3, column 'a' (answer): a list where one text is needed: ['Here.']"),
        ("m.csv", "also", "['a' 'b']", "m.csv, line 4, column 'also' (aliases): ['a' 'b'] is no list that can be read"),
        ("m.csv", "para", "['a', 'b']", "m.csv, line 4, column 'para' (paraphrase): a list where one text is needed"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named_by_file_line_and_column(tmp_path, name, column, cell, message):
    file = written(with_cell(column, cell), tmp_path / name)
    with pytest.raises(FilesError) as error:
        build(spec(file))
    assert message in str(error.value)
    assert str(error.value).startswith(f"files.sets.keep, {tmp_path}")


def test_a_parquet_column_of_lists_is_refused_as_an_answer(tmp_path):
    rows = [{"para": "x", "also": ["y"], **row, "a": [row["a"]]} for row in ROWS]
    with pytest.raises(FilesError, match=r"m.parquet, record 1, column 'a' \(answer\): a list where one text"):
        build(spec(written(rows, tmp_path / "m.parquet")))


def test_aliases_that_pandas_wrote_become_a_list(tmp_path):
    file = written(with_cell("also", ["here", "it's here"]), tmp_path / "m.csv")
    assert build(spec(file)).items.column("aliases").to_pylist() == [["y"], ["y"], ["here", "it's here"]]


def test_a_record_is_placed_by_the_line_it_starts_at(tmp_path):
    csv = tmp_path / "m.csv"
    csv.write_text('q,a\n\n"Who,\nexactly ""he""?",I.\nWhat?,It.\n')
    assert list(read_records(csv)["a"]) == ["I.", "It."]
    assert [place(csv, row) for row in (0, 1)] == [f"{csv}, line 3", f"{csv}, line 5"]
    lines = tmp_path / "m.jsonl"
    lines.write_text('{"q": 1}\r\n\r\n{"q": 2}')
    assert [place(lines, row) for row in (0, 1)] == [f"{lines}, line 1", f"{lines}, line 3"]
