"""What the files of a review hold: the columns a person fills, the decisions there are, and rows as they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unlearning.config.problems import repeated

ENDINGS = (".csv", ".tsv", ".xlsx", ".json")  # of files that decisions are read from
DECISIONS = ("approve", "correct", "reject")
TEXTS = ("question", "answer", "paraphrase", "value")
CORRECTED = tuple(f"corrected_{part}" for part in TEXTS)
BACK = tuple(f"back_{part}" for part in TEXTS)
SHOWN = ("id", "cut", "language", "english_question", "english_answer", "english_value", *TEXTS, *BACK, "why")
FILLED = ("decision", *CORRECTED, "comment", "reviewer")
COLUMNS = (*SHOWN, *FILLED)
NEEDED = ("id", "decision")  # columns without which a sheet says nothing
FREE = ("comment", "reviewer")  # columns in which a date or a number is as good as a text


class ReviewError(ValueError):
    """A decision cannot be used; the message names file, row and column, what is allowed and the fix."""


class Row(NamedTuple):
    """One row of a file: where it stands, in words, and its cells as text by column name."""

    place: str
    cells: dict[str, str]


def column(name: str) -> str:
    """A column's name without what people and programs change in it: case, spaces around it and within."""
    return name.strip().lower().replace(" ", "_")


def as_rows(path: Path, header: Sequence[str], lines: Sequence[tuple[int, Sequence[str]]]) -> list[Row]:
    """The (row number, cells) of a sheet below its `header`; without any, one row of empty cells.

    ReviewError: a name stands over two columns, so that it is not clear which counts.
    """
    if twice := repeated(column(name) for name in header if name.strip()):
        raise ReviewError(f"{path}, row 1: {twice} stands over two columns; take one of them away, or rename it")
    rows = [Row(f"{path}, row {number}", dict(zip(header, cells, strict=True))) for number, cells in lines]
    return rows or [Row(f"{path}, row 1", dict.fromkeys(header, ""))]
