"""Which candidate of a search becomes the method's model."""

import importlib.util
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from unlearning.criteria import mu2_retain_ps, muse_retain_knowmem, seps_h_avg
from unlearning.registry import available, declared
from unlearning.score.selection import Assessed, choose, number
from unlearning.tables.artifacts import read_table, sha256_file, write_table, write_text


def scores(retain, forget, language="train") -> pd.DataFrame:
    """Score rows of one model; a text in place of a number is the note of a null."""
    rows = [
        {"group": group, "language": language, "task": "all", "metric": "ps",
         "value": None if isinstance(value, str) else value, "note": value if isinstance(value, str) else None}
        for group, value in (("retain", retain), ("forget", forget))
    ]  # fmt: skip
    other = [{**rows[0], "language": "holdout", "value": 0.0}, {**rows[0], "metric": "se", "value": 0.0}]
    return pd.DataFrame([*other, *rows])


TARGET = scores(0.8, 0.9)


def chosen(*candidates, stopped=None):
    assessed = [mu2_retain_ps.assess(own, TARGET) for own in candidates]
    return choose(assessed, stopped or [None] * len(assessed))


def test_of_those_that_keep_ninety_per_cent_the_one_that_forgets_most_is_chosen():
    # 90 % of the target's 0.8 is 0.72: 0.75 and 0.73 keep it, 0.7 does not, though it forgets most
    verdicts = chosen(scores(0.75, 0.4), scores(0.73, 0.2), scores(0.7, 0.01))
    assert [v.chosen for v in verdicts] == [False, True, False]
    assert [v.eligible for v in verdicts] == [True, True, False]
    # 0.7 / 0.8 = 0.875
    assert verdicts[2].figures == {"retain PS": 0.7, "share of the target's": pytest.approx(0.875), "forget PS": 0.01}
    assert verdicts[2].note == "retain PS 0.7 is 87.50 % of the target's 0.8; at least 90 % are asked for"
    assert verdicts[0].note is verdicts[1].note is None


def test_exactly_ninety_per_cent_is_enough():
    half = scores(0.5, 0.9)
    assert mu2_retain_ps.assess(scores(0.45, 0.1), half).refused is None  # 0.9 · 0.5
    assert mu2_retain_ps.assess(scores(math.nextafter(0.45, 0), 0.1), half).refused


def test_where_none_is_eligible_the_highest_retain_score_is_chosen_and_that_is_said():
    verdicts = chosen(scores(0.3, 0.0), scores(0.6, 0.5), scores(0.1, 0.0))
    assert [v.chosen for v in verdicts] == [False, True, False] and not any(v.eligible for v in verdicts)
    assert "75.00 % of the target's" in verdicts[1].note
    assert verdicts[1].note.endswith("no candidate is eligible: this one stands for the method as the least far off")
    assert not verdicts[0].note.endswith("far off")


def test_of_equal_ones_the_first_is_chosen():
    assert [v.chosen for v in chosen(scores(0.75, 0.4), scores(0.8, 0.4))] == [True, False]


def test_a_stopped_candidate_is_not_eligible_whatever_its_scores():
    verdicts = chosen(scores(0.8, 0.0), scores(0.75, 0.4), stopped=["retain loss 9 at step 4", None])
    assert [v.chosen for v in verdicts] == [False, True]
    assert verdicts[0].note == "its training was stopped: retain loss 9 at step 4"
    stopped = chosen(scores(0.8, 0.0), scores(0.1, 0.4), stopped=["retain loss 9 at step 4", None])
    assert [v.chosen for v in stopped] == [False, True]  # nor as a last resort, while another ran to its end


def test_a_score_that_could_not_be_computed_makes_no_choice():
    verdicts = chosen(scores("no retain questions", 0.0), scores(0.75, "no forget questions"), scores(0.74, 0.3))
    assert [v.chosen for v in verdicts] == [False, False, True]
    assert verdicts[0].note == "retain PS is unknown: no retain questions"
    assert verdicts[0].figures == {"retain PS": None, "share of the target's": None, "forget PS": 0.0}
    assert verdicts[1].note == "forget PS is unknown: no forget questions"
    with pytest.raises(ValueError, match="no candidate can be chosen, nor ranked: retain PS is unknown: nothing asked"):
        chosen(scores("nothing asked", 0.0))
    unknown = mu2_retain_ps.assess(scores(0.8, 0.1), scores("nothing asked", 0.9))
    assert unknown.refused == "the target's retain PS is unknown: nothing asked"


