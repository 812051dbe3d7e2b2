"""LUME's panel: the aggregate's table, the curves by epoch in each task, the sentence above, the funnel."""

import pandas as pd
import pytest
import yaml

from mu2_sources import ROOT
from report_fakes import identity, row
from unlearning.metrics import task_aggregate
from unlearning.report import figures, tables
from unlearning.report.assemble import draw_figures, tables_of
from unlearning.report.construction import read_constructions
from unlearning.report.headline import headline
from unlearning.report.html import Panel, glossary
from unlearning.report.specs import LUME_FIGURES, LUME_TABLES
from unlearning.tables.artifacts import write_table

PANEL = {"benchmark": "lume", "base_model": "small", "setting": "default", "split": "forget"}
TASKS = ("all", "task1", "task2", "task3")
# (method, epoch) -> knowledge on forget; regurgitation is half of it, retain stays but for ga's
KNOWN = {("target", 9): 1.0, ("retrain", 9): 0.1, ("ga", 1): 0.6, ("ga", 2): 0.0, ("npo", 1): 0.8, ("npo", 2): 0.4}


def scored(method: str, epoch: int, mmlu: float | None = None) -> list[dict]:
    own = identity("lume", method, setting="default", split="forget", epoch=epoch)
    known = KNOWN[method, epoch]
    kept = 0.3 if (method, epoch) == ("ga", 2) else 0.95
    rows = []
    for task in TASKS:
        for group, value in (("forget", known), ("retain", kept)):
            rows += [row(own, "regurgitation", value / 2, group, task=task),
                     row(own, "regurgitation_f", value / 3, group, task=task),
                     row(own, "knowledge", value, group, task=task),
                     row(own, "knowledge_tolerant", value, group, task=task)]  # fmt: skip
    rows += [row(own, "mia_auc", 0.5 + known / 2), row(own, "mia_final", 1 - known)]
    parts = task_aggregate.ROWS[0][3]
    rows += [row(own, "task_aggregate", 0.5 + i / 100, "all", task=part) for i, part in enumerate(parts)]
    if mmlu is not None:
        rows += [row(own, "mmlu", mmlu, "utility"), row(own, "final", (0.5 + 1 - known + mmlu) / 3, "all", width=None)]
    return rows


def frame(**further) -> pd.DataFrame:
    found = pd.DataFrame([r for run in KNOWN for r in scored(*run, **further)]).assign(artifact="a", collapsed=False)
    return found.astype({"value": float, "ci_low": float, "ci_high": float})


def means(**further) -> pd.DataFrame:
    return tables.averaged(tables.with_changes(tables.last_epochs(frame(**further))))


def built(**further) -> dict[str, tables.Table]:
    return {table.spec.name: table for table in tables_of(PANEL, means(**further), {})}


def test_the_aggregate_stands_with_its_twelve_parts():
    found = built()
    assert list(found) == [spec.name for spec in LUME_TABLES]
    table = found["aggregate"]
    assert [c.task for c in table.columns] == list(task_aggregate.ROWS[0][3])
    cells = next(line.cells for line in table.rows if line.method == "npo")
    assert [cell.value for cell in cells] == pytest.approx([0.5 + i / 100 for i in range(13)])
    assert all(any(line.cells[i].best for line in table.rows) for i in range(13))  # in all of them high is good


def test_mmlu_and_the_final_score_have_a_column_where_they_are_asked():
    def labels(**further):
        return [c.label for c in built(**further)["results"].columns]

    assert "MMLU" not in labels() and "MIA" in labels()
    assert labels(mmlu=0.3)[-2:] == ["MMLU", "Final"]


@pytest.fixture
def drawn(monkeypatch):
    """Title of each plot -> its lines: label -> (epochs, values)."""
    found = {}

    def plot(self, x, y, label=None, **look):
        self.lines_of = getattr(self, "lines_of", {}) | {label: (list(x), list(y))}
        return []

    def save(figure, *given, **more):
        found.update({axes.get_title("left"): getattr(axes, "lines_of", {}) for axes in figure.axes})

    monkeypatch.setattr("matplotlib.axes.Axes.plot", plot)
    monkeypatch.setattr(figures.Figure, "savefig", save)
    return found


def test_every_task_has_four_panels_with_a_line_a_method_from_the_target_on(drawn, tmp_path):
    by_epoch = tables.averaged(frame(), by_epoch=True)
    assert figures.epochs(LUME_FIGURES[0], by_epoch, tmp_path / "epochs")
    sides = [f"{metric}, {side}" for metric in ("regurgitation", "knowledge") for side in ("forget ↓", "retain ↑")]
    assert list(drawn) == [f"{title}: {side}" for title in ("Stories", "People", "Biographies") for side in sides]
    assert drawn["People: knowledge, forget ↓"] == {"ga": ([0, 1, 2], [1, 0.6, 0]), "npo": ([0, 1, 2], [1, 0.8, 0.4])}
    assert drawn["Stories: regurgitation, retain ↑"]["ga"] == ([0, 1, 2], pytest.approx([0.475, 0.475, 0.15]))


def test_attack_and_utility_have_figures_of_their_own(drawn, tmp_path):
    by_epoch = tables.averaged(frame(mmlu=0.3), by_epoch=True)
    made = draw_figures(PANEL, means(mmlu=0.3), by_epoch, [], {}, tmp_path)
    titles = [figure.title for figure in made]
    assert titles[:3] == ["Regurgitation and knowledge by epoch, in each task", "Membership attack by epoch",
                          "Utility by epoch"]  # fmt: skip
    assert drawn["AUC (ideal: 0.5)"]["npo"] == ([0, 1, 2], pytest.approx([1, 0.9, 0.7]))
    assert drawn["MMLU ↑"]["ga"] == ([0, 1, 2], [0.3] * 3)


def test_the_sentence_compares_the_method_that_keeps_most_with_retraining():
    said = headline(PANEL, means())
    assert said.startswith("1 of 2 unlearned methods keeps at least 90 % of the target's knowledge on retain questions")
    assert "npo answers the fewest forget questions: its knowledge there is 0.40" in said
    assert "more than the retrained model" in said and "membership attack 0.70" in said


def test_every_metric_in_the_tables_is_explained():
    texts = yaml.safe_load((ROOT / "resources/report/metrics.yaml").read_text(encoding="utf-8"))
    shown = glossary([Panel(PANEL, "", tuple(built(mmlu=0.3).values()), ())], texts)
    assert [entry["metrics"][0] for entry in shown] == [
        "mmlu", "regurgitation", "knowledge", "knowledge_tolerant", "mia_auc", "mia_final", "task_aggregate", "final",
    ]  # fmt: skip


def test_the_funnel_of_documents_has_a_dash_for_checks_that_a_task_has_not(tmp_path):
    folder = tmp_path / "lume" / "small"
    folder.mkdir(parents=True)
    counts = [("task1", "drawn", 5), ("task1", "length", 4), ("task1", "kept", 4), ("task2", "drawn", 3),
              ("task2", "fields", 3), ("task2", "kept", 3)]  # fmt: skip
    write_table(pd.DataFrame(counts, columns=["type", "step", "n"]), folder / "funnel.parquet", "funnel")
    (told,) = read_constructions([str(folder / "funnel.parquet")])
    assert told.columns == ("Task", "drawn", "length", "fields", "kept")
    assert told.rows == (("task1", "5", "4", "–", "4"), ("task2", "3", "–", "3", "3"))
