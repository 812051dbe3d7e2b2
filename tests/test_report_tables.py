"""Tables of the report: cells worked by hand, which is best, what a null looks like, three formats."""

import csv
import io

import pandas as pd
import pytest

from report_fakes import SETTING, identity, mu2_rows, row, tofu_rows
from unlearning.report import tables, write
from unlearning.report.assemble import tables_of
from unlearning.report.kinds import EACH, Column, Spec
from unlearning.report.specs import DIRECTIONS, MU2_TABLES, TABLES, direction

PANEL = {"benchmark": "mu2", "base_model": "small", "setting": "s1", "split": "p5"}
PS = Column("PS", "ps", "forget", "train")


def means(rows: list[dict], collapsed: tuple[str, ...] = ()) -> pd.DataFrame:
    frame = pd.DataFrame(rows).assign(artifact="a")
    frame = frame.astype({"value": float, "ci_low": float, "ci_high": float})
    frame["collapsed"] = frame["method"].isin(collapsed)
    return tables.averaged(tables.with_changes(tables.last_epochs(frame)))


def built(rows, columns=(PS,), collapsed=(), attacks=False) -> tables.Table:
    return tables.build(Spec("t", "T", "c.", tuple(columns), attacks), PANEL, means(rows, collapsed), SETTING)


def ps(method: str, value, seed=0, note=None, attack="none", epoch=3, width=0.04) -> dict:
    return row(identity(method=method, seed=seed, attack=attack, epoch=epoch), "ps", value, "forget", "train",
               note=note, width=width)  # fmt: skip


def test_seeds_are_averaged_by_hand():
    # values 0.10 and 0.20: mean 0.15; bounds (0.06, 0.14) and (0.16, 0.24): means 0.11 and 0.19;
    # standard deviation of two values 0.1 apart: 0.1/sqrt(2) = 0.070711
    cell = built([ps("ga", 0.1), ps("ga", 0.2, seed=1)]).rows[0].cells[0]
    assert (cell.value, cell.low, cell.high) == pytest.approx((0.15, 0.11, 0.19))
    assert cell.spread == pytest.approx(0.070711, abs=1e-6)
    assert cell.seeds == 2 and cell.note is None


def test_a_null_seed_is_left_out_and_said_so():
    cell = built([ps("ga", 0.1), ps("ga", None, seed=1, note="no answers")]).rows[0].cells[0]
    assert cell.value == pytest.approx(0.1)
    assert cell.note == "1 of 2 seeds have a value: no answers"


def test_only_the_last_epoch_counts():
    assert built([ps("ga", 0.9, epoch=0), ps("ga", 0.3, epoch=2)]).rows[0].cells[0].value == pytest.approx(0.3)


def test_a_missing_row_is_a_dash_and_a_missing_optional_row_is_blank():
    rows = [ps("ga", 0.1), row(identity(method="npo"), "se", 0.2, "forget", "train")]
    table = built(rows, (PS, Column("SE", "se", "forget", "train", optional=True)))
    ga, npo = table.rows
    assert npo.cells[0].note == "no such row in the scores" and write.value_text(npo.cells[0], "ps") == "–"
    assert ga.cells[1].note is None and write.value_text(ga.cells[1], "se") == ""


@pytest.mark.parametrize(("way", "best"), [("lower", {1}), ("higher", {0}), ("zero", {2}), ("none", set())])
def test_best_follows_the_direction(way, best):
    assert tables.best_of([3.0, -2.0, 0.5, None], way) == best


def test_equal_values_are_all_best_and_a_single_one_is_not():
    assert tables.best_of([0.1, 0.1, 0.2], "lower") == {0, 1}
    assert tables.best_of([None, 0.1], "lower") == set()


def test_references_are_never_best_and_stand_first():
    table = built([ps("retrain", 0.0), ps("npo", 0.2), ps("target", 1.0), ps("ga", 0.1)])
    assert [(r.method, r.cells[0].best) for r in table.rows] == [
        ("target", False), ("retrain", False), ("ga", True), ("npo", False),
    ]  # fmt: skip


