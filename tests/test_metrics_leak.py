"""Leak-resistant scores: accuracy, forget quality, recovery rate, robustness."""

import numpy as np
import pandas as pd
import pytest

from score_fakes import LANGUAGES, grid_items, table, verdicts, view
from unlearning.metrics import accuracy, fq, robustness, rr
from unlearning.score.grid import expected
from unlearning.score.languages import Language
from unlearning.score.run import score
from unlearning.score.tasks import hops, ordered, sums, types
from unlearning.score.view import Tables

ONE = {"en": Language("train", "high", "latin")}
LEAK = ["accuracy", "fq", "rr", "robustness"]


def leak(**tasks: int):
    """Items of one language, so many forget instances of each task: sh0, sh1 …, hs0 …"""
    names = {f"{task}{i}": task for task, count in tasks.items() for i in range(count)}
    frame = grid_items({"forget": list(names)}, ONE)
    return frame.assign(task=frame["knowledge_id"].map(names))


def told(marks: str, frame: pd.DataFrame):
    """Tables whose verdicts are, item by item, right (1), wrong (0) or missing (-)."""
    right = {"1": True, "0": False, "-": None}
    marks = dict(zip(frame["item_id"], marks.replace(" ", ""), strict=True))
    return Tables(verdicts=verdicts({item: right[mark] for item, mark in marks.items()}))


def seen(frame, run, target=None, plain=None, attacks=None, **more):
    given = {name: told(marks, frame) for name, marks in (("plain", plain),) if marks is not None}
    under = {name: told(marks, frame) for name, marks in (attacks or {}).items()}
    options = {"languages": ONE, "attacks": under, **given} | more
    return view(frame, told(run, frame), told(target, frame) if target else None, **options)


def values(rows: list[dict], metric: str) -> dict[str, float | None]:
    return {task: r["value"] for (_, language, task, m), r in table(rows).items() if m == metric and language == "all"}


def test_tasks_stand_in_the_papers_order():
    asked = ["cc", "hs", "sh", "ds", "hs"]
    assert ordered(asked) == ("sh", "hs", "ds", "cc")
    assert hops(asked) == {"single_hop": ("sh",), "multi_hop": ("hs", "ds", "cc")}
    assert list(sums(asked)) == ["all", "multi_hop", "sh", "hs", "ds", "cc"]
    assert (hops(["qa"]), types(["qa"]), list(sums(["qa"]))) == ({"single_hop": ("qa",)}, {}, ["all"])


def test_accuracy_by_hand():
    # sh: 3 of 4, hs: 1 of 2, cc: 0 of 2; multi-hop pooled 1 of 4; all 4 of 8
    rows = accuracy.score(seen(leak(sh=4, hs=2, cc=2), "1110 10 00"))
    found = {task: r["value"] for (group, _, task, _), r in table(rows).items() if group == "forget"}
    assert found == {"all": 0.5, "multi_hop": 0.25, "sh": 0.75, "hs": 0.5, "cc": 0.0}
    assert table(rows)[("forget", "all", "sh", "accuracy")]["n"] == 4


def test_a_missing_verdict_counts_in_neither_part_and_is_noted():
    row = table(accuracy.score(seen(leak(sh=4), "11-0")))[("forget", "all", "all", "accuracy")]
    assert row["value"] == pytest.approx(2 / 3) and row["n"] == 3
    assert row["note"] == "1 of 4 questions have no verdict of the judge rule"


def test_one_right_trial_of_five_is_enough():
    frame = leak(sh=2)
    trials = {"sh0/en": [False] * 4 + [True], "sh1/en": [False] * 5}
    rows = accuracy.score(view(frame, Tables(verdicts=verdicts(trials)), languages=ONE))
    assert values([r for r in rows if r["group"] == "forget"], "accuracy")["all"] == 0.5


def test_forget_quality_by_hand():
    # sh: 1 − (1/4)/(4/4) = 0.75; hs: 1 − (2/2)/(1/2) = −1, more than before; ds: the target knows none.
    # macro: (0.75 − 1)/2 = −0.125
    frame = leak(sh=4, hs=2, ds=2)
    rows = fq.score(seen(frame, "1000 11 01", "1111 10 00"))
    assert values(rows, "fq") == {"sh": 0.75, "hs": -1.0, "all": -0.125, "ds": pytest.approx(np.nan, nan_ok=True)}
    # pooled counts every question, also those of a kind of which the target knew none: 1 − 4/5
    assert values(rows, "fq_pooled") == {"all": pytest.approx(0.2)}
    found = table(rows)
    assert found[("forget", "all", "ds", "fq")]["note"] == "the target answers none of them right: nothing to forget"
    assert found[("forget", "all", "all", "fq")]["note"] == "without ds: the target answers none of these"


