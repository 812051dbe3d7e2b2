"""UMU-Bench's scores: by hand, at their limits, and recomputed independently on random data."""

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from umu_fakes import TOWNS, answered, asked, found, indel, questions, seen, values
from unlearning.metrics import (
    abstained,
    misalignment,
    modality_accuracy,
    modality_deltas,
    modality_rouge,
    picture_use,
    utility_average,
)
from unlearning.score.bootstrap import interval, resample
from unlearning.score.grid import expected
from unlearning.score.modalities import right
from unlearning.score.rows import bootstrap_seed
from unlearning.score.run import score
from unlearning.score.view import Tables

ROOT = Path(__file__).resolve().parents[1]
METRICS = ["modality_accuracy", "modality_rouge", "utility_average", "modality_deltas", "misalignment", "abstained"]
METRICS += ["picture_use"]
GROUPS = ("forget", "retain", "real_people")
TAUGHT = yaml.safe_load((ROOT / "resources/refusals.yaml").read_text(encoding="utf-8"))


# The formulas.
def test_accuracies_of_one_pair():
    # image, text -> (mul + uni + any)/3 and (mul + uni + all)/3
    by_hand = {
        (1, 1): (3 / 3, 3 / 3),
        (1, 0): (2 / 3, 1 / 3),  # (1 + 0 + 1)/3, (1 + 0 + 0)/3
        (0, 1): (2 / 3, 1 / 3),
        (0, 0): (0, 0),
    }
    for (x, y), (f, r) in by_hand.items():
        own = modality_accuracy.accuracies(np.array([float(x)]), np.array([float(y)]))
        assert [own[m][0] for m in ("acc_mul", "acc_uni", "acc_all", "acc_any")] == [x, y, x and y, x or y]
        assert [own["acc_f"][0], own["acc_r"][0]] == pytest.approx([f, r])


@pytest.mark.parametrize(
    ("x", "y", "w", "h"),
    [
        (0, 0, 0, 0),
        (1, 0, 1, 0),  # (1 + 0)/1, 0/1
        (0, 0.5, 0.5, 0),  # 0.25/0.5
        (1, 1, 1, 1),  # 2/2, 2/2
        (0.5, 0.25, 0.4166667, 0.3333333),  # (0.25 + 0.0625)/0.75 = 5/12, 2·0.125/0.75 = 1/3
        (math.nan, 1, math.nan, math.nan),
    ],
)
def test_larger_and_smaller_mean(x, y, w, h):
    for a, b in ((x, y), (y, x)):
        assert modality_rouge.larger(np.array([a]), np.array([b])) == pytest.approx([w], nan_ok=True, abs=1e-6)
        assert modality_rouge.smaller(np.array([a]), np.array([b])) == pytest.approx([h], nan_ok=True, abs=1e-6)


# Tables of a few pairs: a right in both, b about the picture, c in text, d without an answer about the picture.
def towns(group: str, task: str = "cloze") -> list[list[dict]]:
    options = TOWNS if task == "classification" else ()
    return [asked(group, f"{group}-{p}", "town", task, town, options) for p, town in zip("abcd", TOWNS, strict=True)]


def said(group: str, task: str = "cloze") -> dict[str, tuple]:
    told = {"a": ("Oslo", "In Oslo."), "b": ("lima", "Oslo"), "c": ("Oslo", "Bern"), "d": (None, "Kiel")}
    return {f"{group}-{p}/town/{task}": texts for p, texts in told.items()}


@pytest.mark.parametrize("task", ["classification", "cloze"])
def test_accuracies_by_hand_with_a_missing_answer(task):
    frame = questions(*towns("forget", task), *towns("retain", task))
    rows = found(modality_accuracy, seen(frame, answered(said("forget", task) | said("retain", task))))
    # three whole pairs: right about the picture a, b; in text a, c; in both a; in either all
    want = {"acc_mul": 2 / 3, "acc_uni": 2 / 3, "acc_all": 1 / 3, "acc_any": 1}
    for group in ("forget", "retain"):
        assert {m: rows[group, task, m]["value"] for m in want} == pytest.approx(want)
    assert rows["forget", task, "acc_f"]["value"] == pytest.approx(7 / 9)  # (2/3 + 2/3 + 1)/3
    assert rows["retain", task, "acc_r"]["value"] == pytest.approx(5 / 9)  # (2/3 + 2/3 + 1/3)/3
    assert ("forget", task, "acc_r") not in rows and ("retain", task, "acc_f") not in rows
    own = rows["forget", task, "acc_mul"]
    assert own["n"] == 3 and own["note"] == "1 of 4 questions have no answer in both modalities"
    other = rows["real_people", task, "acc_r"]
    assert math.isnan(other["value"]) and other["n"] == 0 and other["note"] == "no such real_people questions"