def test_the_same_metric_is_better_low_on_forget_and_high_on_retain():
    rows = [
        row(identity(method=m), "ps", v, g, "train")
        for m, v in (("ga", 0.1), ("npo", 0.9))
        for g in ("forget", "retain")
    ]
    table = built(rows, (PS, PS._replace(group="retain")))
    assert [[c.best for c in r.cells] for r in table.rows] == [[True, False], [False, True]]


def test_privleak_is_best_near_zero():
    rows = [
        row(identity(method=m), "privleak", v, "forget", "train") for m, v in (("a", -30.0), ("b", 12.0), ("c", -4.0))
    ]
    table = built(rows, (Column("P", "privleak", "forget", "train"),))
    assert [r.cells[0].best for r in table.rows] == [False, False, True]


def test_every_direction_is_one_of_four_and_every_shown_metric_is_declared():
    assert {way for ways in DIRECTIONS.values() for way in ways.values()} <= {"lower", "higher", "zero", "none"}
    shown = {c.metric for specs in TABLES.values() for spec in specs for c in spec.columns}
    undeclared = {m for m in shown if not m.endswith("_change") and m not in DIRECTIONS}
    assert undeclared == {"answer_language", "mia_auc"}  # shares of languages; 0.5 is best
    assert direction("ps_change", "forget") == "none"


def test_change_is_the_attacked_value_minus_the_plain_one():
    # 0.30 - 0.10 = 0.20 under quantize; probab has no value, so no change either, for the same reason
    rows = [
        ps("ga", 0.1),
        ps("ga", 0.3, attack="quantize"),
        ps("ga", None, attack="probab", note="no answers"),
        ps("npo", 0.4),
    ]
    table = built(rows, (PS, Column("change", "ps_change", "forget", "train", optional=True)), attacks=True)
    assert [(r.method, r.attack) for r in table.rows] == [("ga", "none"), ("ga", "probab"), ("ga", "quantize")]
    assert table.rows[2].cells[1].value == pytest.approx(0.2)
    assert table.rows[1].cells[1].value is None and table.rows[1].cells[1].note == "no answers"
    assert table.rows[0].cells[1] == tables.Cell(None)


def test_an_attacked_run_without_its_plain_one_has_no_change():
    table = built([ps("ga", 0.3, attack="quantize")], (Column("change", "ps_change", "forget", "train"),), attacks=True)
    assert table.rows[0].cells[0].note == "not scored without the attack"


def test_best_is_compared_under_the_same_attack():
    rows = [ps("ga", 0.1), ps("npo", 0.2), ps("ga", 0.5, attack="q"), ps("npo", 0.4, attack="q")]
    table = built(rows, attacks=True)
    assert {(r.method, r.attack) for r in table.rows if r.cells[0].best} == {("ga", "none"), ("npo", "q")}


def test_no_attack_gives_no_attack_table():
    assert built([ps("ga", 0.1)], attacks=True) is None


def test_languages_stand_in_the_settings_order_under_their_role():
    rows = [
        row(identity(method="ga"), "ps", 0.1, "forget", code)
        for code in ("mk", "af", "en", "train", "holdout:low", "es")
    ]
    table = built(rows, (Column("{language}", "ps", "forget", EACH),))
    assert [(c.label, c.head) for c in table.columns] == [
        ("en", "Training languages"), ("af", "Training languages"),
        ("es", "Hold-out languages"), ("mk", "Hold-out languages"),
    ]  # fmt: skip


def test_a_target_shared_by_all_splits_joins_every_split():
    target = [{**r, "split": "all"} for r in [ps("target", 1.0)]]
    found = tables.panels(means([*target, ps("ga", 0.1), {**ps("ga", 0.2), "split": "p1"}]))
    assert [(p["split"], sorted(rows["method"])) for p, rows in found] == [
        ("p1", ["ga", "target"]),
        ("p5", ["ga", "target"]),
    ]


def test_the_mu2_table_has_training_left_and_holdout_right():
    table = tables.build(MU2_TABLES[0], PANEL, means(mu2_rows(identity())), SETTING)
    shown = [c for _, c in write.shown(table)]
    assert write.headings(shown) == [("Training languages", 9), ("Hold-out languages", 9), ("", 1)]
    assert [c.metric for c in shown[:9]] == [
        "ps", "se", "kss_prob_roc_ratio", "kss_prob_pr_ratio", "kss_gen_roc_ratio", "kss_gen_pr_ratio", "privleak",
        "kps", "ps",
    ]  # fmt: skip
    assert "kss_gen_pr.forget.train" in write.to_csv(table) and "raw" not in {c.label for c in shown}


