"""Semantic Equivalence: share of answers judged equivalent to the reference.

Task `all`: mean over samples, languages, then instances. Task `any`, where questions were answered more than once: the
share of questions with at least one right answer. 0–1, low on forget is good. Source: μ²-Bench, "Semantic Equivalence".
"""

import numpy as np
import pandas as pd

from unlearning.score.items import correct, right, trials
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("verdicts",)
ROWS = (("se", "asked", "selections", "trials"),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages, twice where there are several samples."""
    what = f"verdict of the judge {view.judge}"
    rows = mean_rows(view, "se", correct(view, view.run), what)
    table = trials(view, view.run)
    if table is not None and table["sample"].nunique() > 1:
        rows += mean_rows(view, "se", any_right(view, table), what, task="any")
    return rows


def any_right(view: View, table: pd.DataFrame) -> np.ndarray:
    """I: 1.0 where at least one sample is right, 0.0 where all are wrong, NaN without a verdict."""
    share = view.per_item(table, right(table))
    return np.where(np.isnan(share), np.nan, (share > 0).astype(float))
