"""UMU-Bench's panel: tables, figures, the sentence above."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from report_fakes import identity, row
from unlearning.metrics.modality_accuracy import accuracies
from unlearning.registry import declared
from unlearning.report import tables
from unlearning.report.assemble import draw_figures, tables_of
from unlearning.report.headline import headline
from unlearning.report.html import Panel, glossary
from unlearning.report.specs import DIRECTIONS, direction
from unlearning.report.specs_umu import OUTCOMES, UMU_FIGURES, UMU_TABLES
from unlearning.report.write import to_csv, to_markdown

ROOT = Path(__file__).resolve().parents[1]
PANEL = {"benchmark": "umu", "base_model": "small", "setting": "default", "split": "p10"}
GROUPS = ("forget", "retain", "real_people")
# method -> share right about the picture and in text, on forget and on what stays
METHODS = {"target": (0.95, 0.97, 0.96, 0.98), "retrain": (0.2, 0.1, 0.95, 0.97), "ga": (0.1, 0.05, 0.2, 0.3),
           "npo": (0.6, 0.1, 0.92, 0.95), "po": (0.3, 0.2, 0.93, 0.9)}  # fmt: skip
MODULES = ("modality_accuracy", "modality_rouge", "utility_average", "modality_deltas", "misalignment", "abstained")
MODULES += ("picture_use",)


def level(method: str, group: str) -> dict[str, float]:
    """The scores over both modalities, those of generation under the names of accuracies."""
    image, text = METHODS[method][:2] if group == "forget" else METHODS[method][2:]
    return {
        name.removeprefix("acc_"): float(v[0]) for name, v in accuracies(np.array([image]), np.array([text])).items()
    }


def scored(method: str, epoch: int = 10, attack: str = "none") -> list[dict]:
    """Every score of a run that the metrics declare."""
    own, rows = identity("umu", method, attack, setting="default", split="p10", epoch=epoch), []
    share = dict(zip((m for _, m in OUTCOMES), (0.5, 0.1, 0.3, 0.1), strict=True))
    for module in MODULES:
        for metric, groups, _, tasks in declared(f"unlearning.metrics.{module}", "ROWS"):
            for group in groups:
                for task in tasks:
                    kind = metric.split("_")[-1]
                    value, note = share.get(metric, 0.05), None
                    if metric.startswith(("acc_", "rl_")):
                        value = level(method, group)[kind] - 0.01 * (attack != "none")
                    elif metric.startswith("delta_"):
                        value = level("target", group)[kind] - level(method, group)[kind]
                    elif metric == "utility_average":
                        value = level(method, "retain")["r"]
                    elif metric.startswith("picture_"):
                        value = None if attack == "none" else {"acc": 0.3, "predicted": 0.25, "excess": 0.05}[kind]
                        note = None if value is not None else "pictures were not shuffled"
                    rows.append(row(own, metric, value, group, task=task, note=note))
    return rows


@functools.cache
def frame(epochs: tuple[int, ...] = (10,), attacked: bool = False) -> pd.DataFrame:
    runs = [(m, e) for m in METHODS for e in (epochs if m not in ("target", "retrain") else epochs[-1:])]
    rows = [r for run in runs for r in scored(*run)]
    rows += scored("npo", epochs[-1], "shuffle_images") if attacked else []
    found = pd.DataFrame(rows).assign(artifact="a", collapsed=False)
    return found.astype({"value": float, "ci_low": float, "ci_high": float})


def means(**further) -> pd.DataFrame:
    return tables.averaged(tables.with_changes(tables.last_epochs(frame(**further))))


@functools.cache
def built(**further) -> dict[str, tables.Table]:
    return {table.spec.name: table for table in tables_of(PANEL, means(**further), {})}


def cells(table: tables.Table, method: str, attack: str = "none") -> dict[tuple[str, str], tables.Cell]:
    line = next(line for line in table.rows if (line.method, line.attack) == (method, attack))
    return {(c.head, c.label): cell for c, cell in zip(table.columns, line.cells, strict=True)}


def test_the_main_table_is_tasks_by_groups_and_the_average_utility():
    table = built()["results"]
    assert [(c.head, c.label) for c in table.columns] == [
        *((head, group) for head in ("Classification", "Cloze", "Generation")
          for group in ("forget", "retain", "real people")),
        ("", "Average utility"),
    ]  # fmt: skip
    assert [c.metric for c in table.columns] == [
        *["acc_f", "acc_r", "acc_r"] * 2, "rl_f", "rl_r", "rl_r", "utility_average",
    ]  # fmt: skip
    own = cells(table, "npo")
    # about the picture 0.6, in text 0.1, in either 0.6 + 0.1 − 0.06: 1.34/3
    assert own["Cloze", "forget"].value == pytest.approx(1.34 / 3) and not own["Cloze", "forget"].best
    assert (
        cells(table, "ga")["Cloze", "forget"].best and own["Cloze", "retain"].best and own["", "Average utility"].best
    )
    assert not any(cell.best for cell in cells(table, "target").values())
    assert "| npo |" in to_markdown(table)


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_a_table_by_modality(group):
    table = built()[f"modalities_{group}"]
    four = ["image", "text", "both", "either"]
    assert [c.label for c in table.columns] == [*four, *four, "image", "text"]
    assert {c.group for c in table.columns} == {group}
    own = cells(table, "po")
    image, text = METHODS["po"][:2] if group == "forget" else METHODS["po"][2:]
    assert (own["Cloze", "image"].value, own["Cloze", "text"].value) == (image, text)
    assert own["Cloze", "both"].value == pytest.approx(image * text)


def test_deltas_and_misalignment_and_abstentions():
    table = built()["deltas"]
    shown = [(c.head, c.label) for c in table.columns if not c.csv_only]
    assert shown == [(f"{head}, forget", label) for head in ("Classification", "Cloze", "Generation")
                     for label in ("image", "text", "F")]  # fmt: skip
    assert "R" in {c.label for c in table.columns if c.csv_only}
    own = cells(table, "npo")
    assert own["Generation, forget", "text"].value == pytest.approx(0.97 - 0.1)
    assert cells(table, "ga")["Generation, forget", "text"].best
    own = cells(built()["misalignment"], "npo")
    assert [own["Cloze", label].value for label, _ in OUTCOMES] == [0.5, 0.1, 0.3, 0.1]
    table = built()["abstentions"]
    assert len(table.columns) == 18 and not any(cell.best for line in table.rows for cell in line.cells)
    assert len(to_csv(table).splitlines()) == 1 + len(METHODS)


def test_shuffled_pictures_stand_in_the_table_of_attacks():
    assert "attacks" not in built()
    table = built(attacked=True)["attacks"]
    own = cells(table, "npo", "shuffle_images")
    got = [own["Shuffled pictures", f"{label}, cloze"].value for label in ("right", "predicted", "difference")]
    assert got == [0.3, 0.25, 0.05]
    assert own["Cloze", "change"].value == pytest.approx(-0.01)
    assert cells(table, "npo")["Shuffled pictures", "right, cloze"].note == "pictures were not shuffled"


def test_every_metric_of_the_benchmark_has_a_direction():
    metrics = {m for module in MODULES for m, *_ in declared(f"unlearning.metrics.{module}", "ROWS")}
    assert metrics <= DIRECTIONS.keys()
    ways = {("acc_any", "forget"): "lower", ("acc_any", "real_people"): "higher", ("delta_mul", "forget"): "higher",
            ("delta_uni", "retain"): "lower", ("forgotten_both", "forget"): "higher"}  # fmt: skip
    assert {key: direction(*key) for key in ways} == ways


def test_every_figure_is_drawn(drawn, tmp_path):
    by_epoch = tables.averaged(frame(epochs=(5, 10)), by_epoch=True)
    made = draw_figures(PANEL, means(), by_epoch, [], {}, tmp_path)
    assert [f.title for f in made] == [s.title for s in UMU_FIGURES]
    cloze = drawn["gap"][1]
    at = [t.get_text() for t in drawn["gap"][-1].get_xticklabels()].index("npo")
    bars = [b.get_height() for b in cloze.patches if abs(b.get_x() + b.get_width() / 2 - at) < 0.5]
    assert bars == [0.6, 0.1] and [t.get_text() for t in cloze.texts][at] == "+0.50"
    axes = drawn["tradeoff_generation"][0]
    assert axes.get_xlabel() == "RL F, forget (lower is better)"
    assert axes.get_ylabel() == "RL R, retain (higher is better)"
    # the shares of each of five methods; 10 panels by epoch
    assert [len(a.patches) for a in drawn["misalignment"]] == [20, 20]
    assert np.asarray(drawn["modalities"][1].get_images()[0].get_array()).shape == (5, 6)
    assert sum(bool(a.get_title("left")) for a in drawn["epochs"]) == 10


def test_the_sentence_names_who_forgets_most_of_those_that_keep_enough():
    said = headline(PANEL, means())
    assert said.startswith("2 of 3 unlearned methods keep at least 90 % of the target's average utility. Of these, po ")
    # 0.3 and 0.2: (0.3 + 0.2 + 0.44)/3 = 0.313
    assert "Acc F 0.31 [0.27, 0.35] (target 0.97" in said and "more than the retrained model" in said
    assert said.endswith("it forgot 0.50 [0.46, 0.54] in text only, 0.10 [0.06, 0.14] about the picture only.")


def test_of_a_target_that_knows_nothing_the_sentence_says_so():
    rows = means()
    blank = (rows["method"] == "target") & (rows["metric"] == "acc_f") & (rows["task"] == "cloze")
    said = headline(PANEL, rows.assign(value=rows["value"].mask(blank, 0.1)))
    assert "few of the blanks on forget: Acc F 0.10" in said and said.endswith("nothing can be said of forgetting it.")


def test_every_metric_in_the_tables_is_explained():
    texts = yaml.safe_load((ROOT / "resources/report/metrics.yaml").read_text(encoding="utf-8"))
    shown = glossary([Panel(PANEL, "", tuple(built(attacked=True).values()), ())], texts)
    told = {metric for entry in shown for metric in entry["metrics"]}
    assert {c.metric.removesuffix("_change") for spec in UMU_TABLES for c in spec.columns} <= told
