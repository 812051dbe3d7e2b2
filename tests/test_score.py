"""The view, the grid of expected rows, and what `score` refuses."""

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from score_fakes import (
    LANGUAGES,
    answers,
    grid_items,
    items,
    likelihoods,
    spread_probability,
    verdicts,
    view,
)
from unlearning.metrics import ps
from unlearning.registry import available, declared
from unlearning.score import run as score_run
from unlearning.score.grid import expected
from unlearning.score.languages import Language, names, selections
from unlearning.score.run import score
from unlearning.score.view import Tables, View
from unlearning.tables.artifacts import check, to_table

MU2 = ["ps", "value_probability", "se", "privleak", "kss", "kps", "drop_rate", "code_mixing", "answer_language"]
MU2 += ["rouge_l", "general_knowledge"]
TOFU = ["probability", "truth_ratio", "model_utility", "forget_quality"]


def full_view(frame: pd.DataFrame, seed: int = 0, **more) -> View:
    """Three models that differ at random."""
    rng = np.random.default_rng(seed)

    def model() -> Tables:
        known = dict(zip(frame["item_id"], rng.random(len(frame)) < 0.5, strict=True))
        tokens = {i: list(-rng.random(4)) for i in known}
        masks = dict.fromkeys(known, [False, True, True, False])
        wrong = [likelihoods({i: list(-3 * rng.random(3)) for i in known}, f"perturbed_{k}") for k in range(3)]
        texts = dict(zip(known, frame["reference"].where(list(known.values()), "nothing at all"), strict=True))
        return Tables(
            answers(texts),
            pd.concat([likelihoods(tokens, masks=masks), *wrong]),
            verdicts({i: bool(k) for i, k in known.items()}),
        )

    run, target, retrain = (model() for _ in range(3))
    return view(frame, run, target, retrain=retrain, **more)


def everything() -> pd.DataFrame:
    ids = {"forget": ["a/x", "b/x", "c/x"], "retain": ["d/x", "e/x"], "nonmember": ["f/x", "g/x"]}
    return grid_items(ids | {"real_authors": ["h/x"], "world_facts": ["i/x"], "utility": ["j/x", "k/x"]})


def test_selections_stand_in_a_fixed_order_and_only_where_a_language_is():
    assert list(selections(LANGUAGES)) == [
        "en", "af", "es", "th", "train", "holdout", "all",
        "train:high", "train:low", "holdout:high", "holdout:low", "holdout:latin", "holdout:other",
    ]  # fmt: skip
    only = {code: LANGUAGES[code] for code in ("en", "es")}
    assert list(selections(only)) == [
        "en",
        "es",
        "train",
        "holdout",
        "all",
        "train:high",
        "holdout:high",
        "holdout:latin",
    ]


def test_one_language_has_nothing_to_tell_apart():
    one = {"en": Language("train", "high", "latin")}
    assert selections(one) == {"all": ("en",)}
    assert [names(kind, one) for kind in ("selections", "pairs", "partitions", "roles", "all")] == [["all"]] * 5


def test_spread_gives_instances_by_languages_and_nan_where_absent():
    frame = items(
        ("forget", "b", "es", "", None), ("forget", "a", "en", "", None), ("retain", "c", "en", "", None),
        ("forget", "b", "en", "", None),
    )  # fmt: skip
    probabilities = likelihoods({"b/es": [-1.0], "a/en": [-2.0], "b/en": [-3.0]})
    matrix = view(frame, Tables()).matrix(probabilities, "logprob", "forget", ("en", "es"))
    np.testing.assert_array_equal(matrix, [[-2, np.nan], [-3, -1]])


def test_samples_are_averaged_before_anything_else():
    frame = items(("forget", "a", "en", "", None))
    matrix = view(frame, Tables()).matrix(verdicts({"a/en": [True, False, True, True]}), "score", "forget", ("en",))
    assert matrix[0, 0] == 0.75


def test_an_item_nobody_knows_is_named():
    with pytest.raises(ValueError, match="'z/en'"):
        score(view(grid_items({"forget": ["a"]}), Tables(likelihoods=likelihoods({"z/en": [-1.0]}))), ["ps"])


def test_every_expected_row_comes_and_no_other():
    frame = everything()
    full = full_view(frame)
    scores = score(full, MU2 + TOFU)
    found = set(scores[["group", "language", "task", "metric"]].itertuples(index=False, name=None))
    keys = expected(MU2 + TOFU, LANGUAGES, full.groups)
    assert len(keys) == len(set(keys)) == len(scores)
    assert found == set(keys)


