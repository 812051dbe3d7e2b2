"""Which of a search's candidates becomes the method's model.

A criterion is one module in `unlearning.criteria`, named by the method's key `select`. It declares

METRICS  the metrics whose rows it reads; the candidates, and the models in AGAINST, are scored on these alone
AGAINST  of target, retrain: the models that a candidate is held against
SAYS     what it asks for, in words, for the report

and a pure function `assess(own, **against) -> Assessed` on the score rows of one candidate and of those models.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Number(NamedTuple):
    """A score; where there is none, `note` says why."""

    value: float | None
    note: str | None = None


class Assessed(NamedTuple):
    """What a criterion says of a candidate.

    `figures`: name -> number it looked at. `refused`: why the candidate is not eligible, None where it is. The smallest
    `rank` wins among eligible ones; where none is, the smallest `last_resort` (inf: not even then).
    """

    figures: dict[str, float | None]
    refused: str | None
    rank: float
    last_resort: float


class Choice(NamedTuple):
    """The verdict on one candidate. `note`: why it is not eligible, and why it was chosen all the same."""

    figures: dict[str, float | None]
    eligible: bool
    chosen: bool
    note: str | None


def number(scores: pd.DataFrame, metric: str, group: str, *languages: str, task: str = "all") -> Number:
    """The score of the first of `languages` (selections such as train, all) that `scores` has a row for."""
    rows = scores[(scores["metric"] == metric) & (scores["group"] == group) & (scores["task"] == task)]
    for language in languages:
        found = rows[rows["language"] == language]
        if len(found):
            row = found.iloc[0]
            return Number(None, row["note"]) if pd.isna(row["value"]) else Number(float(row["value"]))
    return Number(None, f"{metric} was not scored on {group} questions in {' or '.join(languages)}")


def choose(assessed: Sequence[Assessed], stopped: Sequence[str | None]) -> list[Choice]:
    """The verdict on each candidate, in order; one is chosen: the first of those that rank equal.

    `stopped`: for each, why its training was stopped (its collapse), or None; a stopped one is not eligible, whatever
    its scores. Where none is eligible, the one of least `last_resort` is chosen, stopped ones last, and its note says
    so. ValueError where there is nothing to choose by.
    """
    refused = [
        "; ".join(filter(None, (a.refused, why and f"its training was stopped: {why}"))) or None
        for a, why in zip(assessed, stopped, strict=True)
    ]
    ranks = [(a.rank, i) for i, a in enumerate(assessed) if refused[i] is None]
    last = [(why is not None, a.last_resort, i) for i, (a, why) in enumerate(zip(assessed, stopped, strict=True))]
    if not ranks and all(math.isinf(resort) for _, resort, _ in last):
        raise ValueError(f"no candidate can be chosen, nor ranked: {'; '.join(dict.fromkeys(filter(None, refused)))}")
    best = min(ranks)[-1] if ranks else min(entry for entry in last if not math.isinf(entry[1]))[-1]
    anyway = None if ranks else "no candidate is eligible: this one stands for the method as the least far off"
    return [
        Choice(a.figures, why is None, i == best, "; ".join(filter(None, (why, anyway if i == best else None))) or None)
        for i, (a, why) in enumerate(zip(assessed, refused, strict=True))
    ]
