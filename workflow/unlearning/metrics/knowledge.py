"""Knowledge accuracy: the answer is the reference, but for case and white space around it.

Means over the question prompts of each task, and of all. 0–1, low on forget is good. Source: LUME, section 4 ("t");
SemEval-2025 task 4's exact match.
"""

import numpy as np

from unlearning.score.shares import task_rows
from unlearning.score.tasks import of_prompts
from unlearning.score.view import View

NEEDS = ("answers",)
ROWS = (("knowledge", "asked", "pairs", "knowledge"),)


def score(view: View) -> list[dict]:
    """One row per group, task and selection of languages; n = knowledge instances."""
    return task_rows(view, "knowledge", exact(view), of_prompts(view.tasks, "knowledge"), "answer")


def exact(view: View) -> np.ndarray:
    """I: share of the item's answers that are the reference, stripped and in lower case."""
    answers = view.run.answers
    if answers is None:
        return view.per_item(None, np.zeros(0))
    reference = view.items["reference"].iloc[view.positions(answers)]
    said, meant = (column.str.strip().str.lower().to_numpy(dtype=object) for column in (answers["text"], reference))
    return view.per_item(answers, (said == meant).astype(float))