def test_with_one_language_its_rows_count():
    found = mu2_retain_ps.assess(scores(0.75, 0.4, "all"), scores(0.8, 0.9, "all"))
    assert found.figures["retain PS"] == 0.75 and found.refused is None
    assert number(TARGET, "kps", "forget", "train").note == "kps was not scored on forget questions in train"


def test_a_target_that_knows_nothing_asks_for_nothing():
    found = mu2_retain_ps.assess(scores(0.0, 0.0), scores(0.0, 0.0))
    assert found.refused is None and found.figures["share of the target's"] is None


def of_all(**values) -> pd.DataFrame:
    """Score rows over all questions; a text in place of a number is the note of a null."""
    rows = [
        {"group": "all", "language": "all", "task": "all", "metric": name,
         "value": None if isinstance(value, str) else value, "note": value if isinstance(value, str) else None}
        for name, value in values.items()
    ]  # fmt: skip
    return pd.DataFrame([{**rows[0], "task": "rouge", "value": 0.99}, *rows])


def test_of_seps_candidates_the_one_with_the_highest_h_avg_is_chosen():
    told = [(0.7, 0.6, 0.02, 0.056), (0.5, 0.6, 0.3, 0.4286), (0.9, 0.9, 0.0, 0.0)]
    found = [seps_h_avg.assess(of_all(**dict(zip(("mu", "fe", "seps", "h_avg"), row, strict=True)))) for row in told]
    verdicts = choose(found, [None, None, None])
    assert [v.chosen for v in verdicts] == [False, True, False] and all(v.eligible for v in verdicts)
    assert verdicts[0].figures == {"MU": 0.7, "FE": 0.6, "SEPS": 0.02, "H-Avg": 0.056}
    assert [v.chosen for v in choose(found, [None, "loss 9 at step 4", None])] == [True, False, False]
    # an H-Avg of 0 is a number, one that is unknown is not
    unknown = seps_h_avg.assess(of_all(mu=0.9, fe=0.9, seps="not asked", h_avg="seps: not asked"))
    verdicts = choose([unknown, found[2]], [None, None])
    assert [v.chosen for v in verdicts] == [False, True]
    assert verdicts[0].note == "H-Avg is unknown: seps: not asked" and verdicts[0].figures["SEPS"] is None
    with pytest.raises(ValueError, match="nor ranked: H-Avg is unknown: seps: not asked"):
        choose([unknown], [None])


def knowmem(retain, forget, epoch=0) -> pd.DataFrame:
    rows = scores(retain, forget, "all")
    return rows.assign(metric=rows["metric"].replace("ps", "knowmem"), epoch=epoch)


def test_muse_stops_before_the_retain_knowmem_falls_under_the_retrained_models():
    retrained = knowmem(0.5, 0.2)

    def verdicts(*told):
        found = [muse_retain_knowmem.assess(knowmem(r, f, e), retrained) for e, (r, f) in told]
        return choose(found, [None] * len(found))

    # epochs 1 and 2 keep it (0.5 is not under 0.5), 3 does not, though it forgets most: 2, wherever it is listed
    told = verdicts((2, (0.5, 0.3)), (1, (0.55, 0.6)), (3, (0.49, 0.0)))
    assert [v.chosen for v in told] == [True, False, False] and [v.eligible for v in told] == [True, True, False]
    assert told[2].note == "retain KnowMem 0.49 is under the retrained model's 0.5"
    assert told[2].figures == {"retain KnowMem": 0.49, "the retrained model's": 0.5, "forget KnowMem": 0.0}
    # where all have fallen, the first to fall
    assert [v.chosen for v in verdicts((5, (0.0, 0.0)), (1, (0.1, 0.1)))] == [False, True]
    unknown = muse_retain_knowmem.assess(knowmem("no retain questions", 0.1, 1), retrained)
    assert unknown.refused == "retain KnowMem is unknown: no retain questions"
    with pytest.raises(ValueError, match="nor ranked"):
        choose([unknown], [None])


