"""Agreement of two judges by hand: Cohen's κ, the share of agreement, and what no judge could say."""

import numpy as np
import pandas as pd
import pytest

from score_fakes import LANGUAGES, grid_items, table, verdicts, view
from unlearning.metrics import kappa, se
from unlearning.score.grid import expected
from unlearning.score.run import score
from unlearning.score.view import Tables

ONE = {"en": LANGUAGES["en"]}


def judged(first: dict, second: dict) -> Tables:
    return Tables(verdicts=pd.concat([verdicts(first), verdicts(second, "llm")]))


def pairs(wrong: int, only_second: int, only_first: int, both: int) -> tuple[dict, dict]:
    """item -> verdict of each judge: so many answers of each kind, one question an answer."""
    kinds = [(False, False)] * wrong + [(False, True)] * only_second + [(True, False)] * only_first
    kinds += [(True, True)] * both
    return tuple({f"k{i:02}/en": kind[judge] for i, kind in enumerate(kinds)} for judge in (0, 1))


def scored(first: dict, second: dict, group: str = "forget", **more) -> dict:
    frame = grid_items({group: sorted({i.split("/")[0] for i in [*first, *second]})}, ONE)
    rows = kappa.score(view(frame, judged(first, second), languages=ONE, second_judges=("llm",), **more))
    return {r["metric"]: r for r in rows if r["group"] == group}


def test_hand_worked_kappa():
    # 20 answers: both right 8, only the first 3, only the second 2, both wrong 7.
    # p_o = 15/20 = 0.75; first right 11/20, second right 10/20: p_e = 0.55·0.5 + 0.45·0.5 = 0.5; κ = 0.25/0.5
    found = scored(*pairs(7, 2, 3, 8))
    assert found["kappa"]["value"] == pytest.approx(0.5)
    assert found["kappa_agreement"]["value"] == pytest.approx(0.75)
    assert found["kappa_answers"]["value"] == 20 and found["kappa_failed"]["value"] == 0
    assert found["kappa"]["n"] == 20 and found["kappa"]["task"] == "llm" and found["kappa"]["note"] is None
    assert found["kappa"]["ci_low"] < 0.5 < found["kappa"]["ci_high"]
    assert float(kappa.kappa(np.array([7, 2, 3, 8]))) == pytest.approx(0.5)


def test_the_formula_agrees_with_scikit_learn():
    from sklearn.metrics import cohen_kappa_score

    for seed in range(50):
        first, second = np.random.default_rng(seed).integers(0, 2, (2, 30))
        counts = np.bincount(2 * first + second, minlength=4)
        assert float(kappa.kappa(counts)) == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
        assert float(kappa.agreement(counts)) == pytest.approx((first == second).mean())


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ((5, 0, 0, 5), 1),  # always the same, of both kinds
        ((0, 5, 5, 0), -1),  # never the same: p_o = 0, p_e = 0.5
        ((4, 4, 4, 4), 0),  # independent
        ((0, 0, 9, 0), 0),  # one says right, the other wrong, always: p_o = p_e = 0
        ((0, 3, 0, 6), 0),  # the second always says right: p_o = p_e = 6/9
    ],
)
def test_limits_of_kappa(counts, value):
    assert float(kappa.kappa(np.array(counts))) == pytest.approx(value)
    assert scored(*pairs(*counts))["kappa"]["value"] == pytest.approx(value)


@pytest.mark.parametrize("counts", [(0, 0, 0, 6), (6, 0, 0, 0)])
def test_kappa_is_null_where_every_verdict_is_the_same(counts):
    found = scored(*pairs(*counts))
    assert np.isnan(found["kappa"]["value"]) and "is the same: κ is undefined" in found["kappa"]["note"]
    assert found["kappa_agreement"]["value"] == 1 and found["kappa_answers"]["value"] == 6


def test_an_answer_that_one_judge_could_not_judge_is_left_out_and_counted():
    first, second = pairs(7, 2, 3, 8)
    plain = scored(first, second)
    found = scored(first | {"k90/en": True, "k91/en": None}, second | {"k90/en": None, "k91/en": False})
    for metric in ("kappa", "kappa_agreement", "kappa_answers"):
        assert found[metric]["value"] == plain[metric]["value"] and found[metric]["n"] == 20
    assert found["kappa_failed"]["value"] == 2
    assert found["kappa"]["note"] == "2 of 22 answers not judged by both"


