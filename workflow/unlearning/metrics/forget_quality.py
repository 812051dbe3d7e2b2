"""TOFU's forget quality: does the unlearned model answer like one that never saw the forget set?

The p-value of the two-sided two-sample Kolmogorov–Smirnov test between the run's and the retrained model's truth
ratios r on the forget set; the test sees only ranks, so r, 1/r and log r give the same. 0–1, high is good (1 for the
retrained model itself); task `log10` is its logarithm to base 10. Where there are several languages, an instance's
log r is their mean. Source: TOFU (Maini et al. 2024), section 2.2.
"""

import numpy as np

from unlearning.metrics.truth_ratio import log_ratios
from unlearning.score.rows import row
from unlearning.score.view import View

NEEDS = ("likelihoods", "retrain:likelihoods")
ITEMS = ("perturbed",)
ROWS = (("forget_quality", ("forget",), "all", ("all", "log10")),)


def score(view: View) -> list[dict]:
    """Two rows without intervals (a p-value is no mean); n = forget instances of the run."""
    run = _instances(view, view.run)
    reference = np.zeros(0) if view.retrain is None else _instances(view, view.retrain)
    if not len(run) or not len(reference):
        note = "no forget questions with perturbed answers" if not len(run) else "no retrained model to compare with"
        return [row("forget_quality", "forget", "all", None, len(run), note=note, task=t) for t in ("all", "log10")]
    p = ks_p_value(run, reference)
    note = None if p > 0 else "the p-value is 0 in double precision"
    log_p = float(np.log10(p)) if p > 0 else None
    return [
        row("forget_quality", "forget", "all", p, len(run)),
        row("forget_quality", "forget", "all", log_p, len(run), note=note, task="log10"),
    ]


def ks_p_value(first_N: np.ndarray, second_M: np.ndarray) -> float:
    """p-value of the two-sided two-sample Kolmogorov–Smirnov test (scipy's choice of exact or asymptotic)."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(first_N, second_M).pvalue)


def _instances(view: View, tables) -> np.ndarray:
    values = view.instances(view.spread(log_ratios(view, tables), "forget"), ["all"])[:, 0]
    return values[~np.isnan(values)]
