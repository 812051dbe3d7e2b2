"""What the files of a review hold: the columns a person fills, the decisions there are, and rows as they are read."""

from typing import NamedTuple

DECISIONS = ("approve", "correct", "reject")
TEXTS = ("question", "answer", "paraphrase", "value")
CORRECTED = tuple(f"corrected_{part}" for part in TEXTS)
BACK = tuple(f"back_{part}" for part in TEXTS)
SHOWN = ("id", "cut", "language", "english_question", "english_answer", "english_value", *TEXTS, *BACK, "why")
FILLED = ("decision", *CORRECTED, "comment", "reviewer")
COLUMNS = (*SHOWN, *FILLED)


class ReviewError(ValueError):
    """A decision cannot be used; the message names file, row and column, what is allowed and the fix."""


class Row(NamedTuple):
    """One row of a file: where it stands, in words, and its cells as text by column name."""

    place: str
    cells: dict[str, str]
