"""All scores of one run: each metric's rows, checked."""

import importlib
import math
from collections.abc import Iterable

import pandas as pd

from unlearning.registry import available
from unlearning.score.rows import COLUMNS
from unlearning.score.view import View

NUMBERS = ("value", "ci_low", "ci_high")


def score(view: View, metrics: Iterable[str]) -> pd.DataFrame:
    """The rows of `metrics` (module names) for one run: group, language, task, metric, value, n, ci_low, ci_high, note.

    A number that cannot be computed is null (NaN here, null in the file) with its reason in `note`. ValueError for an
    unknown metric, for one named twice, and where two rows have the same key.
    """
    rows = []
    for name in _known(list(metrics)):
        found = importlib.import_module(f"unlearning.metrics.{name}").score(view)
        rows += [_finite(row) for row in found]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    keys = frame[["group", "language", "task", "metric"]]
    if keys.duplicated().any():
        raise ValueError(f"two rows of one key: {keys[keys.duplicated()].iloc[0].to_dict()}")
    return frame.astype({**dict.fromkeys(NUMBERS, "float64"), "n": "int32"})


def _known(metrics: list[str]) -> list[str]:
    unknown = [name for name in metrics if name not in available("metrics")]
    if unknown:
        raise ValueError(f"unknown metric {unknown[0]!r}; metrics are {', '.join(available('metrics'))}")
    if len(set(metrics)) < len(metrics):
        raise ValueError(f"a metric is named twice in {', '.join(metrics)}")
    return metrics


def _finite(row: dict) -> dict:
    """`row` with None for every number that is not one, and a reason where the value is such."""
    value, note = row["value"], row["note"]
    if value is not None and math.isinf(value):
        note = f"{note}; the value is infinite" if note else "the value is infinite"
    finite = {c: row[c] if row[c] is not None and math.isfinite(row[c]) else None for c in NUMBERS}
    assert finite["value"] is not None or note, f"null without a reason: {row}"
    return {**row, **finite, "note": note}