def test_the_tofu_tables_show_the_nine_parts_and_each_group():
    run = identity("tofu", "npo_gd", setting="default", split="forget01")
    panel = {**PANEL, "benchmark": "tofu", "setting": "default", "split": "forget01"}
    results, parts = tables_of(panel, means(tofu_rows(run)), {})
    assert len(parts.columns) == 10 and parts.columns[1].task == "retain:probability"
    assert [c.group for c in results.columns if c.head == "Truth ratio"] == [
        "forget",
        "retain",
        "real_authors",
        "world_facts",
    ]


def test_an_unknown_benchmark_gets_one_table_of_everything():
    run = identity("novel", "ga")
    rows = [
        row(run, "ps", 0.1),
        row(run, "odd_metric", 0.7, "background", "all", "part"),
        row(run, "ps", 0.4, language="en"),
    ]
    (table,) = tables_of({**PANEL, "benchmark": "novel"}, means(rows), {})
    assert [c.label for c in table.columns] == ["odd metric part", "ps"]
    assert [c.value for c in table.rows[0].cells] == pytest.approx([0.7, 0.1])


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [(0.1234, "ps", "0.12"), (0.0034, "ps", "0.003"), (3.2e-7, "forget_quality", "3e−07"), (0.0, "ps", "0.00"),
     (-0.0, "ps", "0.00"), (-12.34, "privleak", "−12.3"), (98.765, "kss_gen_pr_ratio", "98.8"), (1.0, "ps", "1.00")],
)  # fmt: skip
def test_numbers_for_reading(value, metric, text):
    assert write.number(value, metric) == text


def formats(note="because of x", collapsed=("npo",)) -> tuple[str, str, str]:
    rows = [ps("target", None, note=note), ps("ga", 0.12), ps("npo", 0.345, width=None)]
    table = built(rows, collapsed=collapsed)
    return write.to_csv(table), write.to_markdown(table), write.to_latex(table)


def test_csv_holds_unrounded_numbers_and_the_reason_of_a_null():
    target, ga, npo = csv.DictReader(io.StringIO(formats()[0]))
    assert target["ps.forget.train"] == "" and target["notes"] == "ps.forget.train: because of x"
    assert float(ga["ps.forget.train"]) == 0.12 and float(ga["ps.forget.train.ci_low"]) == pytest.approx(0.08)
    assert npo["ps.forget.train.ci_low"] == "" and npo["collapsed"] == "True" and npo["split"] == "p5"


def test_markdown_has_bold_interval_dash_footnote_and_dagger():
    lines = formats()[1].splitlines()
    assert "| target | –[^1] |" in lines
    assert r"| ga | **0.12** \[0.08, 0.16\] |" in lines
    assert "| npo † | 0.34 |" in lines or "| npo † | 0.35 |" in lines
    assert "[^1]: because of x" in lines and any(line.startswith("† A run") for line in lines)


def test_latex_has_booktabs_bold_interval_and_footnote():
    text = formats()[2]
    assert r"ga & \textbf{0.12} {\scriptsize\color{gray} {[}0.08, 0.16{]}} \\" in text
    assert r"target & --\textsuperscript{1} \\" in text and r"\textsuperscript{1}because of x" in text
    assert r"npo \textsuperscript{\textdagger} &" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))


def test_latex_escapes_every_special_sign():
    # outside the commands we wrote, none of the ten special signs may stand bare
    text = write.latex("a_b & 50% of $x #1 {y} ~z ^w \\end [q]")
    assert text == (r"a\_b \& 50\% of \$x \#1 \{y\} \textasciitilde{}z \textasciicircum{}w \textbackslash{}end {[}q{]}")
    assert r"\textbackslash{}input\{/etc/x\}" in formats(note="\\input{/etc/x}")[2]


def test_markdown_escapes_what_would_break_a_table_or_be_read_as_html():
    text = formats(note="a|b <script>alert(1)</script>\n\nnew")[1]
    assert "[^1]: a\\|b \\<script\\>alert(1)\\</script\\> new" in text.splitlines()
