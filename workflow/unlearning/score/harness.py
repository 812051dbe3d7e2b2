"""Figures of lm-evaluation-harness out of a model's table `harness`."""

import math
from typing import NamedTuple

import pandas as pd


class Pooled(NamedTuple):
    """One figure over all questions of several tasks; `why` says why there is none."""

    value: float | None
    stderr: float | None
    n: int
    why: str | None = None


def pooled(table: pd.DataFrame | None, utility: str, model: str) -> Pooled:
    """The counted rows of `utility` as one: Σ n·value / Σ n, so that every question counts once, whatever its task.

    Its standard error is √Σ (n·stderr)² / Σ n, tasks being independent; None where a task has none. `model` names whose
    table it is, for the reason.
    """
    if table is None:
        return Pooled(None, None, 0, f"no {utility} tasks of the {model}: they are asked of models without attack only")
    rows = table[(table["utility"] == utility) & table["counted"]]
    if rows.empty:
        return Pooled(None, None, 0, f"no {utility} tasks were run on the {model}")
    n = int(rows["n"].sum())
    if rows["value"].isna().any():
        lost = ", ".join(rows.loc[rows["value"].isna(), "task"])
        return Pooled(None, None, n, f"lm-evaluation-harness gave no figure of the {model} for {lost}")
    value = float((rows["n"] * rows["value"]).sum() / n)
    if rows["stderr"].isna().any():
        return Pooled(value, None, n)
    return Pooled(value, math.sqrt(((rows["n"] * rows["stderr"]) ** 2).sum()) / n, n)
