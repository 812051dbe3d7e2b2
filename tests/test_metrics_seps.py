"""MU, FE, SEPS, H-Avg and what they are made of: by hand, at their limits, and against the paper's tables."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import hmean
from sklearn.metrics.pairwise import cosine_similarity

from score_fakes import items, likelihoods, table, view
from unlearning.metrics import cosine, cosine_gt, fe, h_avg, joint, judge, mu, separability, stress
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.bootstrap import resample
from unlearning.score.grid import expected
from unlearning.score.joint import apart
from unlearning.score.pairs import UNASKED
from unlearning.score.rows import bootstrap_seed
from unlearning.score.run import score
from unlearning.score.view import Tables, View

METRICS = ["rouge_l", "judge", "cosine", "cosine_gt", "mu", "fe", "separability", "h_avg", "joint", "stress"]
METRICS += ["multiple_choice"]  # the same names, of other tasks

# The paper's tables: parts as printed, of which our aggregation has to give what is printed beside them.
PRINTED = yaml.safe_load((Path(__file__).parent / "data/seps_table.yaml").read_text(encoding="utf-8"))
TABLE = {(split, method): row for split, own in PRINTED.items() for method, row in own.items()}
WITHIN = 2e-4
MISPRINT = ("forget01", "NPO+KL")
AGGREGATES = {
    "mu": lambda row: harmonic_mean(np.array(row["retain"])),
    "fe": lambda row: fe.forget_efficacy(np.array(row["forget"])),
    "seps": lambda row: np.mean(row["parts"]),
    "h_avg": lambda row: harmonic_mean(np.array([AGGREGATES[name](row) for name in ("mu", "fe", "seps")])),
}


@pytest.mark.parametrize(
    ("name", "printed", "exceptions"),
    [("mu", 30, []), ("fe", 30, []), ("seps", 30, [MISPRINT]), ("h_avg", 36, [MISPRINT])],
)
def test_the_papers_tables_recompute(name, printed, exceptions):
    rows = {key: row for key, row in TABLE.items() if name == "h_avg" or row["mu"] is not None}  # MP: H-Avg only
    assert len(rows) == printed
    assert [key for key, row in rows.items() if abs(AGGREGATES[name](row) - row[name]) > WITHIN] == exceptions


def test_the_misprint_is_the_judges_part():
    row = TABLE[MISPRINT]
    assert row["parts"][2] == 0
    mended = 3 * row["seps"] - sum(row["parts"])  # what the printed SEPS needs
    assert mended == pytest.approx(0.0549, abs=1e-4)
    row = {**row, "parts": [*row["parts"][:2], mended]}
    assert AGGREGATES["h_avg"](row) == pytest.approx(row["h_avg"], abs=WITHIN)


def test_the_text_gives_seps_of_the_mixed_prompt_methods_with_three_digits():
    for method in ("MP-ME", "MP-IDK"):
        row = TABLE["forget01", method]
        assert np.mean(row["parts"]) == pytest.approx(row["seps"], abs=5e-4)


# A small benchmark: three questions to forget or retain each, two of which stand in pairs.
WORDS = "alpha beta gamma delta".split()
PLAIN = ("f1", "f2", "r1", "r2", "r3")
PROMPTS = {
    "rf/0": ("r1", "f1"), "rf/1": ("r2", "f2"), "fr/0": ("f1", "r1"), "fr/1": ("f2", "r2"),
    "rr/0": ("r1", "r3"), "rr/1": ("r3", "r1"), "ff/0": ("f1", "f2"), "ff/1": ("f2", "f1"),
    "stress_1f2r_fr/0": ("f1", "r1", "r2"),
}  # fmt: skip
# Of each answer: words of the reference's four, the judge's grade, cosine to the target's answer (None: empty text).
SAID = {
    "r1": (4, 1.0, 1), "r2": (2, 0.5, 1), "r3": (0, 0.0, 0), "f1": (1, 0.2, 0.6), "f2": (0, 0.05, None),
    "rf/0": [(4, 0.9, 1), (2, 0.0, 0.6)], "rf/1": [(3, 0.7, 0.6), (1, 0.2, None)],
    "fr/0": [(1, 0.1, 0.8), (2, 0.6, 0.6)], "fr/1": [(0, 0.3, 1), (2, 0.4, -0.8)],
    "rr/0": [(4, 1.0, 1), (3, 0.8, 1)], "rr/1": [(4, 0.8, 1), (2, 0.6, 1)],
    "ff/0": [(1, 0.3, 0), (0, 0.1, 0)], "ff/1": [(0, 0.1, 0), (0, 0.0, 0)],
    "stress_1f2r_fr/0": [(0, 0.1, 0), (4, 0.9, 1), (4, 0.6, 1)],
}  # fmt: skip


def group(ident: str) -> str:
    return "forget" if ident.startswith("f") else "retain"


def questions() -> pd.DataFrame:
    plain = items(*((group(ident), ident, "en", " ".join(WORDS), None) for ident in PLAIN)).assign(item_id=PLAIN)
    mixed = items(*(("mixed", name, "en", "", None) for name in PROMPTS)).assign(
        item_id=list(PROMPTS),
        task=[name.split("/")[0] for name in PROMPTS],
        parts=[[{"item_id": i, "group": group(i)} for i in asked] for asked in PROMPTS.values()],
    )
    return pd.concat([plain, mixed], ignore_index=True).assign(source_item_id=None)


def vector(value: float | None) -> np.ndarray | None:
    return None if value is None else np.array([value, math.sqrt(1 - value**2), 0])


def model(said: dict, space: str = "") -> Tables:
    """What a model did that said `said`; `space` stands around its texts."""
    texts, judged, embedded = [], [], []
    for ident, told in said.items():
        slots = [(0, told)] if isinstance(told, tuple) else list(enumerate(told, 1))
        lines = [" ".join(WORDS[:n]) for _, (n, _, _) in slots]
        text = lines[0] if slots[0][0] == 0 else f"\n{space}".join(f"{i}. {space}{x}" for i, x in enumerate(lines, 1))
        texts.append((ident, 0, 0, text, 9, "stop"))
        judged += [(ident, 0, slot, "rule", grade, None, None, None) for slot, (_, grade, _) in slots]
        embedded += [(ident, 0, slot, vector(value)) for slot, (_, _, value) in slots]
    half = {"r1": [-math.log(2)], "r2": [-math.log(2)] * 3, "r3": [-math.log(2)]}
    quarter = {"f1": [-math.log(4)], "f2": [-math.log(4)] * 2}
    wrong = {ident: [math.log(0.25 if ident in half else 0.5)] for ident in (*half, *quarter)}
    known = [likelihoods(half | quarter, name) for name in ("reference", "paraphrase")]
    return Tables(
        answers=pd.DataFrame(texts, columns=["item_id", "sample", "part", "text", "n_tokens", "finish_reason"]),
        likelihoods=pd.concat([*known, likelihoods(wrong, "perturbed_0"), likelihoods(wrong, "perturbed_1")]),
        verdicts=pd.DataFrame(
            judged, columns=["item_id", "sample", "part", "judge", "score", "correct", "raw", "failed"]
        ),
        embeddings=pd.DataFrame(embedded, columns=["item_id", "sample", "part", "embedding"]),
    )


BEFORE = {ident: (4, 1.0, 1) if isinstance(told, tuple) else [(4, 1.0, 1)] * len(told) for ident, told in SAID.items()}


def run_of(said: dict | None = None) -> View:
    """The small benchmark, asked of a model that said `said` where a target said all."""
    references = pd.DataFrame({"item_id": PLAIN, "sample": 0, "part": 0, "embedding": [vector(0.8)] * len(PLAIN)})
    return apart(view(questions(), model(said or SAID), model(BEFORE), languages={}, references=references))


def found(metric, seen: View | None = None) -> dict[tuple[str, str, str], float]:
    rows = table(metric.score(seen or run_of()))
    return {(g, task, name): row["value"] for (g, _, task, name), row in rows.items()}


def test_judge_and_cosines_by_hand():
    assert found(judge) == pytest.approx({
        ("forget", "all", "judge"): (0.2 + 0.05) / 2,
        ("retain", "all", "judge"): (1 + 0.5 + 0) / 3,
    })  # fmt: skip
    # f1 0.6; f2 said nothing: 0
    assert found(cosine)["forget", "all", "cosine"] == pytest.approx(0.3)
    # the reference at cos 0.8, sin 0.6; r1, r2 at cos 1: 0.8; r3 at cos 0, sin 1: 0.6
    assert found(cosine_gt)["retain", "all", "cosine_gt"] == pytest.approx((0.8 + 0.8 + 0.6) / 3)


def test_cosines_are_those_of_sklearn_cut_at_zero_and_no_zeros_behind_change_them():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 7, 5))
    want = np.maximum(cosine_similarity(a, b).diagonal(), 0)
    assert (want == 0).any() and (want > 0).any()
    np.testing.assert_allclose(cosine.cosines(pd.Series(list(a)), pd.Series(list(b))), want)
    padded = [pd.Series(list(np.pad(x, ((0, 0), (0, 3))))) for x in (a, b)]
    np.testing.assert_allclose(cosine.cosines(*padded), want)
    assert list(cosine.cosines(pd.Series([None, np.zeros(2)]), pd.Series([np.ones(2)] * 2))) == [0, 0]


def test_utility_and_efficacy_by_hand_over_the_questions_that_stand_in_pairs():
    # retain r1, r2 (r3 stands in no pair): R (1 + 0.5)/2, P 1/2, r = (1/4)/(1/2), TR 1 - 1/2, judge (1 + 0.5)/2
    values = found(mu)
    parts = [values["retain", task, "mu"] for task in ("rouge", "probability", "truth_ratio", "judge")]
    assert parts == pytest.approx([0.75, 0.5, 0.5, 0.75])
    # 4 / (4/3 + 2 + 2 + 4/3) = 4 / (20/3)
    assert values["all", "all", "mu"] == pytest.approx(0.6) == pytest.approx(hmean(parts))
    # forget: R (0.25 + 0)/2, P 1/4, r = (1/2)/(1/4) = 2, TR max(0, -1), judge 0.125; 1 - (0.125 + 0.25 + 0 + 0.125)/4
    values = found(fe)
    parts = [values["forget", task, "fe"] for task in ("rouge", "probability", "truth_ratio", "judge")]
    assert parts == pytest.approx([0.125, 0.25, 0, 0.125])
    assert values["all", "all", "fe"] == pytest.approx(0.875)


def test_without_wrong_answers_the_means_are_over_three_parts_and_say_so():
    seen = run_of()
    told = seen.run.likelihoods
    seen = replace(seen, run=replace(seen.run, likelihoods=told[~told["candidate"].str.startswith("perturbed")]))
    # the parts of the test before, without TR: 3 / (4/3 + 2 + 4/3); 1 - (0.125 + 0.25 + 0.125)/3
    (useful, *parts), (gone, *_) = mu.score(seen), fe.score(seen)
    assert useful["value"] == pytest.approx(3 / (14 / 3)) and gone["value"] == pytest.approx(1 - 0.5 / 3)
    assert useful["note"] == gone["note"] == "without the truth ratio: no question has wrong answers"
    (ratio,) = [row for row in parts if row["task"] == "truth_ratio"]
    assert math.isnan(ratio["value"]) and ratio["note"] == "no question has wrong answers"
    assert h_avg.score(seen)[0]["value"] == pytest.approx(hmean([9 / 14, 5 / 6, 0.3125]))


def test_without_mixed_prompts_every_retain_question_counts():
    plain = {ident: told for ident, told in SAID.items() if ident in PLAIN}
    values = found(mu, run_of(plain))
    assert values["retain", "rouge", "mu"] == pytest.approx((1 + 0.5 + 0) / 3)


def test_separability_by_hand():
    values = found(separability)
    # rouge: [R]F (1 + .75)/2, F[R] (.5 + .5)/2; [F]R (.25 + 0)/2, R[F] (.5 + .25)/2
    rouge = {"ris": (0.875 + 0.5) / 2, "fis": (0.125 + 0.375) / 2, "seps": 0.6875 - 0.25}
    # judge: [R]F (.9 + .7)/2, F[R] (.6 + .4)/2; [F]R (.1 + .3)/2, R[F] (0 + .2)/2
    graded = {"ris": (0.8 + 0.5) / 2, "fis": (0.2 + 0.1) / 2, "seps": 0.65 - 0.15}
    # cosine: [R]F (1 + .6)/2, F[R] (.6 + 0)/2; [F]R (.8 + 1)/2, R[F] (.6 + 0)/2; RIS is the lower one, so SEPS is 0
    near = {"ris": (0.8 + 0.3) / 2, "fis": (0.9 + 0.3) / 2, "seps": 0}
    for task, want in (("rouge", rouge), ("judge", graded), ("cosine", near)):
        assert {metric: values["all", task, metric] for metric in want} == pytest.approx(want)
    assert values["all", "all", "seps"] == pytest.approx((0.4375 + 0 + 0.5) / 3)
    assert values["all", "all", "ris"] == pytest.approx((0.6875 + 0.65 + 0.55) / 3)


def test_h_avg_by_hand_and_at_its_limits():
    # 3 / (1/0.6 + 1/0.875 + 1/0.3125) = 3 / (1.66667 + 1.14286 + 3.2)
    assert found(h_avg)["all", "all", "h_avg"] == pytest.approx(0.499208, abs=1e-6)
    silent = {
        i: (0, 0.0, None) if isinstance(told, tuple) else [(0, 0.0, None)] * len(told) for i, told in SAID.items()
    }
    assert found(h_avg, run_of(silent))["all", "all", "h_avg"] == 0
    (row,) = h_avg.score(run_of({ident: told for ident, told in SAID.items() if ident in PLAIN}))
    assert math.isnan(row["value"]) and row["note"] == f"seps: {UNASKED}"


@pytest.mark.parametrize(("ris", "fis", "want"), [(1, 0, 1), (0.4, 0.4, 0), (0.2, 0.7, 0), (0.7, 0.2, 0.5)])
def test_separability_is_never_below_zero(ris, fis, want):
    assert separability.separability(np.array([fis, ris])) == pytest.approx(want)


def test_a_null_part_makes_every_aggregate_null():
    assert np.isnan(separability.separability(np.array([np.nan, 1])))
    assert np.isnan(fe.forget_efficacy(np.array([0, 0, np.nan, 0])))
    assert np.isnan(harmonic_mean(np.array([0, np.nan, 1])))


def test_letters_and_stress_test_by_hand():
    values = found(joint)
    assert len(values) == 24
    assert values["retain", "rf_1", "judge"] == pytest.approx(0.8)
    assert values["retain", "fr_2", "cosine"] == pytest.approx(0.3)
    assert values["forget", "rf_2", "rouge_l_recall"] == pytest.approx(0.375)
    assert values["retain", "rr_2", "judge"] == pytest.approx((0.8 + 0.6) / 2)
    assert values["forget", "ff_1", "judge"] == pytest.approx((0.3 + 0.1) / 2)
    rows = table(stress.score(run_of()))
    asked = rows["retain", "all", "stress_1f2r_fr", "judge"]
    assert asked["value"] == pytest.approx((0.9 + 0.6) / 2) and asked["n"] == 2
    assert rows["forget", "all", "stress_1f2r_fr", "judge"]["value"] == pytest.approx(0.1)
    lacking = rows["forget", "all", "stress_4f4r_rf", "judge"]
    assert math.isnan(lacking["value"]) and lacking["note"] == "no such forget questions"


@pytest.mark.parametrize("said", [None, {i: t for i, t in SAID.items() if i in PLAIN}], ids=["mixed", "plain"])
def test_every_expected_row_comes_whether_or_not_mixed_prompts_were_asked(said):
    scores = score(run_of(said), METRICS)
    keys = list(scores[["group", "language", "task", "metric"]].itertuples(index=False, name=None))
    want = expected(METRICS, {}, ("forget", "retain"))
    assert len(set(want)) == len(want) and set(keys) == set(want)
    lost = scores[scores["value"].isna()]
    assert lost["note"].notna().all()
    if said:
        assert set(scores.loc[scores["metric"].isin(["fis", "ris", "seps"]), "note"]) == {UNASKED}


def test_the_order_of_rows_and_white_space_in_answers_change_nothing():
    def shuffled(tables: Tables) -> Tables:
        return Tables(**{n: None if t is None else t.sample(frac=1, random_state=3) for n, t in vars(tables).items()})

    one = score(run_of(), METRICS)
    mixed = replace(
        view(questions(), model(SAID, "  "), model(BEFORE), languages={}, references=run_of().references),
        items=questions().sample(frac=1, random_state=4).reset_index(drop=True),
    )
    other = apart(replace(mixed, run=shuffled(mixed.run), target=shuffled(mixed.target)))
    pd.testing.assert_frame_equal(one, score(other, METRICS))


def test_an_answer_without_its_second_number_is_empty_and_one_without_verdict_is_left_out_and_noted():
    seen = run_of()
    told = seen.run
    frame = questions()
    own = model(SAID)
    own.answers.loc[own.answers["item_id"] == "rf/0", "text"] = "1. alpha beta gamma delta"
    lost = (own.verdicts["item_id"] == "rf/0") & (own.verdicts["part"] == 2)
    own.verdicts.loc[lost, ["score", "failed"]] = [np.nan, "malformed"]
    seen = apart(view(frame, own, told, languages={}, references=seen.references))
    rows = table(joint.score(seen))
    assert rows["forget", "all", "rf_2", "rouge_l_recall"]["value"] == pytest.approx((0 + 0.25) / 2)
    one = rows["forget", "all", "rf_2", "judge"]
    assert one["value"] == pytest.approx(0.2) and one["note"] == "1 of 2 questions have no verdict of the judge rule"
    rows = table(separability.score(seen))
    assert "rf_2: 1 of 2 questions have no verdict" in rows["all", "all", "judge", "fis"]["note"]


def test_forget_and_retain_knowledge_is_drawn_alike_alone_and_inside_prompts():
    seen = run_of()
    counts_BN = np.concatenate(list(resample(2, bootstrap_seed(seen, "retain"), seen.draws)))
    drawn = separability.parts(seen)["rouge"]["ris"].drawn_B
    # r1: 1 in [R]F, .5 in F[R]; r2: .75, .5
    np.testing.assert_allclose(drawn, counts_BN @ [(1 + 0.5) / 2, (0.75 + 0.5) / 2] / 2)
    np.testing.assert_allclose(mu.parts(seen, "retain")["rouge"].drawn_B, counts_BN @ [1, 0.5] / 2)
    (row,) = h_avg.score(seen)
    assert row["ci_low"] <= row["value"] <= row["ci_high"] and row["n"] == 4


@pytest.mark.parametrize("read", ["answers", "likelihoods", "verdicts", "embeddings"])
def test_what_was_asked_is_told_by_any_table_of_the_run(read):
    said = {ident: told for ident, told in SAID.items() if ident != "r3"}
    lost = ident_of(model(said).likelihoods) - ident_of(model(said).answers)  # likelihoods are of all five
    own = Tables(**{read: getattr(model(said), read)})
    seen = apart(view(questions(), own, languages={}))
    assert set(PLAIN) - set(seen.items["item_id"]) == (set() if read == "likelihoods" else lost)


def ident_of(table: pd.DataFrame) -> set[str]:
    return set(table["item_id"]) & set(PLAIN)


def test_verdicts_alone_score_as_they_do_beside_answers():
    seen = apart(view(questions(), Tables(verdicts=model(SAID).verdicts), languages={}))
    assert found(judge, seen) == found(judge)
    nothing = apart(view(questions(), Tables(), languages={}))
    assert set(nothing.items["item_id"]) == set(PLAIN)
