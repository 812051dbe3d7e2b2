"""TOFU's probability of the right answer.

P = exp(log p(a|q) / |a|); for real_authors and world_facts P_0/(P_0 + Σ_k P_k), k over the item's wrong options, each
P normalised by its own length. Mean over languages, then instances; 0–1, high is good but on forget.
Source: TOFU (Maini et al. 2024), section 2.2; SEPS.
"""

import numpy as np

from unlearning.score.items import candidates, probability, token_mean
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("likelihoods",)
ROWS = (("probability", "asked", "selections", ("all",)),)
COMPARED = ("real_authors", "world_facts")


def score(view: View) -> list[dict]:
    """One row a group and selection of languages."""
    return mean_rows(view, "probability", item_scores(view), "likelihoods of the answer (and of its wrong options)")


def item_scores(view: View) -> np.ndarray:
    """I: P, or P_0/(P_0 + Σ P_k) in the groups that are compared with wrong options; NaN there without options."""
    right = probability(view, view.run)
    table = candidates(view.run, "perturbed")
    if table is None:
        return right
    wrong = np.bincount(view.positions(table), np.exp(token_mean(table)), minlength=len(right))
    compared = view.items["group"].isin(COMPARED).to_numpy()
    total = np.where(wrong > 0, right + wrong, np.nan)
    return np.where(compared, right / total, right)
