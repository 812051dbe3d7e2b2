"""Truth ratio: are wrong answers in the same words as likely as the right one?

r = (geometric mean over perturbed answers of p^{1/|a|}) / p(paraphrase)^{1/|a|}; the reference stands in where an item
has no paraphrase (real authors, world facts). Four means over items, languages first, then instances, each 0–1:
truth_ratio = max(0, 1 − r), the term in `model_utility`, high where knowledge should stay (SEPS reads it on forget too,
low is good there); truth_ratio_min = min(r, 1/r), TOFU's own reading on forget, high is good there;
truth_ratio_one_minus_min = 1 − that; truth_ratio_share = c/(c + w) = 1/(1 + r), c the paraphrase, w the perturbed.
All from log r, so nothing overflows. Source: TOFU (Maini et al. 2024), section 2.2 and its evaluation code; SEPS.
"""

import numpy as np

from unlearning.score.items import candidates, token_mean
from unlearning.score.rows import mean_rows
from unlearning.score.view import Tables, View

NEEDS = ("likelihoods",)
ITEMS = ("perturbed",)
ROWS = (
    ("truth_ratio", "asked", "selections", ("all",)),
    ("truth_ratio_min", "asked", "selections", ("all",)),
    ("truth_ratio_one_minus_min", "asked", "selections", ("all",)),
    ("truth_ratio_share", "asked", "selections", ("all",)),
)


def score(view: View) -> list[dict]:
    """Four rows a group and selection of languages."""
    log_r = log_ratios(view, view.run)
    minimum = np.exp(-np.abs(log_r))
    variants = {
        "truth_ratio": truth_ratio(log_r),
        "truth_ratio_min": minimum,
        "truth_ratio_one_minus_min": 1 - minimum,
        "truth_ratio_share": share(log_r),
    }
    return [row for name, values in variants.items() for row in mean_rows(view, name, values, "perturbed answers")]


def truth_ratio(log_r: np.ndarray) -> np.ndarray:
    """max(0, 1 − r): 1 where wrong answers are impossible, 0 where they are at least as likely as the right one."""
    return -np.expm1(np.minimum(log_r, 0))


def share(log_r: np.ndarray) -> np.ndarray:
    """1/(1 + r): 1 where wrong answers are impossible, 1/2 where they are as likely as the right one."""
    smaller = np.exp(-np.abs(log_r))
    return np.where(log_r > 0, smaller, 1) / (1 + smaller)


def log_ratios(view: View, tables: Tables) -> np.ndarray:
    """I: log r, nats; NaN for items without perturbed answers."""
    by_name = {name: candidates(tables, name) for name in ("perturbed", "paraphrase", "reference")}
    mean = {name: view.per_item(table, token_mean(table)) for name, table in by_name.items()}
    right = np.where(np.isnan(mean["paraphrase"]), mean["reference"], mean["paraphrase"])
    return mean["perturbed"] - right
