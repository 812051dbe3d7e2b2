"""Knowledge Persistence Score: what was forgotten in one language and is still known in another.

For languages l1 ≠ l2: |forgotten in l1 and still known in l2| / |forgotten in l1|, mean over l2; forgotten = the target
was right and the run is wrong, still known = both are right (our reading). A code's row takes every other language as
l2; train and holdout average over pairs inside the role, all over every pair. 0–1, low is good. Null where nothing was
forgotten, as for the target itself. Source: Hwang et al. 2026; beyond μ²-Bench.
"""

import numpy as np

from unlearning.score.bootstrap import interval, resample
from unlearning.score.items import correct
from unlearning.score.languages import names
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View

NEEDS = ("verdicts", "target:verdicts")
ITEMS = ("languages",)
ROWS = (("kps", ("forget",), "pairs", ("all",)),)


def score(view: View) -> list[dict]:
    """One row per language, role and all; n = instances forgotten in at least one l1."""
    before, after = (view.spread(correct(view, tables), "forget") for tables in (view.target, view.run))
    forgotten, kept = transitions(before, after)
    drawn = _drawn(view, forgotten, kept)
    point = persistence(forgotten, kept, np.ones((1, len(forgotten))))
    rows = []
    for name in names("pairs", view.languages):
        pairs = _pairs(view, name)
        n = int(forgotten[:, pairs.any(axis=1)].any(axis=1).sum())
        value = float(mean_pairs(point, pairs)[0])
        note = _reason(view, before, after, pairs) if np.isnan(value) else None
        rows.append(row("kps", "forget", name, value, n, interval(mean_pairs(drawn, pairs), n), note))
    return rows


def transitions(before_NL: np.ndarray, after_NL: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(forgotten_NL, still known_NL) from shares of right answers; an answer is right where most samples are."""
    knew, known, unknown = before_NL > 0.5, after_NL > 0.5, after_NL <= 0.5
    return knew & unknown, knew & known


def persistence(forgotten_NL: np.ndarray, kept_NL: np.ndarray, weight_BN: np.ndarray) -> np.ndarray:
    """B×L×L: [b, l1, l2] = weight forgotten in l1 and kept in l2 / weight forgotten in l1; NaN where nothing was."""
    n, languages = forgotten_NL.shape
    both_NLL = forgotten_NL[:, :, None] & kept_NL[:, None, :]
    both = (weight_BN @ both_NLL.reshape(n, languages**2)).reshape(len(weight_BN), languages, languages)
    gone = np.broadcast_to((weight_BN @ forgotten_NL)[:, :, None], both.shape)
    return np.divide(both, gone, out=np.full(both.shape, np.nan), where=gone > 0)


def mean_pairs(persistence_BLL: np.ndarray, pairs_LL: np.ndarray) -> np.ndarray:
    """B: mean over the chosen pairs whose l1 forgot something; NaN where none did."""
    chosen = persistence_BLL[:, pairs_LL]
    count = (~np.isnan(chosen)).sum(axis=1)
    return np.divide(np.nansum(chosen, axis=1), count, out=np.full(len(chosen), np.nan), where=count > 0)


def _pairs(view: View, name: str) -> np.ndarray:
    """L×L: which (l1, l2) a row averages."""
    first = np.isin(view.codes, view.selections[name])
    second = first if name in ("train", "holdout") else np.ones(len(first), bool)
    return first[:, None] & second[None, :] & ~np.eye(len(first), dtype=bool)


def _drawn(view: View, forgotten: np.ndarray, kept: np.ndarray) -> np.ndarray:
    if not len(forgotten):
        return np.full((view.draws, len(view.codes), len(view.codes)), np.nan)
    chunks = resample(len(forgotten), bootstrap_seed(view, "forget"), view.draws)
    return np.concatenate([persistence(forgotten, kept, weight) for weight in chunks])


def _reason(view: View, before: np.ndarray, after: np.ndarray, pairs: np.ndarray) -> str:
    if not pairs.any():
        return "needs two languages"
    if np.isnan(before).all() or np.isnan(after).all():
        return "no forget questions judged for both the target and the run"
    return "nothing that the target knew was forgotten"
