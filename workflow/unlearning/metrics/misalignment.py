"""Misalignment: what was unlearned in one modality and is still known in the other.

Of the forget pairs that the target answers right in both modalities, the share that the run now fails in text only
(forgotten_text_only), about the picture only (forgotten_image_only), in both, in neither; the four add up to 1. 0–1;
low is good but for both. Of several samples: over all pairs of one of each. Null where the target had no such pair.
Source: UMU-Bench, the misalignment it was made to show.
"""

import numpy as np

from unlearning.score.modalities import ASKED, pairs, right
from unlearning.score.pairs import mean_row
from unlearning.score.view import View

NEEDS = ("answers", "target:answers")
ITEMS = ("modalities",)
ROWS = (
    ("forgotten_text_only", ("forget",), "all", ("classification", "cloze")),
    ("forgotten_image_only", ("forget",), "all", ("classification", "cloze")),
    ("forgotten_both", ("forget",), "all", ("classification", "cloze")),
    ("forgotten_neither", ("forget",), "all", ("classification", "cloze")),
)
NONE = "the target answered no such pair right in both modalities"


def score(view: View) -> list[dict]:
    """Four rows a task; n = knowledge instances that the target knew, and the run answered, in both modalities."""
    asked = pairs(view)
    before = asked.both(right(view, view.target))
    known_P = (before[0] == 1) & (before[1] == 1)
    known = asked.only(known_P)
    rows = []
    for metric, values_P in shares(*known.both(right(view, view.run))).items():
        for task, mean in zip(ASKED, known.means("forget", ASKED, values_P), strict=True):
            there = (known.view.items["group"] == "forget") & (known.view.items["task"] == task)
            rows.append(mean_row(metric, "forget", mean if there.any() else mean._replace(note=NONE), task))
    return rows


def shares(image_P: np.ndarray, text_P: np.ndarray) -> dict[str, np.ndarray]:
    """The four outcomes of each pair, of what is right about the picture and in text, 0–1."""
    return {
        "forgotten_text_only": image_P * (1 - text_P),
        "forgotten_image_only": (1 - image_P) * text_P,
        "forgotten_both": (1 - image_P) * (1 - text_P),
        "forgotten_neither": image_P * text_P,
    }
