"""Semantic Equivalence: share of answers judged equivalent to the reference.

Task `all`: mean over samples, languages, then instances. Task `any`, where questions were answered more than once: the
share of questions with at least one right answer. `se:<judge>`: by each second judge. An answer that a judge gave no
verdict on is left out of its rows, and noted. 0–1, low on forget is good. Source: μ²-Bench, "Semantic Equivalence".
"""

from unlearning.score.items import any_right, correct, trials
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("verdicts",)
ROWS = (("se", "asked", "selections", "trials"), ("se:", "asked", "selections", "trials"))


def score(view: View) -> list[dict]:
    """One row a judge, group and selection of languages, twice where there are several samples."""
    metrics = {"se": view.judge} | {f"se:{judge}": judge for judge in view.second_judges}
    return [row for metric, judge in metrics.items() for row in _judged(view, metric, judge)]


def _judged(view: View, metric: str, judge: str) -> list[dict]:
    what = f"verdict of the judge {judge}"
    rows = mean_rows(view, metric, correct(view, view.run, judge), what)
    table = trials(view, view.run, judge)
    if table is not None and table["sample"].nunique() > 1:
        rows += mean_rows(view, metric, any_right(view, table), what, task="any")
    return rows
