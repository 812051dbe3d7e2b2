"""Stress test: the judge's score where one prompt asks up to eight questions.

Tasks stress_<n>f<m>r_<order>: n questions to forget and m to retain, the retain ones first (rf) or last (fr); each
numbered answer is judged by itself. Mean over the answers of a group; 0–1, low on forget is good. Source: SEPS, "Stress
Test".
"""

import numpy as np

from unlearning.metrics import judge
from unlearning.score.pairs import inside, mean_row
from unlearning.score.view import View

NEEDS = ("answers", "verdicts")
ITEMS = ("stress",)
ROWS = (
    (
        "judge",
        ("forget", "retain"),
        "all",
        (
            "stress_1f1r_rf", "stress_1f1r_fr", "stress_1f2r_rf", "stress_1f2r_fr", "stress_1f4r_rf", "stress_1f4r_fr",
            "stress_2f1r_rf", "stress_2f1r_fr", "stress_2f2r_rf", "stress_2f2r_fr", "stress_2f4r_rf", "stress_2f4r_fr",
            "stress_4f1r_rf", "stress_4f1r_fr", "stress_4f2r_rf", "stress_4f2r_fr", "stress_4f4r_rf", "stress_4f4r_fr",
        ),
    ),
)  # fmt: skip


def score(view: View) -> list[dict]:
    """36 rows; n = knowledge instances."""
    ((metric, groups, _, tasks),) = ROWS
    scores = np.zeros(0) if view.joint is None else judge.item_scores(view.joint)
    return [
        mean_row(metric, group, mean, task)
        for group in groups
        for task, mean in zip(
            tasks, inside(view, group, tasks, scores, f"verdict of the judge {view.judge}"), strict=True
        )
    ]
