"""Probability of the value alone: `ps` over the tokens that carry the fact.

exp(mean log p of the tokens with `value_mask`), mean over languages, then instances; 0–1, low on forget is good.
A whole answer's probability is dominated by template words that the model copies. Beyond the paper.
"""

import numpy as np
import pandas as pd

from unlearning.score.items import candidates
from unlearning.score.ragged import flatten, row_mean
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("likelihoods",)
ITEMS = ("value",)
ROWS = (("value_probability", "asked", "selections", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages; items without value tokens are left out and counted in the note."""
    table = candidates(view.run, "reference")
    values = np.zeros(0) if table is None else value_probability(table["token_logprobs"], table["value_mask"])
    return mean_rows(view, "value_probability", view.per_item(table, values), "value tokens")


def value_probability(token_logprobs: pd.Series, value_mask: pd.Series) -> np.ndarray:
    """R rows of lists -> R: exp(mean log-probability of the masked tokens), NaN where no token is masked."""
    logprob_T, row_T = flatten(token_logprobs)
    mask_T, _ = flatten(value_mask)
    mask_T = mask_T.astype(bool)
    return np.exp(row_mean(logprob_T[mask_T], row_T[mask_T], len(token_logprobs)))