def test_rows_are_all_there_when_nothing_was_computed():
    frame = grid_items({"forget": ["a/x"]})
    bare = view(frame, Tables())
    scores = score(bare, MU2 + TOFU)
    assert set(scores[["group", "language", "task", "metric"]].itertuples(index=False, name=None)) == set(
        expected(MU2 + TOFU, LANGUAGES, bare.groups)
    )
    assert scores["value"].isna().all() and scores["note"].str.len().gt(3).all()


def test_rows_are_all_there_without_any_item():
    scores = score(view(grid_items({}), Tables(), languages={}), MU2 + TOFU)
    assert scores["value"].isna().all() and scores["note"].notna().all()


def test_scores_fit_their_table():
    run = {"benchmark": "mu2", "base_model": "b", "setting": "s", "split": "p", "method": "m"}
    scores = score(full_view(everything()), MU2 + TOFU).assign(**run, seed=0, epoch=1, attack="none")
    check(to_table(scores, "scores"), "scores")


def test_the_order_of_rows_changes_nothing():
    frame = everything()
    one = full_view(frame)

    def shuffled(tables: Tables) -> Tables:
        parts = (tables.answers, tables.likelihoods, tables.verdicts)
        return Tables(*(part.sample(frac=1, random_state=3).reset_index(drop=True) for part in parts))

    other = View(
        frame.sample(frac=1, random_state=4).reset_index(drop=True), shuffled(one.run), shuffled(one.target),
        shuffled(one.retrain), one.languages, one.values, one.seed, one.draws,
    )  # fmt: skip
    pd.testing.assert_frame_equal(score(one, MU2 + TOFU), score(other, MU2 + TOFU))


def test_the_seed_moves_intervals_and_nothing_else():
    frame = everything()
    model = Tables(likelihoods=spread_probability(frame, lambda row: 0.1 + 0.2 * (ord(row.knowledge_id[0]) - 97) / 10))
    first, second = (score(view(frame, model, seed=s), ["ps"]) for s in (1, 2))
    pd.testing.assert_series_equal(first["value"], second["value"])
    assert not first["ci_low"].equals(second["ci_low"])


def test_unknown_and_repeated_metrics_are_refused():
    bare = view(grid_items({"forget": ["a/x"]}), Tables())
    with pytest.raises(ValueError, match="unknown metric 'pss'; metrics are abstained, accuracy, answer_language"):
        score(bare, ["pss"])
    with pytest.raises(ValueError, match="named twice"):
        score(bare, ["ps", "ps"])


def fake_metric(monkeypatch, rows: list[dict]):
    fake = types.SimpleNamespace(score=lambda view: rows)
    monkeypatch.setattr(score_run.importlib, "import_module", lambda name: fake)


def test_two_rows_of_one_key_are_refused(monkeypatch):
    one = ps.score(view(grid_items({"forget": ["a/x"]}), Tables()))[0]
    fake_metric(monkeypatch, [one, one])
    with pytest.raises(ValueError, match="two rows of one key"):
        score(None, ["ps"])


def test_numbers_that_are_none_become_null_with_a_reason(monkeypatch):
    one = ps.score(view(grid_items({"forget": ["a/x"]}), Tables()))[0]
    fake_metric(monkeypatch, [{**one, "value": float("inf"), "note": None}])
    found = score(None, ["ps"]).iloc[0]
    assert np.isnan(found["value"]) and found["note"] == "the value is infinite"
    fake_metric(monkeypatch, [{**one, "value": float("nan"), "note": None}])
    with pytest.raises(AssertionError, match="null without a reason"):
        score(None, ["ps"])


def test_every_metric_declares_what_it_needs_and_gives():
    for name in available("metrics"):
        module = f"unlearning.metrics.{name}"
        assert declared(module, "NEEDS") and declared(module, "ROWS")
    with pytest.raises(ValueError, match="no 'nope' in unlearning.metrics; there are: .*kps"):
        declared("unlearning.metrics.nope", "ROWS")


def test_scoring_imports_no_torch():
    program = """
import importlib, sys
from test_score import MU2, TOFU, everything, full_view
from unlearning.registry import available
from unlearning.score.run import score
import unlearning.judges.rule
heavy = {"sklearn", "scipy", "rouge_score", "nltk", "py3langid", "matplotlib"} & set(sys.modules)
for name in available("metrics"):
    importlib.import_module(f"unlearning.metrics.{name}")
assert not heavy and not {"scipy", "sklearn", "rouge_score", "py3langid"} & set(sys.modules), heavy
score(full_view(everything()), MU2 + TOFU)
print(sorted({"torch", "transformers", "datasets", "snakemake"} & set(sys.modules)))
"""
    here = Path(__file__).parent
    path = f"{here}:{here.parent / 'workflow'}"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr
