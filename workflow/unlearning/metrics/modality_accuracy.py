"""Accuracy about the picture, in text, in both and in either, of pairs of questions that ask for the same.

acc_mul about the picture, acc_uni in text, acc_all both right, acc_any either; acc_f = (mul + uni + any)/3 on forget,
so that it is low only if both are, acc_r = (mul + uni + all)/3 elsewhere, high only if both are. Of several samples:
over all pairs of one of each. Means over the pairs that have both answers. 0–1, low on forget is good, high elsewhere.
Source: UMU-Bench, evaluation.
"""

import numpy as np

from unlearning.score.modalities import ASKED, GROUPS, pairs, right
from unlearning.score.pairs import mean_row
from unlearning.score.view import Tables, View

NEEDS = ("answers",)
ITEMS = ("modalities",)
ROWS = (
    ("acc_mul", ("forget", "retain", "real_people"), "all", ("classification", "cloze")),
    ("acc_uni", ("forget", "retain", "real_people"), "all", ("classification", "cloze")),
    ("acc_all", ("forget", "retain", "real_people"), "all", ("classification", "cloze")),
    ("acc_any", ("forget", "retain", "real_people"), "all", ("classification", "cloze")),
    ("acc_f", ("forget",), "all", ("classification", "cloze")),
    ("acc_r", ("retain", "real_people"), "all", ("classification", "cloze")),
)


def score(view: View) -> list[dict]:
    """Ten rows a task; n = knowledge instances with both answers."""
    found = parts(view, view.run)
    return [
        mean_row(metric, group, mean, task)
        for group in GROUPS
        for metric, values_P in found.items()
        if metric != ("acc_r" if group == "forget" else "acc_f")
        for task, mean in zip(ASKED, pairs(view).means(group, ASKED, values_P), strict=True)
    ]


def parts(view: View, tables: Tables) -> dict[str, np.ndarray]:
    """The six scores of each pair, of what the model of `tables` answered; see `accuracies`."""
    return accuracies(*pairs(view).both(right(view, tables)))


def accuracies(image_P: np.ndarray, text_P: np.ndarray) -> dict[str, np.ndarray]:
    """acc_mul, acc_uni, acc_all, acc_any, acc_f and acc_r of pairs right (0–1) about the picture and in text."""
    both = image_P * text_P
    either = image_P + text_P - both
    return {
        "acc_mul": image_P, "acc_uni": text_P, "acc_all": both, "acc_any": either,
        "acc_f": (image_P + text_P + either) / 3, "acc_r": (image_P + text_P + both) / 3,
    }  # fmt: skip
