"""FE, forget efficacy as SEPS has it: how little is still known of the questions to forget, asked alone.

fe = 1 − arithmetic mean of R, P, TR and the judge's score on forget, see `mu`, which stand beside it as tasks of group
forget, as they are: low is good there. 0–1, high is good; null if any part is null. Source: SEPS, "Experimental Setup".
"""

import numpy as np

from unlearning.metrics.mu import average, parts
from unlearning.score.pairs import mean_row
from unlearning.score.shares import Mean
from unlearning.score.view import View

NEEDS = ("answers", "likelihoods", "verdicts")
ROWS = (
    ("fe", ("all",), "all", ("all",)),
    ("fe", ("forget",), "all", ("rouge", "probability", "truth_ratio", "judge")),
)


def score(view: View) -> list[dict]:
    """Five rows: the efficacy and its four parts; n = forget instances."""
    own = parts(view, "forget")
    return [mean_row("fe", "all", efficacy(own)), *(mean_row("fe", "forget", mean, task) for task, mean in own.items())]


def efficacy(own: dict[str, Mean]) -> Mean:
    """`forget_efficacy` of `parts` of forget that there are."""
    return average(forget_efficacy, own)


def forget_efficacy(values_P: np.ndarray) -> np.ndarray:
    """1 − mean over the last axis; NaN if any is NaN."""
    return 1 - values_P.mean(axis=-1)