def test_nothing_judged_by_both_is_null_with_a_reason():
    found = scored({"a/en": True}, {"a/en": None})
    assert found["kappa"]["value"] is None or np.isnan(found["kappa"]["value"])
    assert found["kappa"]["note"] == "no forget answer judged by both rule and llm" and found["kappa"]["n"] == 0
    assert found["kappa_answers"]["value"] == 0 and found["kappa_failed"]["value"] == 1


def test_samples_count_as_answers_and_instances_as_n():
    found = scored({"a/en": [True, False], "b/en": [True, True]}, {"a/en": [True, False], "b/en": [False, True]})
    assert found["kappa_answers"]["value"] == 4 and found["kappa"]["n"] == 2
    # both right 2, only the first 1, both wrong 1: p_o = 3/4, p_e = (3·2 + 1·2)/16 = 1/2
    assert found["kappa"]["value"] == pytest.approx(0.5)


def test_order_changes_nothing():
    frame = grid_items({"forget": list("abcdef"), "retain": list("xyz")})
    rng = np.random.default_rng(0)
    told = judged(*({i: bool(rng.random() < 0.5) for i in frame["item_id"]} for _ in range(2)))
    mixed = Tables(verdicts=told.verdicts.sample(frac=1, random_state=1))
    one = kappa.score(view(frame, told, second_judges=("llm",)))
    other = kappa.score(view(frame.sample(frac=1, random_state=2), mixed, second_judges=("llm",)))
    assert repr(one) == repr(other)


def test_each_group_and_selection_counts_its_own_answers():
    frame = grid_items({"forget": ["a", "b"]})
    first = {i: True for i in frame["item_id"]}
    second = first | {"a/en": False, "a/es": False, "b/es": False}
    rows = table(kappa.score(view(frame, judged(first, second), second_judges=("llm",))))
    assert rows["forget", "en", "llm", "kappa_agreement"]["value"] == 0.5
    assert rows["forget", "holdout", "llm", "kappa_agreement"]["value"] == 0.5  # es: none of 2; th: both
    assert rows["forget", "all", "llm", "kappa_agreement"]["value"] == 5 / 8
    assert rows["retain", "all", "llm", "kappa"]["note"] == "no retain answer judged by both rule and llm"


@pytest.mark.parametrize("seconds", [(), ("llm",), ("llm", "other")])
def test_rows_of_second_judges_are_the_expected_grid(seconds):
    frame = grid_items({"forget": ["a", "b"], "retain": ["c"]})
    told = {i: [True, False] for i in frame["item_id"]}
    tables = Tables(verdicts=pd.concat([verdicts(told, judge) for judge in ("rule", *seconds)]))
    seen = view(frame, tables, second_judges=seconds)
    scores = score(seen, ["se", "kappa"])
    keys = expected(["se", "kappa"], LANGUAGES, seen.groups, 2, seconds)
    assert len(keys) == len(scores)
    assert set(scores[["group", "language", "task", "metric"]].itertuples(index=False, name=None)) == set(keys)
    assert {m for *_, m in keys if m.startswith("se:")} == {f"se:{judge}" for judge in seconds}
    assert any(m == "kappa" for *_, m in keys) == bool(seconds)


def test_a_second_judges_failures_are_left_out_of_its_se_and_never_count_as_wrong():
    frame = grid_items({"forget": ["a", "b", "c"]}, ONE)
    told = judged(dict.fromkeys(frame["item_id"], True), {"a/en": True, "b/en": False, "c/en": None})
    rows = table(se.score(view(frame, told, languages=ONE, second_judges=("llm",))))
    row = rows["forget", "all", "all", "se:llm"]
    assert row["value"] == 0.5 and row["n"] == 2 and row["note"] == "1 of 3 questions have no verdict of the judge llm"
    assert rows["forget", "all", "all", "se"]["value"] == 1


def test_any_sample_right_is_open_where_only_wrong_ones_were_judged():
    frame = grid_items({"forget": ["a", "b", "c"]}, ONE)
    told = Tables(verdicts=verdicts({"a/en": [False, None], "b/en": [True, None], "c/en": [False, False]}))
    row = table(se.score(view(frame, told, languages=ONE)))["forget", "all", "any", "se"]
    assert row["value"] == 0.5 and row["n"] == 2 and row["note"].startswith("1 of 3 questions")
