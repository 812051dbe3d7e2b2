"""μ²-Bench's learning-rate search: keep the retain set's probability, then forget as much as that allows.

The paper searches learning rates until the retain Probability Score on the training languages is at least 90 % of the
memorised model's. Which of several such rates it takes is not said: our reading is the one with the lowest PS on the
forget set, training languages. Source: μ²-Bench, "Models".
"""

import math

import pandas as pd

from unlearning.score.selection import Assessed, number

METRICS = ("ps",)
AGAINST = ("target",)
SAYS = (
    "on the training languages, a retain PS of at least 90 % of the target's; of the candidates that reach it, the "
    "lowest forget PS; where none does, the highest retain PS"
)
KEEPS = 0.9


def assess(own: pd.DataFrame, target: pd.DataFrame) -> Assessed:
    """A candidate's figures and rank. `own`, `target`: score rows of the candidate and of the memorised model.

    Figures: retain PS and forget PS (0–1), and the retain PS as a share of the target's. Eligible: share ≥ KEEPS. Rank:
    forget PS; last resort: −retain PS. With one language, its rows are the training languages'.
    """
    retain, before, forget = (
        number(rows, "ps", group, "train", "all")
        for rows, group in ((own, "retain"), (target, "retain"), (own, "forget"))
    )
    missing = [
        f"{name} is unknown: {found.note}"
        for name, found in (("retain PS", retain), ("the target's retain PS", before), ("forget PS", forget))
        if found.value is None
    ]
    share = retain.value / before.value if retain.value is not None and before.value else None
    refused = "; ".join(missing) or None
    if not missing and retain.value < KEEPS * before.value:
        refused = (
            f"retain PS {retain.value:.4g} is {100 * share:.2f} % of the target's {before.value:.4g}; at least "
            f"{100 * KEEPS:.0f} % are asked for"
        )
    return Assessed(
        {"retain PS": retain.value, "share of the target's": share, "forget PS": forget.value},
        refused,
        math.inf if forget.value is None else forget.value,
        math.inf if retain.value is None else -retain.value,
    )
