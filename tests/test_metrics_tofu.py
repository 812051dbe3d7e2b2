"""TOFU's scores by hand and against its published rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hmean, ks_2samp

from score_fakes import answers, items, likelihoods, table, view
from unlearning.metrics import forget_quality, model_utility, probability, truth_ratio
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.view import Tables

GROUPS = ("forget", "retain", "real_authors", "world_facts")


def questions(n: int = 2) -> pd.DataFrame:
    return items(*((g, f"{g}{k}", "en", "the right answer", None) for g in GROUPS for k in range(n)))


def scored(frame: pd.DataFrame, right: float, wrong: list[float], paraphrase: float | None = None) -> Tables:
    """Every item with these probabilities per token; the right answer has 2 tokens, wrong ones 1, 2, 3 …"""
    ids = frame["item_id"]
    parts = [likelihoods({i: [np.log(right)] * 2 for i in ids})]
    parts += [likelihoods({i: [np.log(p)] * (k + 1) for i in ids}, f"perturbed_{k}") for k, p in enumerate(wrong)]
    if paraphrase is not None:
        parts.append(likelihoods({i: [np.log(paraphrase)] * 4 for i in ids}, "paraphrase"))
    return Tables(answers(dict.fromkeys(ids, "the right one")), pd.concat(parts))


def rows_of(metric, tables: Tables, frame: pd.DataFrame, **more) -> dict:
    return table(metric.score(view(frame, tables, languages={}, **more)))


def test_probability_is_relative_to_the_options_only_where_there_are_options():
    frame = questions()
    rows = rows_of(probability, scored(frame, 0.5, [0.2, 0.3]), frame)
    assert rows["retain", "all", "all", "probability"]["value"] == pytest.approx(0.5)
    assert rows["forget", "all", "all", "probability"]["value"] == pytest.approx(0.5)
    # 0.5/(0.5 + 0.2 + 0.3), each already per token
    assert rows["real_authors", "all", "all", "probability"]["value"] == pytest.approx(0.5)
    rows = rows_of(probability, scored(frame, 0.9, [0.3]), frame)
    assert rows["world_facts", "all", "all", "probability"]["value"] == pytest.approx(0.75)  # 0.9/1.2
    assert rows["world_facts", "all", "all", "probability"]["n"] == 2


def test_a_question_without_options_has_no_relative_probability():
    frame = questions()
    row = rows_of(probability, scored(frame, 0.9, []), frame)["world_facts", "all", "all", "probability"]
    assert row["value"] is None and row["note"].startswith("2 of 2 questions have no")


def test_hand_worked_truth_ratios():
    frame = questions()
    # w = sqrt(0.1·0.4) = 0.2, c = 0.8: r = 0.25
    rows = rows_of(truth_ratio, scored(frame, 0.5, [0.1, 0.4], paraphrase=0.8), frame)
    found = {key[3]: row["value"] for key, row in rows.items() if key[0] == "forget"}
    assert found["truth_ratio"] == pytest.approx(0.75)
    assert found["truth_ratio_min"] == pytest.approx(0.25)
    assert found["truth_ratio_one_minus_min"] == pytest.approx(0.75)
    assert found["truth_ratio_share"] == pytest.approx(0.8)  # 0.8/(0.8 + 0.2)
    # without a paraphrase the reference stands in: r = 0.2/0.5
    rows = rows_of(truth_ratio, scored(frame, 0.5, [0.1, 0.4]), frame)
    assert rows["real_authors", "all", "all", "truth_ratio"]["value"] == pytest.approx(0.6)


def test_wrong_answers_more_likely_than_the_right_one():
    frame = questions()
    rows = rows_of(truth_ratio, scored(frame, 0.2, [0.8]), frame)  # r = 4
    found = {key[3]: row["value"] for key, row in rows.items() if key[0] == "retain"}
    assert found["truth_ratio"] == 0
    assert found["truth_ratio_min"] == pytest.approx(0.25)
    assert found["truth_ratio_share"] == pytest.approx(0.2)


def test_extreme_likelihoods_do_not_overflow():
    frame = questions(1)
    ids = frame["item_id"]
    huge = pd.concat([likelihoods({i: [-5000.0] for i in ids}), likelihoods({i: [-1.0] for i in ids}, "perturbed_0")])
    with np.errstate(over="raise", invalid="raise"):
        found = {k[3]: r["value"] for k, r in rows_of(truth_ratio, Tables(likelihoods=huge), frame).items()}
    assert found == {"truth_ratio": 0, "truth_ratio_min": 0, "truth_ratio_one_minus_min": 1, "truth_ratio_share": 0}


def test_hand_worked_model_utility():
    frame = questions()
    rows = rows_of(model_utility, scored(frame, 0.8, [0.2]), frame)
    parts = {key[2]: row["value"] for key, row in rows.items() if key[2] != "all"}
    assert len(parts) == 9
    assert parts["retain:probability"] == pytest.approx(0.8)
    assert parts["real_authors:probability"] == pytest.approx(0.8)  # 0.8/(0.8 + 0.2)
    assert parts["world_facts:rouge_l_recall"] == pytest.approx(2 / 3)  # "the right" of "the right answer"
    assert parts["retain:truth_ratio"] == pytest.approx(0.75)  # 1 − 0.2/0.8
    whole = rows["all", "all", "all", "model_utility"]
    # 9/(3/0.8 + 3/(2/3) + 3/0.75) = 9/12.25
    assert whole["value"] == pytest.approx(9 / 12.25) and whole["value"] == pytest.approx(hmean(list(parts.values())))
    assert whole["n"] == 6 and whole["ci_low"] == pytest.approx(whole["value"])


def test_a_part_of_zero_makes_the_utility_zero():
    frame = questions()
    row = rows_of(model_utility, scored(frame, 0.2, [0.8]), frame)["all", "all", "all", "model_utility"]
    assert row["value"] == 0
    assert harmonic_mean(np.array([1.0, np.nan, 0.0])) != 0  # NaN wins over 0


def test_a_missing_group_makes_the_utility_null_and_says_which():
    frame = questions()
    frame = frame[frame["group"] != "world_facts"]
    rows = rows_of(model_utility, scored(frame, 0.8, [0.2]), frame)
    row = rows["all", "all", "all", "model_utility"]
    assert np.isnan(row["value"]) and "world_facts:probability" in row["note"]
    assert rows["all", "all", "world_facts:truth_ratio", "model_utility"]["note"]


def ratios(frame: pd.DataFrame, log_r: np.ndarray) -> Tables:
    ids = frame["item_id"]
    right = likelihoods({i: [-2.0] for i in ids}, "paraphrase")
    wrong = likelihoods({i: [-2.0 + x] for i, x in zip(ids, log_r, strict=True)}, "perturbed_0")
    return Tables(likelihoods=pd.concat([right, wrong]))


def test_forget_quality_is_the_ks_test_on_truth_ratios():
    frame = items(*(("forget", f"k{n:03}", "en", "x", None) for n in range(40)))
    rng = np.random.default_rng(0)
    run, other = rng.normal(0, 1, 40), rng.normal(0.5, 1, 40)
    rows = rows_of(forget_quality, ratios(frame, run), frame, retrain=ratios(frame, other))
    p = ks_2samp(np.exp(run), np.exp(other)).pvalue
    assert rows["forget", "all", "all", "forget_quality"]["value"] == pytest.approx(p)
    assert rows["forget", "all", "log10", "forget_quality"]["value"] == pytest.approx(np.log10(p))
    assert rows["forget", "all", "all", "forget_quality"]["n"] == 40


def test_hand_worked_forget_quality():
    frame = items(*(("forget", f"k{n}", "en", "x", None) for n in range(3)))
    # 3 against 3 without overlap: D = 1; 2 of the C(6, 3) = 20 orders are that extreme: p = 0.1
    rows = rows_of(forget_quality, ratios(frame, np.arange(3.0)), frame, retrain=ratios(frame, np.arange(3.0) + 9))
    assert rows["forget", "all", "all", "forget_quality"]["value"] == pytest.approx(0.1)
    assert rows["forget", "all", "log10", "forget_quality"]["value"] == pytest.approx(-1)


def test_the_retrained_model_against_itself_is_one():
    frame = items(*(("forget", f"k{n}", "en", "x", None) for n in range(9)))
    same = ratios(frame, np.arange(9.0))
    rows = rows_of(forget_quality, same, frame, retrain=same)
    assert [row["value"] for row in rows.values()] == [1, 0]


def test_forget_quality_without_a_retrained_model_is_null_with_a_reason():
    frame = items(("forget", "k", "en", "x", None))
    rows = rows_of(forget_quality, ratios(frame, np.zeros(1)), frame)
    assert {row["note"] for row in rows.values()} == {"no retrained model to compare with"}


def test_the_printed_row_of_seps_recomputes():
    # SEPS, GA+GD, forget01: R .8068 P .8789 TR .4864 LLM .8025 → MU .7043
    assert harmonic_mean(np.array([0.8068, 0.8789, 0.4864, 0.8025])) == pytest.approx(0.7043, abs=1e-4)