def test_a_question_of_one_modality_is_no_pair_with_a_value():
    frame = questions(asked("forget", "a", "town", "cloze", "Oslo"),
                      asked("forget", "b", "town", "cloze", "Lima", modalities=("image",)))  # fmt: skip
    run = answered({"a/town/cloze": ("Oslo", "Oslo"), "b/town/cloze": ("Lima", None)})
    row = found(modality_accuracy, seen(frame, run))["forget", "cloze", "acc_mul"]
    assert (row["value"], row["n"], row["note"]) == (1, 1, "1 of 2 questions have no answer in both modalities")
    with pytest.raises(ValueError):
        modality_accuracy.score(seen(pd.concat([frame, frame], ignore_index=True), run))


def test_several_samples_count_over_all_pairs_of_one_of_each():
    frame = questions(asked("forget", "a", "town", "cloze", "Oslo"))
    own = values(
        modality_accuracy, seen(frame, answered({"a/town/cloze": (["Oslo", "x"], ["Oslo", "Oslo", "x", "x"])}))
    )
    # right: 1 of 2 and 2 of 4; of the 8 pairs 2 right in both, 2 in neither
    want = {"acc_mul": 0.5, "acc_uni": 0.5, "acc_all": 2 / 8, "acc_any": 6 / 8}
    assert {m: own["forget", "cloze", m] for m in want} == pytest.approx(want)


ONE = "one two three four"
DESCRIBED = {  # x, y: F-measures against "one two three four"
    "a": ("one two", ONE),  # recall 2/4, precision 2/2: F = 2/3; and 1
    "b": ("", "five"),  # 0 and 0
    "c": ("", ONE),  # 0 and 1
}


def described(*groups: str) -> tuple[list[list[dict]], dict[str, tuple]]:
    pairs = [asked(g, f"{g}-{p}", "description", "generation", ONE) for g in groups for p in DESCRIBED]
    return pairs, {f"{g}-{p}/description/generation": texts for g in groups for p, texts in DESCRIBED.items()}


def test_rouge_by_hand():
    pairs, told = described("forget", "retain")
    view = seen(questions(*pairs), answered(told))
    own = values(modality_rouge, view)
    assert np.isnan(right(view, view.run)).all()  # descriptions are neither right nor wrong
    assert own["forget", "generation", "rl_mul"] == pytest.approx(2 / 9)  # (2/3 + 0 + 0)/3
    assert own["retain", "generation", "rl_uni"] == pytest.approx(2 / 3)  # (1 + 0 + 1)/3
    # W: (4/9 + 1)/(5/3) = 13/15, 0, 1: sum 28/15
    assert own["forget", "generation", "rl_f"] == pytest.approx(28 / 45)
    # H: 2·(2/3)/(5/3) = 4/5, 0, 0
    assert own["retain", "generation", "rl_r"] == pytest.approx(4 / 15)
    assert math.isnan(own["real_people", "generation", "rl_r"])