def test_forget_quality_is_1_of_nothing_known_and_0_of_the_target_itself():
    frame = leak(sh=3, mp=3)
    assert set(values(fq.score(seen(frame, "000000", "111111")), "fq").values()) == {1.0}
    assert set(values(fq.score(seen(frame, "110101", "110101")), "fq").values()) == {0.0}


def test_recovery_rate_by_hand():
    # S, right before and wrong after: sh0, sh1, sh2 (sh3 was not known, sh4 not forgotten) and hs0.
    # Under the attack sh1 of the three comes back: 1/3; hs0: 1/1. sh3 and sh4 do not count, however answered.
    frame = leak(sh=5, hs=2)
    rows = rr.score(seen(frame, "01011 10", target="11101 10", plain="00001 00"))
    assert values(rows, "rr") == {"single_hop": pytest.approx(1 / 3), "multi_hop": 1.0}
    assert [r["n"] for r in rows if r["language"] == "all"] == [3, 1]


def test_nothing_unlearned_leaves_nothing_to_recover():
    rows = rr.score(seen(leak(sh=2), "11", target="11", plain="11"))
    assert np.isnan(rows[0]["value"]) and rows[0]["n"] == 0
    assert rows[0]["note"] == "no question was right before unlearning and wrong after"


def test_a_run_without_attack_has_no_recovery_rate():
    row = rr.score(seen(leak(sh=2), "00", target="11"))[0]
    assert np.isnan(row["value"]) and row["note"] == "there is no attack to recover by"


def test_what_the_attack_was_not_asked_does_not_count():
    row = rr.score(seen(leak(sh=3), "1-0", target="111", plain="000"))[0]
    assert (row["value"], row["n"]) == (0.5, 2)
    assert row["note"].startswith("1 unlearned questions have no verdict under the attack")


def naive_rr(frame, under, target, plain, own):
    recovered = counted = 0
    for task, u, t, p in zip(frame["task"], under, target, plain, strict=True):
        if task in own and t == "1" and p == "0" and u != "-":
            counted, recovered = counted + 1, recovered + (u == "1")
    return recovered / counted if counted else np.nan


@pytest.mark.parametrize("seed", range(5))
def test_rates_agree_with_a_loop(seed):
    rng = np.random.default_rng(seed)
    frame = leak(sh=20, hs=9, mt=9, cc=4)
    marks = ["".join(rng.choice(list("0011-"), len(frame))) for _ in range(4)]
    found = values(rr.score(seen(frame, marks[0], target=marks[1], plain=marks[2])), "rr")
    rates = {hop: naive_rr(frame, *marks[:3], own) for hop, own in hops(frame["task"]).items()}
    assert found == {hop: pytest.approx(rate, nan_ok=True) for hop, rate in rates.items()}
    other = {hop: naive_rr(frame, marks[3], *marks[1:3], own) for hop, own in hops(frame["task"]).items()}
    row = robustness.score(seen(frame, marks[2], target=marks[1], attacks={"probab": marks[0], "quantize": marks[3]}))[
        0
    ]
    assert row["value"] == pytest.approx(1 - np.nanmax([*rates.values(), *other.values()]))
    both = [(t, a, b) for t, a, b in zip(frame["task"], marks[0], marks[1], strict=True) if "-" not in (a, b)]
    quality = values(fq.score(seen(frame, marks[0], target=marks[1])), "fq")
    for task in types(frame["task"]):
        after, before = (sum(row[i] == "1" for row in both if row[0] == task) for i in (1, 2))
        assert quality[task] == pytest.approx(1 - after / before if before else np.nan, nan_ok=True)


def test_robustness_is_the_papers_figure():
    # Table 3, PALU on Llama 8B: probab 4.0 / 5.9, quant 4.0 / 12.9, focus-on-key 0.9 / 2.4 per cent -> 87.1
    rates = {"probab": (40, 59), "quantize": (40, 129), "focus_on_key": (9, 24)}
    frame = leak(sh=1000, hs=1000)
    attacks = {a: "1" * s + "0" * (1000 - s) + "1" * m + "0" * (1000 - m) for a, (s, m) in rates.items()}
    row = robustness.score(seen(frame, "0" * 2000, target="1" * 2000, attacks=attacks, draws=50))[0]
    assert row["value"] == pytest.approx(0.871)
    assert row["note"] == "most comes back under quantize, multi-hop" and row["n"] == 2000
    assert row["ci_low"] < 0.871 < row["ci_high"] and row["ci_high"] - row["ci_low"] < 0.05


