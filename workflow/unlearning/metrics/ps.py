"""Probability Score: how likely the model finds the right answer.

p_{i,l} = exp(log p(a|q) / |a|), mean over languages, then over knowledge instances; 0–1, low on forget is good.
Source: μ²-Bench, "Probability Score".
"""

from unlearning.score.items import probability
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("likelihoods",)
ROWS = (("ps", "asked", "selections", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages."""
    return mean_rows(view, "ps", probability(view, view.run), "likelihood")