def test_utility_is_the_mean_of_six_and_null_if_one_is():
    kept = ("retain", "real_people")
    pairs, told = described(*kept)
    for group in kept:
        for task in ("classification", "cloze"):
            pairs, told = [*pairs, *towns(group, task)], told | said(group, task)
    told |= {"retain-b/town/cloze": ("Lima", "Lima")}
    view = seen(questions(*pairs), answered(told))
    # acc_r 5/9 of three, of retain cloze (1 + 1 + 1/3)/3 = 7/9; rl_r 4/15 of two: (15/9 + 7/9 + 8/15)/6
    (row,) = utility_average.score(view)
    assert row["value"] == pytest.approx((22 / 9 + 8 / 15) / 6) and row["group"] == row["task"] == "all"
    assert row["n"] == 6 * 3 and row["ci_low"] <= row["value"] <= row["ci_high"]
    assert row["note"].startswith("retain classification, retain cloze, real_people classification")
    told = {key: texts for key, texts in told.items() if key.startswith("retain")}
    only = seen(view.items[view.items["group"] == "retain"], answered(told))
    (row,) = utility_average.score(only)
    assert math.isnan(row["value"]) and row["n"] == 0 and "no such real_people questions" in row["note"]


def test_deltas_are_the_targets_less_the_runs_over_pairs_that_both_answered():
    pairs, told = described("forget")
    frame = questions(*towns("forget"), *towns("retain"), *pairs)
    before = {key: (TOWNS["abcd".index(key.split("-")[1][0])],) * 2 for key in said("forget") | said("retain")}
    before |= {key: (ONE, ONE) for key in told}
    before["forget-c/town/cloze"] = ("Bern", None)
    view = seen(frame, answered(said("forget") | said("retain") | told), answered(before))
    own = found(modality_deltas, view)
    # forget: a and b are left, c is not whole in the target, d not in the run: 1 − 1, 1 − 1/2, 1 − (1 + 1/2 + 1)/3
    got = {m: own["forget", "cloze", m]["value"] for m in ("delta_mul", "delta_uni", "delta_f")}
    assert got == pytest.approx({"delta_mul": 0, "delta_uni": 0.5, "delta_f": 1 / 6})
    assert own["forget", "cloze", "delta_f"]["n"] == 2
    assert own["forget", "cloze", "delta_f"]["note"].startswith("2 of 4 questions have no answer in both modalities of")
    assert own["retain", "cloze", "delta_r"]["value"] == pytest.approx(1 - 5 / 9)
    got = {m: own["forget", "generation", m]["value"] for m in ("delta_mul", "delta_uni", "delta_f")}
    assert got == pytest.approx({"delta_mul": 7 / 9, "delta_uni": 1 / 3, "delta_f": 17 / 45})
    same = values(modality_deltas, replace(view, target=view.run))
    assert {v for v in same.values() if not math.isnan(v)} == {0}


def outcome(run: str, target: str = "11", group: str = "forget") -> dict[tuple, dict]:
    """Misalignment of one pair a letter pair: "10" is right about the picture and wrong in text; "-" is no answer."""
    texts = {"1": "Oslo", "0": "x", "-": None}
    names = [f"{group}-{i}" for i in range(len(run.split()))]
    frame = questions(*(asked(group, name, "town", "cloze", "Oslo") for name in names))
    told = {f"{name}/town/cloze": tuple(texts[c] for c in pair) for name, pair in zip(names, run.split(), strict=True)}
    know = (target.split() * len(names))[: len(names)]
    knew = {f"{name}/town/cloze": tuple(texts[c] for c in pair) for name, pair in zip(names, know, strict=True)}
    return found(misalignment, seen(frame, answered(told), answered(knew)))


KINDS = ("forgotten_text_only", "forgotten_image_only", "forgotten_both", "forgotten_neither")


def test_misalignment_by_hand():
    # of six pairs the target did not know the last; the one before has no answer in text
    rows = outcome("10 10 01 00 1- 00", "11 11 11 11 11 01")
    own = [rows["forget", "cloze", kind] for kind in KINDS]
    assert [row["value"] for row in own] == [0.5, 0.25, 0.25, 0]
    assert {(row["n"], row["note"]) for row in own} == {(4, "1 of 5 questions have no answer in both modalities")}
    assert [row["value"] for row in outcome("11 11").values() if row["task"] == "cloze"] == [0, 0, 0, 1]


def test_misalignment_is_null_where_the_target_knew_no_pair():
    for rows in (outcome("00 11", "01 10"), outcome("00", "11", "retain")):
        assert {row["note"] for row in rows.values()} == {misalignment.NONE}
        assert all(math.isnan(row["value"]) and row["n"] == 0 for row in rows.values())