@pytest.mark.parametrize(
    ("run", "attacks", "note"),
    [
        ("00", {}, robustness.NONE),
        ("11", {"probab": "11"}, "no question was right before unlearning and wrong after"),
        ("00", {"probab": "--"}, "no unlearned question has a verdict under any attack"),
    ],
)
def test_robustness_without_rates_is_null_with_the_reason(run, attacks, note):
    row = robustness.score(seen(leak(sh=2), run, target="11", attacks=attacks))[0]
    assert row["value"] is None and row["note"] == note


def test_intervals_hold_the_value_and_come_only_from_two_instances_on():
    frame = leak(sh=60)
    under = "10" * 30
    row = rr.score(seen(frame, under, target="1" * 60, plain="0" * 60))[0]
    # a share of 0.5 over 60: standard error sqrt(.25/60) = 0.065, so about 0.37 to 0.63
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(0.37, abs=0.03), pytest.approx(0.63, abs=0.03))
    alone = rr.score(seen(leak(sh=1), "1", target="1", plain="0"))[0]
    assert alone["value"] == 1 and np.isnan(alone["ci_low"])


def test_several_items_of_one_instance_are_drawn_together():
    frame = leak(sh=40)
    together = frame.assign(knowledge_id=[f"k{i // 20}" for i in range(40)])
    marks = {"target": "1" * 40, "plain": "0" * 40}
    wide, narrow = (rr.score(seen(f, "1" * 20 + "0" * 20, **marks))[0] for f in (together, frame))
    assert wide["value"] == narrow["value"] == 0.5
    assert (wide["ci_low"], wide["ci_high"]) == (0.0, 1.0)  # two instances, all right and all wrong
    assert narrow["ci_low"] > 0.2


def test_mu2_items_are_single_hop_in_every_language():
    frame = grid_items({"forget": ["a", "b"], "retain": ["c"]})
    before = Tables(verdicts=verdicts(dict.fromkeys(frame["item_id"], True)))
    gone = Tables(verdicts=verdicts({i: i[0] == "c" for i in frame["item_id"]}))
    back = Tables(verdicts=verdicts({i: i in ("a/en", "b/en", "a/th") or i[0] == "c" for i in frame["item_id"]}))
    found = table(rr.score(view(frame, back, before, plain=gone)))
    assert {language: r["value"] for (_, language, _, _), r in found.items()} == {
        "en": 1.0, "af": 0.0, "es": 0.0, "th": 0.5, "train": 0.5, "holdout": 0.25, "all": 3 / 8,
    }  # fmt: skip
    assert {task for _, _, task, _ in found} == {"single_hop"}


def test_every_expected_row_comes_and_no_other():
    for frame in (leak(sh=3, hs=2, ds=1), grid_items({"forget": ["a", "b"], "retain": ["c"]}), grid_items({})):
        spoken = ONE if "hs" in set(frame["task"]) else LANGUAGES
        bare = view(frame, Tables(), languages=spoken)
        rows = score(bare, LEAK)
        keys = expected(LEAK, spoken, bare.groups, tasks_asked=bare.tasks)
        assert set(rows[["group", "language", "task", "metric"]].itertuples(index=False, name=None)) == set(keys)
        assert len(keys) == len(rows) and rows["value"].isna().all() and rows["note"].str.len().gt(3).all()


def test_the_order_of_rows_changes_nothing():
    frame = leak(sh=8, hs=4, ll=4)
    marks = {"run": "01" * 8, "target": "1101" * 4, "plain": "0001" * 4}
    one = seen(frame, marks["run"], marks["target"], marks["plain"], {"a": "01" * 8, "b": "10" * 8})

    def mixed(tables):
        return Tables(verdicts=tables.verdicts.sample(frac=1, random_state=1).reset_index(drop=True))

    other = view(
        frame.sample(frac=1, random_state=2).reset_index(drop=True), mixed(one.run), mixed(one.target), languages=ONE,
        plain=mixed(one.plain), attacks={name: mixed(tables) for name, tables in one.attacks.items()},
    )  # fmt: skip
    pd.testing.assert_frame_equal(score(one, LEAK), score(other, LEAK))
