"""The judge's score: how much of the right answer an answer holds.

Mean score of the view's judge over samples, languages, then instances: a grade of 0 to 10 by a language model counts
divided by 10, right and wrong as 1 and 0. An answer without a verdict is left out, and noted. 0–1, low on forget is
good. Source: SEPS, "LLM-as-Judge".
"""

import numpy as np

from unlearning.score.items import trials
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("verdicts",)
ROWS = (("judge", "asked", "selections", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages."""
    return mean_rows(view, "judge", item_scores(view), f"verdict of the judge {view.judge}")


def item_scores(view: View) -> np.ndarray:
    """I: the mean score of the run's judged samples; NaN where there is none."""
    table = trials(view, view.run)
    values = np.zeros(0) if table is None else table["score"].to_numpy(dtype=float, na_value=np.nan)
    return view.per_item(table, values)
