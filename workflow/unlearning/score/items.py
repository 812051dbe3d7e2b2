"""One number per item out of a model's tables: the step before knowledge instances. I = items in the view's order."""

import numpy as np
import pandas as pd

from unlearning.score.view import Tables, View


def candidates(tables: Tables, prefix: str) -> pd.DataFrame | None:
    """The likelihoods of candidates named `prefix` or `prefix_0`, `prefix_1` …; None where there is no table."""
    table = tables.likelihoods
    if table is None:
        return None
    names = table["candidate"]
    return table[(names == prefix) | names.str.startswith(f"{prefix}_")]


def token_mean(table: pd.DataFrame | None) -> np.ndarray:
    """log p(a|q) / |a| of each row, nats; |a| counts the end-of-text token."""
    if table is None:
        return np.zeros(0)
    return table["logprob"].to_numpy(float) / table["n_tokens"].to_numpy(float)


def probability(view: View, tables: Tables) -> np.ndarray:
    """I: p = exp(log p(reference|q) / |reference|), 0–1."""
    table = candidates(tables, "reference")
    return view.per_item(table, np.exp(token_mean(table)))


def trials(view: View, tables: Tables, judge: str | None = None) -> pd.DataFrame | None:
    """The verdicts of `judge`, the view's own where none is named; None where it gave none."""
    table = tables.verdicts
    if table is None:
        return None
    table = table[table["judge"] == (judge or view.judge)]
    return table if len(table) else None


def right(table: pd.DataFrame | None) -> np.ndarray:
    """1.0 right, 0.0 wrong, NaN where the judge failed, for each verdict."""
    return np.zeros(0) if table is None else table["correct"].map({True: 1.0, False: 0.0}).to_numpy(float)


def correct(view: View, tables: Tables, judge: str | None = None) -> np.ndarray:
    """I: share of the item's judged samples that `judge` (the view's own where none is named) calls right, 0–1."""
    table = trials(view, tables, judge)
    return view.per_item(table, right(table))


def any_right(view: View, table: pd.DataFrame | None) -> np.ndarray:
    """I: 1.0 where at least one sample is right, 0.0 where all are wrong, NaN where a missing verdict leaves open."""
    verdicts = right(table)
    share, failed = view.per_item(table, verdicts), view.per_item(table, np.isnan(verdicts))
    return np.where(share > 0, 1.0, np.where(failed > 0, np.nan, share))


def solved(view: View, tables: Tables | None) -> np.ndarray:
    """I: whether the item was answered right, in any of its trials (1.0, 0.0, NaN where no verdict tells)."""
    return any_right(view, trials(view, tables)) if tables else np.full(len(view.items), np.nan)
