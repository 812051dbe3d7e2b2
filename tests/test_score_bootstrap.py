"""Bootstrap and rank statistics against scikit-learn and loops."""

import numpy as np
import pytest

from unlearning.score.bootstrap import (
    auroc,
    average_precision,
    interval,
    mean_draws,
    resample,
    stratified_draws,
)


def test_draws_equal_a_naive_bootstrap():
    values = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, np.nan]])
    rng = np.random.default_rng(5)
    naive = []
    for picks in rng.integers(0, 3, size=(50, 3)):
        chosen = values[picks]
        naive.append([np.mean(chosen[:, 0]), np.nanmean(chosen[:, 1]) if (picks < 2).any() else np.nan])
    np.testing.assert_allclose(mean_draws(values, 5, 50), naive)


def test_chunks_change_nothing():
    whole = np.concatenate(list(resample(7, 3, 40)))
    np.testing.assert_array_equal(np.concatenate(list(resample(7, 3, 40, chunk=9))), whole)
    assert (whole.sum(axis=1) == 7).all()


def test_the_interval_of_a_mean_has_the_width_that_theory_says():
    values = np.random.default_rng(0).normal(size=(400, 1))
    low, high = interval(mean_draws(values, 1, 4000)[:, 0], 400)
    theory = 2 * 1.96 * values.std() / np.sqrt(400)
    assert low < values.mean() < high
    assert high - low == pytest.approx(theory, rel=0.05)


def test_hand_worked_percentiles():
    # 101 draws 0..100: the 2.5th percentile is 2.5, the 97.5th 97.5 (linear interpolation)
    assert interval(np.arange(101.0), 2) == (2.5, 97.5)


def test_no_interval_under_two_instances_or_with_many_undefined_draws():
    assert np.isnan(interval(np.arange(100.0), 1)).all()
    draws = np.arange(100.0)
    draws[:5] = np.nan
    assert np.isfinite(interval(draws, 10)).all()
    draws[:6] = np.nan
    assert np.isnan(interval(draws, 10)).all()


def test_hand_worked_auroc_and_average_precision():
    positive, negative = np.array([3.0, 1.0]), np.array([2.0, 1.0])
    # pairs: 3>2, 3>1 win; 1<2 loses, 1=1 half: (1 + 1 + 0 + 0.5)/4
    assert auroc(positive, negative)[0] == pytest.approx(0.625)
    # thresholds 3: P 1/1, recall +1/2; 1: P 2/4, recall +1/2: 0.5·1 + 0.5·0.5
    assert average_precision(positive, negative)[0] == pytest.approx(0.75)


@pytest.mark.parametrize("levels", [3, 1000])
def test_agrees_with_scikit_learn_with_weights_and_ties(levels):
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = np.random.default_rng(levels)
    positive, negative = rng.integers(0, levels, 30) / levels, rng.integers(0, levels, 70) / levels
    weight_p, weight_n = rng.integers(0, 4, (3, 30)).astype(float), rng.integers(0, 4, (3, 70)).astype(float)
    labels, scores = np.repeat([1, 0], [30, 70]), np.concatenate([positive, negative])
    for b in range(3):
        weights = np.concatenate([weight_p[b], weight_n[b]])
        expected = roc_auc_score(labels, scores, sample_weight=weights)
        assert auroc(positive, negative, weight_p, weight_n)[b] == pytest.approx(expected)
        expected = average_precision_score(labels, scores, sample_weight=weights)
        assert average_precision(positive, negative, weight_p, weight_n)[b] == pytest.approx(expected)
    assert auroc(positive, negative)[0] == pytest.approx(roc_auc_score(labels, scores))
    assert average_precision(positive, negative)[0] == pytest.approx(average_precision_score(labels, scores))


def test_limits_of_the_rank_statistics():
    low, high = np.arange(5.0), np.arange(10.0, 14.0)
    assert auroc(high, low)[0] == 1 and auroc(low, high)[0] == 0 and auroc(low, low)[0] == 0.5
    assert average_precision(high, low)[0] == 1
    # one score for all: precision is the share of positives, 5/9
    assert average_precision(np.zeros(5), np.zeros(4))[0] == pytest.approx(5 / 9)


def test_stratified_draws_equal_resampled_arrays():
    rng = np.random.default_rng(2)
    positive, negative = rng.normal(1, 1, (6, 2)), rng.normal(0, 1, (9, 2))
    (drawn,) = stratified_draws((auroc,), positive, negative, 11, 20)
    first, second = np.random.SeedSequence(11).spawn(2)
    picks_p = np.random.default_rng(first).integers(0, 6, size=(20, 6))
    picks_n = np.random.default_rng(second).integers(0, 9, size=(20, 9))
    for b in range(20):
        for k in range(2):
            assert drawn[b, k] == pytest.approx(auroc(positive[picks_p[b], k], negative[picks_n[b], k])[0])
