"""μ²-Bench's scores by hand."""

import numpy as np
import pandas as pd
import pytest

from score_fakes import grid_items, likelihoods, spread_probability, table, verdicts, view
from unlearning.metrics import drop_rate, kps, kss, privleak, ps, se, value_probability
from unlearning.score.ragged import lowest_mean
from unlearning.score.view import Tables


def judged(frame: pd.DataFrame, right) -> Tables:
    return Tables(verdicts=verdicts({row.item_id: bool(right(row)) for row in frame.itertuples()}))


def test_ps_is_a_mean_over_languages_then_instances():
    frame = grid_items({"forget": ["a", "b"]})
    told = likelihoods({"a/en": [np.log(0.2), np.log(0.8)], "a/af": [np.log(0.2)], "b/en": [np.log(0.9)] * 3})
    rows = table(ps.score(view(frame, Tables(likelihoods=told))))
    # a/en: sqrt(0.2·0.8) = 0.4; a over train: (0.4 + 0.2)/2 = 0.3; b: 0.9; mean (0.3 + 0.9)/2
    row = rows["forget", "train", "all", "ps"]
    assert row["value"] == pytest.approx(0.6) and row["n"] == 2
    assert row["note"] == "1 of 4 questions have no likelihood"
    assert row["ci_low"] == pytest.approx(0.3) and row["ci_high"] == pytest.approx(0.9)
    assert rows["forget", "af", "all", "ps"]["value"] == pytest.approx(0.2)
    assert np.isnan(rows["forget", "af", "all", "ps"]["ci_low"])  # one instance
    assert rows["forget", "th", "all", "ps"]["note"] == "2 of 2 questions have no likelihood"
    assert rows["retain", "all", "all", "ps"]["note"] == "no retain questions in en, af, es, th"


def test_value_probability_reads_the_value_tokens_only():
    frame = grid_items({"forget": ["a", "b"]})
    told = likelihoods({"a/en": [0.0, np.log(0.25), np.log(0.04)], "b/en": [-1.0]}, masks={"a/en": [False, True, True]})
    row = table(value_probability.score(view(frame, Tables(likelihoods=told))))[
        "forget", "en", "all", "value_probability"
    ]
    # sqrt(0.25·0.04) = 0.1; b has no value token
    assert (
        row["value"] == pytest.approx(0.1) and row["n"] == 1 and row["note"] == "1 of 2 questions have no value tokens"
    )


def test_se_averages_samples_and_any_asks_for_one():
    frame = grid_items({"forget": ["a", "b"]})
    told = verdicts({"a/en": [True, False, None], "b/en": [False, False, False]})
    other = verdicts({"a/en": [True] * 3, "b/en": [True] * 3}, judge="another")
    rows = table(se.score(view(frame, Tables(verdicts=pd.concat([told, other])))))
    assert rows["forget", "en", "all", "se"]["value"] == pytest.approx(0.25)  # (1/2 + 0)/2, the failure left out
    assert rows["forget", "en", "any", "se"]["value"] == pytest.approx(0.5)


def test_one_sample_has_no_any_row():
    frame = grid_items({"forget": ["a"]})
    assert {r["task"] for r in se.score(view(frame, judged(frame, lambda row: True)))} == {"all"}


