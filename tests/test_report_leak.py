"""The leak-resistant panel: the paper's tables with their marks, the triangle, the sentence above them."""

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from report_fakes import identity, row
from unlearning.report import figures, tables, write
from unlearning.report.assemble import draw_figures, tables_of
from unlearning.report.headline import headline
from unlearning.report.kinds import Radar
from unlearning.report.specs import LEAK_FIGURES, LEAK_TABLES
from unlearning.score.tasks import MULTI

PANEL = {"benchmark": "leak", "base_model": "small", "setting": "default", "split": "f1"}
TASKS = ("sh", *MULTI)
# Table 2 and 3 of the paper, Llama-3.1-8B-Instruct, per cent: sh hs mt ds ll mp cc; hops of probab, quant, focus-on-key
QUALITY = {"tv": (59.0, 63.5, 27.6, 34.9, 39.8, 52.7, 69.4), "as": (5.8, -16.3, -43.9, 71.0, 61.5, -54.8, 72.5)}
RATES = {"tv": (32.6, 44.0, 39.0, 47.1, 12.9, 16.6), "as": (78.1, 66.7, 55.9, 49.3, 78.9, 59.7)}
RETAIN = {"target": 0.9, "tv": 0.85, "as": 0.88}


def run(method: str, attack: str = "none") -> dict:
    return identity("leak", method, attack, setting="default", split="f1")


def scored(method: str) -> list[dict]:
    quality = [value / 100 for value in QUALITY.get(method, [0.0] * 7)]
    own = run(method)
    rows = [row(own, "fq", value, task=task) for task, value in zip(TASKS, quality, strict=True)]
    rows += [row(own, "fq", sum(quality) / 7), row(own, "fq_pooled", quality[0])]
    rows += [row(own, "accuracy", 0.8 * (1 - value), task=task) for task, value in zip(TASKS, quality, strict=True)]
    rows += [row(own, "accuracy", 0.6, task=task) for task in ("all", "multi_hop")]
    rows.append(row(own, "accuracy", RETAIN[method], "retain"))
    if method == "target":
        return [*rows, row(own, "robustness", None, note="no attack was tried on this model")]
    rates = [rate / 100 for rate in RATES[method]]
    rows.append(row(own, "robustness", 1 - max(rates), note="most comes back under quantize, multi-hop"))
    rows += [
        row(own, "rr", None, task=hop, note="there is no attack to recover by") for hop in ("single_hop", "multi_hop")
    ]
    for i, attack in enumerate(("probab", "quantize", "focus_on_key")):
        under = run(method, attack)
        rows += [row(under, "rr", rates[2 * i + j], task=hop) for j, hop in enumerate(("single_hop", "multi_hop"))]
        rows.append(row(under, "accuracy", 0.5))
    return rows


@pytest.fixture(scope="module")
def means() -> pd.DataFrame:
    frame = pd.DataFrame([r for method in RETAIN for r in scored(method)]).assign(artifact="a", collapsed=False)
    frame = frame.astype({"value": float, "ci_low": float, "ci_high": float})
    return tables.averaged(tables.with_changes(tables.last_epochs(frame)))


@pytest.fixture(scope="module")
def built(means) -> dict[str, tables.Table]:
    return {table.spec.name: table for table in tables_of(PANEL, means, {})}


def test_the_papers_tables_are_there(built):
    assert list(built) == [spec.name for spec in LEAK_TABLES]


def test_the_most_and_the_second_most_resistant_kind_are_marked_in_each_row(built):
    table = built["forget_quality"]
    marked = {
        line.method: [[c.label for c, cell in zip(table.columns, line.cells, strict=True) if getattr(cell, mark)]
                      for mark in ("best", "second")]
        for line in table.rows
    }  # fmt: skip
    # TV: MT 27.6, then DS 34.9; AS: MP −54.8, then MT −43.9; the target is no method
    assert marked == {"tv": [["MT"], ["DS"]], "as": [["MP"], ["MT"]], "target": [[], []]}
    assert "**0.28**" in write.to_markdown(table) and "<u>0.35</u>" in write.to_markdown(table)
    assert r"\textbf{0.28}" in write.to_latex(table) and r"\underline{0.35}" in write.to_latex(table)
    assert write.ACROSS in write.to_markdown(table) and write.BEST not in write.to_markdown(table)


def test_equal_lowest_kinds_are_both_marked_and_none_is_second():
    columns = LEAK_TABLES[1].columns[:3]
    line = tables.Row("ga", "none", False, False, tuple(tables.Cell(v) for v in (0.2, 0.2, 0.5)))
    cells = tables._mark_across([line], columns, columns[0].head)[0].cells
    assert [cell.best for cell in cells] == [True, True, False] and not any(cell.second for cell in cells)


def test_recovery_rates_have_a_row_an_attack_and_none_without(built):
    table = built["recovery"]
    assert [(line.method, line.attack) for line in table.rows] == [
        (method, attack) for method in ("as", "tv") for attack in ("focus_on_key", "probab", "quantize")
    ]
    best = {(line.method, line.attack) for line in table.rows if line.cells[0].best}
    assert best == {("tv", attack) for attack in ("focus_on_key", "probab", "quantize")}  # the lower rate is better


def test_the_triangle_is_drawn_from_methods_alone(means, tmp_path):
    spec = next(s for s in LEAK_FIGURES if isinstance(s, Radar))
    assert figures.radar(spec, means, tmp_path / "triangle")
    assert ET.parse(tmp_path / "triangle.svg").getroot().tag.endswith("svg") and (tmp_path / "triangle.png").is_file()
    without = means[means["metric"] != "robustness"]
    assert not figures.radar(spec, without, tmp_path / "none") and not (tmp_path / "none.svg").exists()


def test_an_axis_takes_the_first_of_its_columns_that_has_numbers(means, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda self, *a, **k: shown.append(self.axes[0]))
    spec = next(s for s in LEAK_FIGURES if isinstance(s, Radar))
    figures.radar(spec, means, tmp_path / "a")
    bbh = means[(means["metric"] == "accuracy") & (means["group"] == "retain")].assign(
        metric="reasoning", group="utility"
    )
    figures.radar(spec, pd.concat([means, bbh]), tmp_path / "b")
    labels = [[text.get_text() for text in axes.get_xticklabels()][-1] for axes in (shown[0], shown[-1])]
    assert labels == ["Utility\n(retain accuracy)", "Utility\n(BBH)"]
    top = shown[0].lines[0].get_ydata()  # as: the mean quality is below 0 in no case here, the rates give 1 − 0.789
    assert top[1] == pytest.approx(1 - 0.789) and min(top) >= 0


def test_the_panel_draws_all_that_has_numbers(means, tmp_path):
    drawn = draw_figures(PANEL, means, means.assign(epoch=1), [], {}, tmp_path)
    assert [figure.title for figure in drawn] == [spec.title for spec in LEAK_FIGURES[:3]]


def test_the_headline_names_the_best_method_that_keeps_what_is_to_be_kept(means):
    text = headline(PANEL, means)
    assert text.startswith("2 of 2 unlearned methods keep at least") and "tv has the highest forget quality" in text
    assert "its robustness is 0.53" in text
