"""Accuracy: share of questions answered right, by kind of question.

An item asked several times counts as right where one of its trials is. Task all pools every kind, multi_hop the
multi-hop ones; then each kind by itself. 0–1, low on forget is good. Source: leak-resistant unlearning, Table 8, where
it is the model's before unlearning.
"""

from unlearning.score.items import solved
from unlearning.score.shares import task_rows
from unlearning.score.tasks import sums
from unlearning.score.view import View

NEEDS = ("verdicts",)
ROWS = (("accuracy", "asked", "pairs", "sums"),)


def score(view: View) -> list[dict]:
    """One row per group, kind of question and selection of languages; n = knowledge instances asked and judged."""
    return task_rows(view, "accuracy", solved(view, view.run), sums(view.tasks), f"verdict of the judge {view.judge}")
