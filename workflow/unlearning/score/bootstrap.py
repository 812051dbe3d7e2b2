"""Percentile bootstrap over knowledge instances, vectorised over draws.

A draw is a vector of counts: how often each instance was drawn. Shape letters: B draws, N or P or M instances,
S statistics, K models. The same seed and the same number of instances give the same draws, so two models scored on
the same instances are compared draw by draw. Chunks of draws keep memory flat.
"""

from collections.abc import Callable, Iterator

import numpy as np

CELLS = 1 << 20
"""Counts held at a time, about 8 MiB."""

UNDEFINED_SHARE = 0.05
"""More undefined draws than this, and the outer 5 % of the draws are unknown: no interval."""


def resample(n: int, seed: int | np.random.SeedSequence, draws: int, chunk: int | None = None) -> Iterator[np.ndarray]:
    """Yield counts_BN (float64, each row sums to n) of `draws` draws with replacement, `chunk` draws at a time."""
    rng = np.random.default_rng(seed)
    chunk = chunk or max(1, CELLS // n)
    for start in range(0, draws, chunk):
        rows = min(chunk, draws - start)
        picks_BN = rng.integers(0, n, size=(rows, n))
        picks_BN += np.arange(rows)[:, None] * n
        yield np.bincount(picks_BN.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def mean_draws(values_NS: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """values_NS -> means_BS of each draw, over the instances whose value is not NaN."""
    if not len(values_NS):
        return np.full((draws, values_NS.shape[1]), np.nan)
    known = ~np.isnan(values_NS)
    filled, known_NS = np.where(known, values_NS, 0.0), known.astype(float)
    means = []
    for counts_BN in resample(len(values_NS), seed, draws):
        weight = counts_BN @ known_NS
        means.append(np.divide(counts_BN @ filled, weight, out=np.full(weight.shape, np.nan), where=weight > 0))
    return np.concatenate(means)


def auroc(
    positive_P: np.ndarray,
    negative_M: np.ndarray,
    weight_BP: np.ndarray | None = None,
    weight_BM: np.ndarray | None = None,
) -> np.ndarray:
    """B: P(a random positive's score exceeds a random negative's), ties counting half; weights default to one each."""
    weight_BP, weight_BM = _weights(positive_P, weight_BP), _weights(negative_M, weight_BM)
    ranked, below_BM = _cumulated(negative_M, weight_BM)
    wins_BP = below_BM[:, np.searchsorted(ranked, positive_P, "left")]
    wins_BP = (wins_BP + below_BM[:, np.searchsorted(ranked, positive_P, "right")]) / 2
    return (wins_BP * weight_BP).sum(1) / (weight_BP.sum(1) * below_BM[:, -1])


def average_precision(
    positive_P: np.ndarray,
    negative_M: np.ndarray,
    weight_BP: np.ndarray | None = None,
    weight_BM: np.ndarray | None = None,
) -> np.ndarray:
    """B: AP = Σ_k (R_k − R_{k−1}) P_k over falling thresholds, equal scores taken together; weights as in `auroc`."""
    weight_BP, weight_BM = _weights(positive_P, weight_BP), _weights(negative_M, weight_BM)
    order = np.argsort(positive_P, kind="stable")
    levels_U, first_U = np.unique(positive_P[order], return_index=True)
    gain_BU = np.add.reduceat(weight_BP[:, order], first_U, axis=1)
    true_BU = np.cumsum(gain_BU[:, ::-1], axis=1)[:, ::-1]
    ranked, below_BM = _cumulated(negative_M, weight_BM)
    taken_BU = true_BU + below_BM[:, -1:] - below_BM[:, np.searchsorted(ranked, levels_U, "left")]
    precision_BU = np.divide(true_BU, taken_BU, out=np.zeros_like(true_BU), where=taken_BU > 0)
    return (gain_BU * precision_BU).sum(1) / weight_BP.sum(1)


def _weights(scores: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return np.ones((1, len(scores))) if weights is None else weights


def _cumulated(scores_M: np.ndarray, weight_BM: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted scores, and B×(M+1) the weight of the first 0..M of them."""
    order = np.argsort(scores_M, kind="stable")
    below = np.zeros((len(weight_BM), len(scores_M) + 1))
    np.cumsum(weight_BM[:, order], axis=1, out=below[:, 1:])
    return scores_M[order], below


def stratified_draws(
    statistics: tuple[Callable[..., np.ndarray], ...],
    positive_PK: np.ndarray,
    negative_MK: np.ndarray,
    seed: int,
    draws: int,
) -> list[np.ndarray]:
    """One B×K array per statistic (`auroc`, `average_precision`); positives and negatives are drawn apart."""
    first, second = np.random.SeedSequence(seed).spawn(2)
    n, m = len(positive_PK), len(negative_MK)
    chunk = max(1, CELLS // (n + m))
    drawn: list[list[np.ndarray]] = [[] for _ in statistics]
    pairs = zip(resample(n, first, draws, chunk), resample(m, second, draws, chunk), strict=True)
    for weight_BP, weight_BM in pairs:
        for found, statistic in zip(drawn, statistics, strict=True):
            columns = zip(positive_PK.T, negative_MK.T, strict=True)
            found.append(np.stack([statistic(p, m_, weight_BP, weight_BM) for p, m_ in columns], axis=1))
    return [np.concatenate(found) for found in drawn]


def interval(draws_B: np.ndarray, n: int) -> tuple[float, float]:
    """(2.5th, 97.5th percentile) of the finite draws; (NaN, NaN) under 2 instances or with too many undefined draws."""
    finite = draws_B[np.isfinite(draws_B)]
    if n < 2 or len(finite) < (1 - UNDEFINED_SHARE) * len(draws_B):
        return float("nan"), float("nan")
    low, high = np.percentile(finite, [2.5, 97.5])
    return float(low), float(high)
