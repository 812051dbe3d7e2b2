"""Abstentions: share of answers that refuse, by task and modality.

They stand beside the accuracies, which grade every answer, refusals too. What refuses: `text.abstaining.abstains`, with
the sentences that models are taught (resources/refusals.yaml). abstained_mul about the picture, abstained_uni in text.
0–1; no value is better by itself. Ours: UMU-Bench counts none.
"""

from dataclasses import replace

import numpy as np

from unlearning.score.modalities import ASKED, GROUPS, MODALITIES, task_means
from unlearning.score.pairs import mean_row
from unlearning.score.view import View
from unlearning.text.abstaining import abstains, folded
from unlearning.train.data import refusals_in

NEEDS = ("answers", "refusals")
ITEMS = ("modalities",)
ROWS = (
    ("abstained_mul", ("forget", "retain", "real_people"), "all", ("classification", "cloze", "generation")),
    ("abstained_uni", ("forget", "retain", "real_people"), "all", ("classification", "cloze", "generation")),
)
TASKS = (*ASKED, "generation")


def score(view: View) -> list[dict]:
    """Two rows a group and task; n = knowledge instances with an answer."""
    refused_I = item_scores(view)
    rows = []
    for metric, modality in zip(("abstained_mul", "abstained_uni"), MODALITIES, strict=True):
        asked_I = (view.items["modality"] == modality).to_numpy()
        own = replace(view, items=view.items[asked_I])
        for group in GROUPS:
            means = task_means(own, group, TASKS, refused_I[asked_I], "answer")
            rows += [mean_row(metric, group, mean, task) for task, mean in zip(TASKS, means, strict=True)]
    return rows


def item_scores(view: View) -> np.ndarray:
    """I: share of the item's answers that refuse; NaN without an answer."""
    answers = view.run.answers
    if answers is None:
        return view.per_item(None, np.zeros(0))
    languages = view.items["language"].to_numpy(dtype=object)[view.positions(answers)]
    taught = {code: folded(refusals_in(view.refusals, code)) if view.refusals else () for code in set(languages)}
    refused = [abstains(text, taught[code]) for text, code in zip(answers["text"], languages, strict=True)]
    return view.per_item(answers, np.array(refused, float))