def test_abstentions_stand_beside_accuracy_and_do_not_change_it():
    refusal = "Das weiß ich leider nicht."  # no English rule knows it: it is taught
    frame = questions(*towns("forget", "classification"), *towns("forget"))
    told = said("forget", "classification") | said("forget")
    told["forget-a/town/classification"] = ("I don't know that about this person: Oslo", refusal)
    told["forget-a/town/cloze"] = (refusal, "Oslo")
    view = seen(frame, answered(told), refusals={"en": [refusal]})
    own = found(abstained, view)
    got = {(task, m): own["forget", task, m]["value"] for task in ("classification", "cloze")
           for m in ("abstained_mul", "abstained_uni")}  # fmt: skip
    assert got == pytest.approx({  # three answers about pictures, four in text
        ("classification", "abstained_mul"): 1 / 3, ("classification", "abstained_uni"): 1 / 4,
        ("cloze", "abstained_mul"): 1 / 3, ("cloze", "abstained_uni"): 0,
    })  # fmt: skip
    assert own["forget", "cloze", "abstained_mul"]["note"] == "1 of 4 questions have no answer"
    assert values(abstained, replace(view, refusals={}))["forget", "cloze", "abstained_mul"] == 0
    # the first refusal is most like "Oslo" by its end, so it is right: graded as any answer
    assert values(modality_accuracy, view)["forget", "classification", "acc_mul"] == pytest.approx(2 / 3)


def test_without_any_answer_every_row_is_null_with_a_reason():
    pairs, _ = described(*GROUPS)
    frame = questions(*pairs, *(p for g in GROUPS for task in ("classification", "cloze") for p in towns(g, task)))
    scores = score(seen(frame, Tables()), METRICS)
    assert scores["value"].isna().all() and scores["note"].notna().all() and (scores["n"] == 0).all()


# Random data: what comes out is what a plain reading of the paper gives.
def some(seed: int):
    """A random benchmark of 14 people: its items, what a run and a target answered, as a view."""
    rng = random.Random(seed)
    words = [*TOWNS, "Graz", "Turin", "Oslofjord"]
    pairs, run, target = [], {}, {}
    for i in range(14):
        group = GROUPS[i % 3]
        for field, task in (("town", "classification"), ("town", "cloze"), ("work", "cloze"), ("about", "generation")):
            if task == "classification":
                options = rng.sample(words, 4)
                pair = asked(group, f"p{i}", field, task, rng.choice(options), options)
            elif task == "cloze":
                pair = asked(group, f"p{i}", field, task, rng.choice(words))
            else:
                pair = asked(group, f"p{i}", field, task, " ".join(rng.choices(words, k=6)))
            pairs.append(pair)
            for told, wrong, gone in ((run, 0.5, 0.1), (target, 0.1, 0.05)):
                texts = []
                for _ in range(2):
                    text = pair[0]["reference"]
                    if task == "generation":
                        text = " ".join(w for w in text.split() if rng.random() > wrong)
                    elif rng.random() < wrong:
                        text = rng.choice([*words, "Kielo", "I do not know.", "", "No. " + text])
                    texts.append(None if rng.random() < gone else text)
                told[f"p{i}/{field}/{task}"] = tuple(texts)
    return seen(questions(*pairs), answered(run), answered(target)), pairs, run, target


