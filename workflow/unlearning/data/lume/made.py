"""Documents as they are made one by one: each drawn, checked, drawn again where a check refuses it, all counted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from unlearning.data.lume.near import Index
from unlearning.data.lume.stories import Draft
from unlearning.data.lume.texts import n_words, wrong_question
from unlearning.data.refused import refusal, rejected
from unlearning.tables.schemas import TABLES

TASKS = ("task1", "task2", "task3")
ALIKE = 0.25  # Jaccard of word 3-grams from which two documents are too much alike
ATTEMPTS = 50  # draws for one document
DOCUMENT = [column.name for column in TABLES["documents"]]
KNOWLEDGE = [column.name for column in TABLES["knowledge"]]
Check = Callable[[Draft], str | None]


class Made(NamedTuple):
    """The tables `documents`, `knowledge`, `rejected` and `funnel`."""

    documents: pd.DataFrame
    knowledge: pd.DataFrame
    rejected: pd.DataFrame
    funnel: pd.DataFrame


class Kept(NamedTuple):
    """What one task's drawing gave: rows of `documents`, of `knowledge`, refusals, and how many passed each step."""

    rows: list[dict]
    knowledge: list[tuple]
    refused: list[tuple]
    steps: dict[str, int]


def near_duplicate(index: Index) -> Check:
    """The check that a document is not much like one of `index`."""

    def check(draft: Draft) -> str | None:
        alike, other = index.nearest(draft.row["text"])
        return f"shares {alike:.2f} of its word 3-grams with {other}" if alike >= ALIKE else None

    return check


def good_question(draft: Draft) -> tuple[str, str] | None:
    """The first of the draft's questions that has one short answer in its text."""
    return next((pair for pair in draft.questions if not wrong_question(*pair, draft.row["text"])), None)


def draw_all(
    idents: Sequence[str], draft: Callable[[str, int], Draft], checks: Mapping[str, Check],
    keep: Callable[[str, Draft], list[tuple[str, str]]],
) -> Kept:  # fmt: skip
    """A document for each of `idents`: `draft(ident, attempt)`, from attempt 0 on, until every check passes.

    `keep(ident, draft)` takes note of what stays and gives its questions. ValueError: ATTEMPTS drafts were refused.
    """
    found, passed = Kept([], [], [], {}), Counter()
    for ident in idents:
        for attempt in range(ATTEMPTS):
            drawn = draft(ident, attempt)
            passed["drawn"] += 1
            failed = failing(drawn, checks, passed)
            if failed is None:
                break
            found.refused.append(refusal(ident, *failed, attempt, text=drawn.row["text"]))
        else:
            raise ValueError(f"{ident}: {ATTEMPTS} drafts were refused, the last one by {failed[0]}: {failed[1]}; ask "
                             "for fewer documents, or give the grammar more lines")  # fmt: skip
        questions = keep(ident, drawn)
        found.rows.append({"document_id": ident, **drawn.row, "n_words": n_words(drawn.row["text"])})
        found.knowledge.extend((ident, number, *pair) for number, pair in enumerate(questions))
    found.steps.update({step: passed[step] for step in ("drawn", *checks)}, kept=len(found.rows))
    return found


def failing(draft: Draft, checks: Mapping[str, Check], passed: Counter) -> tuple[str, str] | None:
    """The first of `checks` that refuses `draft`, and why; None where none does. Counts what it passed in `passed`."""
    for name, check in checks.items():
        if why := check(draft):
            return name, why
        passed[name] += 1
    return None


def made(parts: Mapping[str, Kept], groups: Mapping[str, tuple[str, str, str | None]]) -> Made:
    """The tables of `parts` (name in the funnel -> what was kept); `groups`: document -> (task, role, group)."""
    rows = [
        row | dict(zip(("task", "role", "group"), groups[row["document_id"]], strict=True))
        for kept in parts.values() for row in kept.rows
    ]  # fmt: skip
    steps = [(name, step, n) for name, kept in parts.items() for step, n in kept.steps.items()]
    return Made(
        table(rows),
        pd.DataFrame([row for kept in parts.values() for row in kept.knowledge], columns=KNOWLEDGE),
        rejected([row for kept in parts.values() for row in kept.refused]),
        pd.DataFrame(steps, columns=["type", "step", "n"]),
    )


def table(rows: Sequence[dict]) -> pd.DataFrame:
    """Table `documents` of `rows`; what a row lacks is null, characters are an empty list."""
    found = pd.DataFrame([{"characters": [], **row} for row in rows], columns=DOCUMENT, dtype=object)
    found = found.astype(object).where(found.notna(), None)
    return found.astype({"n_words": "int32"})


def joined(parts: Sequence[Made]) -> Made:
    """The tables of several tasks' `parts`, one after the other."""
    return Made(*(pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)))
