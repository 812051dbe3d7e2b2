"""ROUGE-L of descriptions asked for about the picture and in text, and both in one number.

rl_mul, rl_uni: F-measure against the description (see `rouge_l`), x and y of a pair. rl_f = mean W on forget,
W = (x² + y²)/(x + y), pulled to the larger; rl_r = mean H elsewhere, H = 2xy/(x + y), pulled to the smaller; both 0
when x + y = 0. Means over the pairs that have both answers. 0–1, low on forget is good, high elsewhere.
Source: UMU-Bench, Eq. 2, as its authors' erratum has it: the paper's PDF swaps W and H.
"""

import numpy as np

from unlearning.metrics import rouge_l
from unlearning.score.modalities import GROUPS, pairs
from unlearning.score.pairs import mean_row
from unlearning.score.view import Tables, View

NEEDS = ("answers",)
ITEMS = ("modalities",)
ROWS = (
    ("rl_mul", ("forget", "retain", "real_people"), "all", ("generation",)),
    ("rl_uni", ("forget", "retain", "real_people"), "all", ("generation",)),
    ("rl_f", ("forget",), "all", ("generation",)),
    ("rl_r", ("retain", "real_people"), "all", ("generation",)),
)


def score(view: View) -> list[dict]:
    """Eight rows; n = knowledge instances (descriptions) with both answers."""
    found = parts(view, view.run)
    return [
        mean_row(metric, group, pairs(view).means(group, ("generation",), values_P)[0], "generation")
        for group in GROUPS
        for metric, values_P in found.items()
        if metric != ("rl_r" if group == "forget" else "rl_f")
    ]


def parts(view: View, tables: Tables) -> dict[str, np.ndarray]:
    """rl_mul, rl_uni, rl_f and rl_r of each pair, of what the model of `tables` answered."""
    scores = rouge_l.item_scores(view) if tables is view.run else rouge_l.against_references(view, tables.answers)
    x, y = pairs(view).both(scores[1])
    return {"rl_mul": x, "rl_uni": y, "rl_f": larger(x, y), "rl_r": smaller(x, y)}


def larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """W = (x² + y²)/(x + y), 0 when both are 0; NaN where one is missing."""
    return (x**2 + y**2) / np.where(x + y == 0, 1, x + y)


def smaller(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """H = 2xy/(x + y), the harmonic mean, 0 when both are 0; NaN where one is missing."""
    return 2 * x * y / np.where(x + y == 0, 1, x + y)