def test_every_criterion_declares_what_it_reads():
    assert "mu2_retain_ps" in available("criteria")
    for name in available("criteria"):
        read = [declared(f"unlearning.criteria.{name}", word) for word in ("METRICS", "AGAINST", "SAYS")]
        assert set(read[0]) <= set(available("metrics")) and set(read[1]) <= {"target", "retrain"} and read[2]


def test_the_rank_decides_before_the_last_resort():
    assessed = [Assessed({}, None, 2.0, 0.0), Assessed({}, None, 1.0, 9.0)]
    assert [c.chosen for c in choose(assessed, [None, None])] == [False, True]


IDENTITY = {"benchmark": "mu2", "base_model": "tiny", "setting": "s1", "split": "p1", "method": "npo_gd", "seed": 0}


def run_of(folder: Path, name: str, rows: pd.DataFrame, weight: bytes = b"", reason=None) -> dict[str, str]:
    """A trained and scored run on disk: its record, log and scores."""
    place = folder / name
    (place / "weights").mkdir(parents=True)
    (place / "weights/model.safetensors").write_bytes(weight)
    record = {
        "kind": "weights", "folder": "weights", "trained": {"collapsed": reason is not None, "reason": reason},
        "files": {"model.safetensors": sha256_file(place / "weights/model.safetensors")},
    }  # fmt: skip
    write_text(place / "model.json", json.dumps(record))
    step = {"step": len(weight), "epoch": 1.0, "learning_rate": 1e-4, "tokens": 9, "seconds": 0.1, "memory_mib": 1.0}
    write_table([step], place / "train_log.parquet", "train_log")
    scored = rows.assign(**{**IDENTITY, "method": name}, epoch=2, attack="none", n=4, ci_low=None, ci_high=None)
    write_table(scored, place / "scores.parquet", "scores")
    return {n: str(place / n) for n in ("model.json", "train_log.parquet", "scores.parquet")}


def test_the_script_links_the_chosen_model_and_keeps_the_whole_table(tmp_path):
    file = Path(__file__).parents[1] / "workflow/scripts/choose.py"
    spec = importlib.util.spec_from_file_location("script_choose", file)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    candidates = [
        run_of(tmp_path, "npo_gd~1", scores(0.75, 0.4), b"1"),
        run_of(tmp_path, "npo_gd~2", scores(0.75, 0.2), b"22"),
        run_of(tmp_path, "npo_gd~3", scores(0.75, 0.1), b"333", reason="retain loss 9 at step 4"),
    ]
    target, own = run_of(tmp_path, "target", TARGET), tmp_path / "npo_gd"
    script.choose(
        models=[c["model.json"] for c in candidates], logs=[c["train_log.parquet"] for c in candidates],
        scores=[c["scores.parquet"] for c in candidates], against=[target["scores.parquet"]],
        selection=str(own / "selection.parquet"), model=str(own / "model.json"), weights=str(own / "weights"),
        log=str(own / "train_log.parquet"), criterion="mu2_retain_ps", identity=IDENTITY,
        candidates=[{"changed": {"lr": lr}, "epochs": 2} for lr in (1e-4, 2e-4, 4e-4)],
    )  # fmt: skip
    chosen = tmp_path / "npo_gd~2"
    assert (own / "weights/model.safetensors").samefile(chosen / "weights/model.safetensors")
    assert (own / "model.json").read_bytes() == (chosen / "model.json").read_bytes()
    assert (own / "train_log.parquet").read_bytes() == (chosen / "train_log.parquet").read_bytes()
    table = read_table(own / "selection.parquet", "selection")
    assert [json.loads(text) for text in table["changed"]] == [{"lr": 1e-4}, {"lr": 2e-4}, {"lr": 4e-4}]
    assert list(table["candidate"]) == [1, 2, 3] and list(table["eligible"]) == [True, True, False]
    assert list(table["chosen"]) == [False, True, False]
    assert table["note"][2] == "its training was stopped: retain loss 9 at step 4" and pd.isna(table["note"][1])
    assert {f["name"]: f["value"] for f in table["figures"][1]}["forget PS"] == 0.2
    assert set(table["asks"]) == {mu2_retain_ps.SAYS} and set(table["method"]) == {"npo_gd"}
