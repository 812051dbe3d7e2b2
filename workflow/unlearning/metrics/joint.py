"""Scores inside mixed prompts by letter: which question is scored, and where in the prompt it stands.

ROUGE-L recall, cosine to the target's answer and the judge's score of each place in RF, FR, RR and FF (R a question to
retain, F one to forget, in the order asked), as tasks <order>_<place>: rf_1 of retain is the first of RF. Means over
items; 0–1, low on forget is good. Source: SEPS, its figures by letter.
"""

from unlearning.metrics.separability import values
from unlearning.score.pairs import inside, mean_row
from unlearning.score.view import View

NEEDS = ("answers", "embeddings", "target:embeddings", "verdicts")
ITEMS = ("mixed",)
ROWS = (
    ("rouge_l_recall", ("retain",), "all", ("rf_1", "fr_2", "rr_1", "rr_2")),
    ("rouge_l_recall", ("forget",), "all", ("fr_1", "rf_2", "ff_1", "ff_2")),
    ("cosine", ("retain",), "all", ("rf_1", "fr_2", "rr_1", "rr_2")),
    ("cosine", ("forget",), "all", ("fr_1", "rf_2", "ff_1", "ff_2")),
    ("judge", ("retain",), "all", ("rf_1", "fr_2", "rr_1", "rr_2")),
    ("judge", ("forget",), "all", ("fr_1", "rf_2", "ff_1", "ff_2")),
)


def score(view: View) -> list[dict]:
    """24 rows; n = knowledge instances."""
    scored = values(view)
    by_name = {"rouge_l_recall": scored["rouge"], "cosine": scored["cosine"], "judge": scored["judge"]}
    return [
        mean_row(metric, group, mean, task)
        for metric, (group,), _, tasks in ROWS
        for task, mean in zip(tasks, inside(view, group, tasks, *by_name[metric]), strict=True)
    ]
