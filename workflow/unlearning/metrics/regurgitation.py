"""Regurgitation: how much of a document's rest is written when its beginning is given.

regurgitation: ROUGE-L recall with Porter stems (the shared task's), regurgitation_f: its F-measure. Means over the
sentence-completion prompts of each task, and of all. 0–1, low on forget is good. Source: LUME, section 4 ("r");
SemEval-2025 task 4.
"""

from unlearning.metrics import rouge_l
from unlearning.score.shares import task_rows
from unlearning.score.tasks import of_prompts
from unlearning.score.view import View

NEEDS = ("answers",)
ITEMS = ("documents",)
ROWS = (("regurgitation", "asked", "pairs", "completion"), ("regurgitation_f", "asked", "pairs", "completion"))


def score(view: View) -> list[dict]:
    """Two rows per group, task and selection of languages; n = documents."""
    kinds = of_prompts(view.tasks, "completion")
    recall, f_measure = rouge_l.item_scores(view)
    return [
        *task_rows(view, "regurgitation", recall, kinds, "answer"),
        *task_rows(view, "regurgitation_f", f_measure, kinds, "answer"),
    ]