def test_the_lowest_share_of_tokens():
    # 5 tokens: ⌊0.4·5⌋ = 2 lowest −5, −4; 2 tokens: ⌊0.8⌋ = 0, so one: −7; order inside a row is free
    values = np.array([-1, -5, -2, -4, -3, -7, -1.0])
    rows = np.array([0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(lowest_mean(values, rows, 3, 0.4), [-4.5, -7, np.nan])


def attacked(frame: pd.DataFrame, surprise) -> Tables:
    return Tables(likelihoods=likelihoods({row.item_id: [-surprise(row)] * 5 for row in frame.itertuples()}))


def leak(run, retrain, languages: str = "train") -> dict:
    frame = grid_items({"forget": ["a", "b"], "nonmember": ["y", "z"]})
    seen = view(frame, attacked(frame, run), retrain=attacked(frame, retrain))
    return {metric: row for (_, code, _, metric), row in table(privleak.score(seen)).items() if code == languages}


def test_hand_worked_privleak():
    def run(row):  # forget 1, 1; non-members 2, 2: A = 1
        return 1 if row.group == "forget" else 2

    def retrain(row):  # forget 1, 3; non-members 2, 2: A = 2/4
        return {"a": 1, "b": 3}.get(row.knowledge_id, 2)

    found = leak(run, retrain)
    assert found["privleak"]["value"] == pytest.approx(100)  # 100·(1 − 0.5)/(1 − 0.5)
    assert found["privleak_flipped"]["value"] == pytest.approx(-100)
    assert found["privleak_relative"]["value"] == pytest.approx(1)  # (1 − 0.5)/0.5
    assert found["privleak"]["n"] == 4


def test_privleak_of_the_retrained_model_is_zero_and_over_forgetting_is_negative():
    def retrain(row):
        return {"a": 1, "b": 3}.get(row.knowledge_id, 2)

    assert leak(retrain, retrain)["privleak"]["value"] == pytest.approx(0)
    over = leak(lambda row: 9 if row.group == "forget" else 2, retrain)
    assert over["privleak"]["value"] == pytest.approx(-100)  # (0 − 0.5)/0.5


def test_privleak_is_null_where_the_retrained_model_leaves_no_room():
    def memorised(row):
        return 1 if row.group == "forget" else 2

    found = leak(memorised, memorised)
    assert np.isnan(found["privleak"]["value"]) and "A = 1.000" in found["privleak"]["note"]
    assert found["privleak_relative"]["value"] == pytest.approx(0)
    never = leak(memorised, lambda row: 2 if row.group == "forget" else 1)
    assert np.isnan(never["privleak_relative"]["value"]) and never["privleak"]["value"] == pytest.approx(100)


def test_privleak_says_what_is_missing():
    frame = grid_items({"forget": ["a"], "nonmember": ["z"]})
    model = attacked(frame, lambda row: 1)
    assert {r["note"] for r in privleak.score(view(frame, model))} == {"no retrained model to compare with"}
    alone = grid_items({"forget": ["a"]})
    rows = privleak.score(view(alone, attacked(alone, lambda row: 1), retrain=attacked(alone, lambda row: 1)))
    assert all(r["note"].startswith("no non-member questions") and r["value"] is None for r in rows)


def test_hand_worked_kss():
    frame = grid_items({"forget": ["a", "b"], "retain": ["c", "d"]})
    run = spread_probability(frame, lambda row: {"a": 0.1, "b": 0.5, "c": 0.4, "d": 0.9}[row.knowledge_id])
    retrain = spread_probability(frame, lambda row: 0.1 if row.group == "forget" else 0.9)
    seen = view(frame, Tables(likelihoods=run), retrain=Tables(likelihoods=retrain))
    found = {key[3]: row for key, row in table(kss.score(seen)).items() if key[1] == "holdout"}
    # S: forget 0.9, 0.5; retain 0.6, 0.1: three of four pairs in order
    assert found["kss_prob_roc"]["value"] == pytest.approx(0.75)
    # thresholds 0.9: P 1, 0.5: P 2/3: 0.5·1 + 0.5·2/3
    assert found["kss_prob_pr"]["value"] == pytest.approx(5 / 6)
    # the retrained model has 1 and 1; chance 0.5 and 2/4
    assert found["kss_prob_roc_ratio"]["value"] == pytest.approx(75)
    assert found["kss_prob_roc_chance"]["value"] == pytest.approx(50)  # 100·0.25/0.5
    assert found["kss_prob_pr_ratio"]["value"] == pytest.approx(100 * 5 / 6)
    assert found["kss_prob_pr_chance"]["value"] == pytest.approx(100 * (5 / 6 - 0.5) / 0.5)
    assert found["kss_gen_roc"]["value"] is None and found["kss_gen_roc"]["note"]
    assert found["kss_prob_roc"]["n"] == 4


def test_kss_of_the_retrained_model_is_a_hundred_and_of_an_equal_one_chance():
    frame = grid_items({"forget": ["a", "b"], "retain": ["c", "d"]})
    apart = judged(frame, lambda row: row.group == "retain")
    rows = {key[3]: row for key, row in table(kss.score(view(frame, apart, retrain=apart))).items()}
    assert rows["kss_gen_roc"]["value"] == 1 and rows["kss_gen_pr"]["value"] == 1
    for name in ("kss_gen_roc_ratio", "kss_gen_roc_chance", "kss_gen_pr_ratio", "kss_gen_pr_chance"):
        assert rows[name]["value"] == pytest.approx(100)
        assert (rows[name]["ci_low"], rows[name]["ci_high"]) == pytest.approx((100, 100))
    same = judged(frame, lambda row: True)
    rows = {key[3]: row for key, row in table(kss.score(view(frame, same, retrain=same))).items()}
    assert rows["kss_gen_roc"]["value"] == 0.5 and rows["kss_gen_pr"]["value"] == 0.5
    assert np.isnan(rows["kss_gen_roc_chance"]["value"]) and "chance 0.500" in rows["kss_gen_roc_chance"]["note"]


def test_kss_without_a_retrained_model_keeps_the_raw_scores():
    frame = grid_items({"forget": ["a"], "retain": ["b"]})
    rows = kss.score(view(frame, judged(frame, lambda row: row.group == "retain")))
    found = {r["metric"]: r for r in rows if r["language"] == "train"}
    assert found["kss_gen_pr"]["value"] == 1 and found["kss_gen_pr_ratio"]["value"] is None
    assert found["kss_gen_pr_ratio"]["note"] == "no values of a retrained model"


def test_kss_agrees_with_scikit_learn():
    from sklearn.metrics import average_precision_score, roc_auc_score

    ids = {"forget": [f"f{n}" for n in range(20)], "retain": [f"r{n}" for n in range(50)]}
    frame = grid_items(ids)
    rng = np.random.default_rng(0)
    known = dict(zip(frame["item_id"], rng.random(len(frame)) < 0.6, strict=True))
    seen = view(frame, Tables(verdicts=verdicts({i: bool(k) for i, k in known.items()})))
    train = frame[frame["language"].isin(["en", "af"])]
    s = 1 - train.assign(known=train["item_id"].map(known)).groupby("knowledge_id")["known"].mean()
    labels = s.index.str.startswith("f")
    rows = table(kss.score(seen))
    assert rows["forget", "train", "all", "kss_gen_roc"]["value"] == pytest.approx(roc_auc_score(labels, s))
    assert rows["forget", "train", "all", "kss_gen_pr"]["value"] == pytest.approx(average_precision_score(labels, s))


def persistence(gone: set[str], unknown: set[str] = frozenset()) -> dict:
    frame = grid_items({"forget": ["a", "b"]})
    target = judged(frame, lambda row: row.item_id not in unknown)
    run = judged(frame, lambda row: row.item_id not in gone | unknown)
    return {key[1]: row for key, row in table(kps.score(view(frame, run, target))).items()}


def test_hand_worked_kps():
    found = persistence({"a/en", "b/en", "a/af", "a/es"})
    # en: forgotten a, b; kept in af: b (1/2), es: b (1/2), th: both (1): mean 2/3
    assert found["en"]["value"] == pytest.approx(2 / 3) and found["en"]["n"] == 2
    # af: forgotten a; kept in en 0, es 0, th 1: 1/3
    assert found["af"]["value"] == pytest.approx(1 / 3) and found["af"]["n"] == 1
    assert found["train"]["value"] == pytest.approx((1 / 2 + 0) / 2)  # en→af, af→en
    # th forgot nothing: only es→th counts
    assert found["holdout"]["value"] == pytest.approx(1)
    assert found["th"]["note"] == "nothing that the target knew was forgotten"
    assert found["all"]["value"] == pytest.approx((1 / 2 + 1 / 2 + 1 + 0 + 0 + 1 + 0 + 0 + 1) / 9)


def test_what_the_target_never_knew_is_neither_forgotten_nor_kept():
    # a/th unknown to the target: not kept, and a was forgotten in en
    assert persistence({"a/en"}, {"a/th"})["en"]["value"] == pytest.approx((1 + 1 + 0) / 3)


def test_kps_of_the_target_itself_is_null():
    assert all(np.isnan(row["value"]) and row["note"] for row in persistence(set()).values())


def test_hand_worked_drop_rate():
    frame = grid_items({"forget": ["a", "b"]})
    before = spread_probability(frame, lambda row: 0.8)
    after = spread_probability(frame, lambda row: 0.2 if row.language == "en" else 0.6)
    target = Tables(likelihoods=before, verdicts=judged(frame, lambda row: row.language != "th").verdicts)
    run = Tables(likelihoods=after, verdicts=judged(frame, lambda row: row.knowledge_id == "a").verdicts)
    rows = table(drop_rate.score(view(frame, run, target)))
    assert rows["forget", "train:high", "ps", "drop_rate"]["value"] == pytest.approx(75)  # (0.8 − 0.2)/0.8
    assert rows["forget", "train:low", "ps", "drop_rate"]["value"] == pytest.approx(25)
    assert rows["forget", "train", "ps", "drop_rate"]["value"] == pytest.approx(50)
    row = rows["forget", "train", "se", "drop_rate"]
    assert row["value"] == pytest.approx(50) and (row["ci_low"], row["ci_high"]) == pytest.approx((0, 100))
    nothing = rows["forget", "holdout:other", "se", "drop_rate"]
    assert np.isnan(nothing["value"]) and nothing["note"] == "the target's se is 0: nothing to drop from"
    assert {key[1] for key in rows} == {
        "train", "holdout", "train:high", "train:low", "holdout:high", "holdout:low", "holdout:latin", "holdout:other",
    }  # fmt: skip


def test_the_target_has_dropped_nothing():
    frame = grid_items({"forget": ["a", "b"]})
    model = Tables(likelihoods=spread_probability(frame, lambda row: 0.3), verdicts=judged(frame, lambda r: 1).verdicts)
    assert {r["value"] for r in drop_rate.score(view(frame, model, model))} == {0.0}
