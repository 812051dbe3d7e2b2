"""MUSE's choice of epochs: unlearning stops when the retain KnowMem falls under the retrained model's.

SEPS: "halt" if it does within 10 epochs, else the 10th. A criterion sees one candidate at a time, so our reading is:
the longest trained candidate that keeps the retain KnowMem at or above the retrained model's; where none does, the
shortest, as unlearning would have stopped there. By SEPS's words the model may also be the one that has just fallen
under, a step later. candidates: {epochs: [1, 2, …, 10]}, select: muse_retain_knowmem. Sources: MUSE (Shi et al. 2024);
SEPS, "MUSE Experimental Details".
"""

import math

import pandas as pd

from unlearning.score.selection import Assessed, number

METRICS = ("knowmem",)
AGAINST = ("retrain",)
SAYS = (
    "a retain KnowMem not under the retrained model's; of the candidates that keep it the one trained longest; where "
    "none does, the one trained shortest"
)


def assess(own: pd.DataFrame, retrain: pd.DataFrame) -> Assessed:
    """A candidate's figures and rank. `own`, `retrain`: score rows of the candidate and of the retrained model.

    Figures: retain KnowMem of both and forget KnowMem (0–1). Eligible: retain KnowMem ≥ the retrained model's. Rank:
    −epochs; last resort: epochs.
    """
    retain, without, forget = (
        number(rows, "knowmem", group, "train", "all")
        for rows, group in ((own, "retain"), (retrain, "retain"), (own, "forget"))
    )
    epochs = int(own["epoch"].iloc[0]) if len(own) else 0
    refused = "; ".join(
        f"{name} is unknown: {found.note}"
        for name, found in (("retain KnowMem", retain), ("the retrained model's retain KnowMem", without))
        if found.value is None
    )
    known = not refused
    if known and retain.value < without.value:
        refused = f"retain KnowMem {retain.value:.4g} is under the retrained model's {without.value:.4g}"
    return Assessed(
        {"retain KnowMem": retain.value, "the retrained model's": without.value, "forget KnowMem": forget.value},
        refused or None,
        -epochs,
        epochs if known else math.inf,
    )