def by_the_paper(pairs, run, target) -> dict[tuple, float]:
    """(group, task, metric) -> value, in plain Python."""

    def grade(item, text):
        if item["task"] == "classification":
            likeness = [indel(text.strip().casefold(), o.strip().casefold()) for o in item["options"]]
            return likeness.index(max(likeness)) == item["correct_option"]
        if item["task"] == "cloze":
            return item["value"].lower() in text.split(".")[0].lower()
        return indel(item["reference"].split(), text.split())

    def two(item, told):
        x, y = told[f"{item['knowledge_id']}/{item['task']}"]
        return None if x is None or y is None else (grade(item, x), grade(item, y))

    def scores(task, x, y):
        if task == "generation":
            w, h = ((x * x + y * y) / (x + y), 2 * x * y / (x + y)) if x + y else (0, 0)
            return {"mul": x, "uni": y, "f": w, "r": h}
        return {"mul": x, "uni": y, "all": x and y, "any": x or y, "f": (x + y + (x or y)) / 3,
                "r": (x + y + (x and y)) / 3}  # fmt: skip

    collected: dict[tuple, list] = {}
    for pair in pairs:
        item = pair[0]
        group, task = item["group"], item["task"]
        prefix, now, before = "rl" if task == "generation" else "acc", two(item, run), two(item, target)
        after = {} if now is None else scores(task, *now)
        for name, value in after.items():
            collected.setdefault((group, task, f"{prefix}_{name}"), []).append(value)
            if before is not None and name in ("mul", "uni", "f", "r"):
                lost = scores(task, *before)[name] - value
                collected.setdefault((group, task, f"delta_{name}"), []).append(lost)
        if group == "forget" and task != "generation" and now is not None and before == (True, True):
            for kind, outcome in zip(KINDS, ((1, 0), (0, 1), (0, 0), (1, 1)), strict=True):
                collected.setdefault((group, task, kind), []).append(now == outcome)
    return {key: sum(own) / len(own) for key, own in collected.items()}


@pytest.mark.parametrize("seed", range(4))
def test_random_answers_score_as_a_plain_reading_of_the_paper(seed):
    view, *told = some(seed)
    want = by_the_paper(*told)
    scores = score(view, METRICS).set_index(["group", "task", "metric"])["value"]
    keys = [k for k in scores.index if k[2].startswith(("acc", "rl_", "delta", "forgotten")) and scores.notna()[k]]
    assert len(keys) > 60
    assert {k: scores[k] for k in keys} == pytest.approx({k: want[k] for k in keys})
    six = [want[g, t, m] for g in ("retain", "real_people")
           for t, m in (("classification", "acc_r"), ("cloze", "acc_r"), ("generation", "rl_r"))]  # fmt: skip
    assert scores["all", "all", "utility_average"] == pytest.approx(sum(six) / 6)


def test_every_expected_row_comes_and_the_order_of_rows_changes_nothing():
    view, *_ = some(0)
    one = score(view, METRICS)
    keys = list(one[["group", "language", "task", "metric"]].itertuples(index=False, name=None))
    want = expected(METRICS, {}, GROUPS)
    assert len(set(want)) == len(want) and sorted(keys) == sorted(want)

    def mixed(tables: Tables) -> Tables:
        return Tables(answers=tables.answers.sample(frac=1, random_state=1))

    frame = view.items.sample(frac=1, random_state=2).reset_index(drop=True)
    pd.testing.assert_frame_equal(one, score(seen(frame, mixed(view.run), mixed(view.target)), METRICS))


def test_intervals_are_of_draws_of_knowledge_instances():
    frame = questions(*towns("forget"))
    view = seen(frame, answered(said("forget")), draws=500)
    row = found(modality_accuracy, view)["forget", "cloze", "acc_f"]
    counts_BN = np.concatenate(list(resample(4, bootstrap_seed(view, "forget"), 500)))[:, :3]  # d has no value
    with np.errstate(invalid="ignore"):
        drawn = counts_BN @ [1, 2 / 3, 2 / 3] / counts_BN.sum(axis=1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(interval(drawn, 3))


def test_a_tasks_draws_hold_what_it_asks_about_alone():
    """Two descriptions among eight instances: with all drawn together, one draw in ten would hold none of the two."""
    pairs = [asked("forget", p, f"field {i}", "cloze", "Oslo") for p in "ab" for i in range(3)]
    pairs += [asked("forget", p, "description", "generation", ONE) for p in "ab"]
    told = {"a/description/generation": (ONE, ONE), "b/description/generation": ("one two", "one two")}
    row = found(modality_rouge, seen(questions(*pairs), answered(told)))["forget", "generation", "rl_mul"]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((2 / 3, 1))


def test_without_the_attack_picture_use_is_null_and_says_so():
    view, *_ = some(0)
    rows = found(picture_use, view)
    assert {row["note"] for row in rows.values()} == {picture_use.NONE}
    assert all(math.isnan(row["value"]) for row in rows.values())
