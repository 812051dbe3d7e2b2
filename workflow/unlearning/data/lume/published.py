"""LUME's published files (JSON Lines): their rows, and the documents and prompts that these are of."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.data.cells import CellError, one_text
from unlearning.data.files_spec import FilesError
from unlearning.data.lume.made import KNOWLEDGE, table
from unlearning.data.lume.texts import n_words
from unlearning.data.records import place, read_records

FIELDS = ("id", "input", "output", "task")
TASKS = {"Task1": "task1", "Task2": "task2", "Task3": "task3"}
FILES = {"forget": "forget.jsonl", "retain": "retain.jsonl"}
_ID = re.compile(r'(?P<document>"?[^"]+"?)(?P<suffix>sc1|qa(?P<number>\d+))')


class Published(NamedTuple):
    """`rows` as the files have them, and the tables `documents`, `continuations` and `knowledge` that they make."""

    rows: pd.DataFrame
    documents: pd.DataFrame
    continuations: pd.DataFrame
    knowledge: pd.DataFrame


def read_published(folder: Path | str, files: Mapping[str, str] = FILES) -> Published:
    """The published data in `folder`: group (forget, retain) -> file.

    An identifier is a document's, in Task1 in literal quotes, with suffix sc1 (completion) or qa0, qa1 … (question). A
    document is its completion's input and output, joined by a space unless the output begins with a line break; the
    cut is the publishers', not always where a sentence begins. Questions keep their number. Answers are in canonical
    form, whatever the text's. FilesError names the file and row, what is wrong and what is allowed.
    """
    rows = pd.concat([_rows(Path(folder) / name, group) for group, name in files.items()], ignore_index=True)
    _check(rows)
    ends = rows[rows["number"].isna()]
    asked = rows[rows["number"].notna()].sort_values("number", kind="stable")
    order = {ident: at for at, ident in enumerate(ends["document_id"])}
    asked = asked.sort_values("document_id", key=lambda ids: ids.map(order), kind="stable")
    documents = table([
        {"document_id": row.document_id, "task": row.task, "role": "memorised", "group": row.group, "text": text,
         "n_words": n_words(text)}
        for row in ends.itertuples(index=False) for text in [joined(row.input, row.output)]
    ])  # fmt: skip
    continuations = ends[["document_id", "input", "output"]].rename(columns={"output": "reference"})
    knowledge = asked.rename(columns={"input": "question", "output": "answer"})[KNOWLEDGE].astype({"number": "int32"})
    return Published(rows, documents, continuations.reset_index(drop=True), knowledge.reset_index(drop=True))


def joined(before: str, after: str) -> str:
    """The document that was cut into `before` and `after`."""
    return f"{before}{after}" if after[:1].isspace() or before[-1:].isspace() else f"{before} {after}"


def _rows(path: Path, group: str) -> pd.DataFrame:
    found = read_records(path)
    if missing := [field for field in FIELDS if field not in found.columns]:
        raise FilesError(f"{path}: no field {', '.join(missing)}; a row has {', '.join(FIELDS)}")
    read = [_row(path, number, row, group) for number, row in enumerate(found[list(FIELDS)].to_dict("records"))]
    columns = ["id", "document_id", "number", "input", "output", "task", "group", "place"]
    return pd.DataFrame(read, columns=columns).astype({"number": "Int32"})


def _row(path: Path, number: int, row: dict, group: str) -> tuple:
    texts = {}
    for field, cell in row.items():
        try:
            texts[field] = one_text(cell)
        except CellError as error:
            raise FilesError(f"{place(path, number)}, {field}: {error}") from None
        if texts[field] is None:
            raise FilesError(f"{place(path, number)}, {field}: is empty; every row has {', '.join(FIELDS)}")
    if (task := TASKS.get(texts["task"])) is None:
        raise FilesError(f"{place(path, number)}: task {texts['task']!r}; tasks are {', '.join(TASKS)}")
    found = _ID.fullmatch(texts["id"])
    if found is None:
        raise FilesError(
            f"{place(path, number)}: id {texts['id']!r} should be a document's identifier and sc1 or qa<number>"
        )
    asked = None if found["number"] is None else int(found["number"])
    return (
        texts["id"],
        found["document"].strip('"'),
        asked,
        texts["input"],
        texts["output"],
        task,
        group,
        (path, number),
    )


def _check(rows: pd.DataFrame) -> None:
    """FilesError: an identifier given twice, a document in two tasks or groups, or without its completion."""
    twice = rows[rows.duplicated(["document_id", "number"])]
    if len(twice):
        raise FilesError(f"{place(*twice['place'].iloc[0])}: id {twice['id'].iloc[0]!r} occurs twice; keep one")
    first = rows.groupby("document_id")[["task", "group"]].transform("first")
    other = rows[(first != rows[["task", "group"]]).any(axis="columns")]
    if len(other):
        row = other.iloc[0]
        raise FilesError(
            f"{place(*row['place'])}: id {row['id']!r} is of a document that stands in another task or file too; keep "
            "all rows of a document together"
        )
    whole = set(rows.loc[rows["number"].isna(), "document_id"])
    lost = rows[~rows["document_id"].isin(whole)]
    if len(lost):
        raise FilesError(
            f"{place(*lost['place'].iloc[0])}: id {lost['id'].iloc[0]!r} has no row with suffix sc1, so its document "
            "is not known; add it or leave its questions out"
        )
