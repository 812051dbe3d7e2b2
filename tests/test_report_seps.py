"""SEPS's panel: tables, correlations, the figures of several scores a method, the sentence above."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import pearsonr

from report_fakes import identity, row
from unlearning.metrics import stress
from unlearning.report import figures, tables
from unlearning.report.assemble import draw_figures, tables_of
from unlearning.report.correlations import correlations
from unlearning.report.headline import headline
from unlearning.report.html import Panel, glossary, table_view
from unlearning.report.specs import CORRELATED
from unlearning.report.specs_seps import LETTERS, SEPS_FIGURES, SEPS_TABLES
from unlearning.report.write import to_csv, to_latex, to_markdown

ROOT = Path(__file__).resolve().parents[1]
PANEL = {"benchmark": "seps", "base_model": "small", "setting": "default", "split": "p25"}
PAPER = yaml.safe_load((ROOT / "tests/data/seps_table.yaml").read_text(encoding="utf-8"))["forget01"]
# method -> its parts on retain, on forget, of SEPS; those of the paper, and a target that knows all
METHODS = {"target": {"retain": [0.95, 0.99, 0.5, 1.0], "forget": [0.95, 0.99, 0.5, 1.0], "parts": [0.0, 0.0, 0.01]}}
NAMES = {"ga_gd": "GA+GD", "me_gd": "ME+GD", "idk_ap": "IDK+AP", "mp_idk": "MP-IDK"}
METHODS |= {name: PAPER[printed] for name, printed in NAMES.items()}
FOUR, THREE = ("rouge", "probability", "truth_ratio", "judge"), ("rouge", "cosine", "judge")


def scored(method: str, epoch: int = 10) -> list[dict]:
    """Every score of a run; after fewer epochs, less is forgotten."""
    own = identity("seps", method, setting="default", split="p25", epoch=epoch)
    retain, forget, parts = (METHODS[method][name] for name in ("retain", "forget", "parts"))
    forget = [f + (1 - f) * (10 - epoch) / 10 for f in forget]
    total = {"mu": 4 / sum(1 / max(v, 1e-9) for v in retain), "fe": 1 - sum(forget) / 4, "seps": sum(parts) / 3}
    rows = [row(own, metric, value, "all") for metric, value in total.items()]
    rows += [row(own, "mu", value, "retain", task=task) for task, value in zip(FOUR, retain, strict=True)]
    rows += [row(own, "fe", value, "forget", task=task) for task, value in zip(FOUR, forget, strict=True)]
    rows += [row(own, "seps", value, "all", task=task) for task, value in zip(THREE, parts, strict=True)]
    for task in ("all", *THREE):
        fis = forget[3] / 2
        gap = total["seps"] if task == "all" else parts[THREE.index(task)]
        rows += [row(own, "fis", fis, "all", task=task), row(own, "ris", fis + gap, "all", task=task)]
    rows.append(row(own, "h_avg", 3 / sum(1 / max(v, 1e-9) for v in total.values()), "all"))
    for metric, k in (("rouge_l_recall", 0), ("cosine", 3), ("judge", 3)):
        for group, alone, gap in (("retain", retain[k], parts[2]), ("forget", forget[k], -parts[2])):
            rows.append(row(own, metric, alone, group))
            for i, (_, task) in enumerate(LETTERS[group]):
                level = (
                    min(max(0.5 + gap / 2 - 0.1 * (task[-1] == "2"), 0), 1) if i < 2 else alone * (0.9 - 0.2 * i / 3)
                )
                rows.append(row(own, metric, level, group, task=task))
    for task in stress.ROWS[0][3]:
        n, m = int(task[7]), int(task[9])
        last = task.endswith("fr")  # the retain questions stand last
        retained, told = max(retain[3] - 0.05 * (n + m) - 0.1 * last, 0), forget[3] * 0.5 + 0.02 * m * last
        rows += [row(own, "judge", retained, "retain", task=task), row(own, "judge", told, "forget", task=task)]
    return rows


@functools.cache
def frame(epochs: tuple[int, ...] = (10,), without: tuple[str, ...] = ()) -> pd.DataFrame:
    runs = [(m, e) for m in METHODS for e in (epochs if m != "target" else epochs[-1:])]
    found = pd.DataFrame([r for run in runs for r in scored(*run)]).assign(artifact="a", collapsed=False)
    return found[~found["metric"].isin(without)].astype({"value": float, "ci_low": float, "ci_high": float})


@functools.cache
def averaged(**further) -> pd.DataFrame:
    return tables.averaged(tables.with_changes(tables.last_epochs(frame(**further))))


def means(**further) -> pd.DataFrame:
    """Of the last epoch; to be changed at will."""
    return averaged(**further).copy()


def built(rows: pd.DataFrame) -> dict[str, tables.Table]:
    return {table.spec.name: table for table in tables_of(PANEL, rows, {})}


@functools.cache
def all_built() -> dict[str, tables.Table]:
    return built(averaged())


def correlated(rows: pd.DataFrame) -> tables.Table | None:
    return correlations(PANEL, rows, CORRELATED["seps"])


def cells(table: tables.Table, method: str) -> dict[tuple[str, str], tables.Cell]:
    line = next(line for line in table.rows if line.method == method)
    return {(c.head, c.label): cell for c, cell in zip(table.columns, line.cells, strict=True)}


def test_table_1_and_the_detailed_table_hold_the_papers_numbers():
    found = all_built()
    assert list(found) == [s.name for s in SEPS_TABLES if s.name != "attacks"] + ["correlations"]
    own = cells(found["results"], "idk_ap")
    want = [PAPER["IDK+AP"][name] for name in ("mu", "fe", "seps", "h_avg")]
    assert [own["", label].value for label in ("MU", "FE", "SEPS", "H-Avg")] == pytest.approx(want, abs=2e-4)
    assert cells(found["results"], "mp_idk")["", "H-Avg"].best and not own["", "H-Avg"].best
    own = cells(found["detailed"], "mp_idk")
    assert [own["FE, forget", label].value for label in ("R", "P", "TR", "LLM")] == PAPER["MP-IDK"]["forget"]
    marked = [(c.head, c.label, line.method) for line in found["detailed"].rows
              for c, cell in zip(found["detailed"].columns, line.cells, strict=True) if cell.best]  # fmt: skip
    high, low = ("MU, retain", "R", "me_gd"), ("FE, forget", "P", "me_gd")
    assert {high, low} < set(marked)


def test_letters_are_shown_of_the_judge_and_saved_of_all_three():
    table = all_built()["letters"]
    shown = [c.label for c in table.columns if not c.csv_only]
    assert shown == ["R", "[R]F", "F[R]", "[R]R", "R[R]", "F", "[F]R", "R[F]", "[F]F", "F[F]"]
    assert {c.metric for c in table.columns if c.csv_only} == {"rouge_l_recall", "cosine"}
    assert len(all_built()["stress"].columns) == 36


def test_correlations_are_scipys_over_the_unlearned_methods_and_nothing_is_marked():
    table = all_built()["correlations"]
    assert [line.method for line in table.rows] == ["R", "CS", "LLM"]
    assert [c.head for c in table.columns] == ["MU"] * 3 + ["FE"] * 3 + ["SEPS"] * 3
    r_llm = pearsonr(*zip(*((PAPER[m]["parts"][0], PAPER[m]["parts"][2]) for m in NAMES.values()), strict=True))[0]
    value = {(line.method, c.head, c.label): cell.value for line in table.rows
             for c, cell in zip(table.columns, line.cells, strict=True)}  # fmt: skip
    assert value["R", "SEPS", "LLM"] == value["LLM", "SEPS", "R"] == pytest.approx(r_llm)
    assert all(value[s, head, s] == pytest.approx(1) for s in ("R", "CS", "LLM") for head in ("MU", "FE", "SEPS"))
    assert "| score |" in to_markdown(table) and "bold" not in to_markdown(table) + to_latex(table)
    assert to_csv(table).splitlines()[0].split(",")[4] == "score"
    assert table_view(table, set())["of"] == "Score" and table_view(all_built()["results"], set())["of"] == "Method"


def test_a_correlation_of_two_methods_or_of_equal_scores_is_null_with_the_reason():
    few = means()
    few = few[few["method"].isin(["target", "ga_gd", "mp_idk"])]
    notes = {cell.note for line in correlated(few).rows for cell in line.cells}
    assert notes == {"2 methods have all three scores, a correlation takes 3"}
    same = means()
    same.loc[(same["metric"] == "seps") & (same["task"] == "cosine"), "value"] = 0.3
    own = correlated(same)
    by_label = {c.label: cell for c, cell in zip(own.columns[6:], own.rows[0].cells[6:], strict=True)}
    assert by_label["CS"].value is None and by_label["CS"].note == "one of the scores is the same for every method"
    assert by_label["LLM"].value is not None
    assert correlated(means(without=("mu", "fe", "seps"))) is None


def test_every_figure_is_drawn_and_those_by_epoch_only_where_several_are_scored(drawn, tmp_path):
    made = draw_figures(PANEL, means(), tables.averaged(frame(epochs=(5, 10)), by_epoch=True), [], {}, tmp_path)
    assert [f.title for f in made] == [s.title for s in SEPS_FIGURES if s.name != "attacks"]
    assert [a.get_title("left") for a in drawn["epochs"][:4]] == ["MU ↑", "FE ↑", "SEPS ↑", "H-Avg ↑"]
    one = tables.averaged(frame(), by_epoch=True)
    assert not any(figures.epochs(s, one, tmp_path / s.name) for s in SEPS_FIGURES if s.name.startswith("epochs"))


def test_bars_stand_at_their_method_with_the_gap_above(drawn, tmp_path):
    spec = next(s for s in SEPS_FIGURES if s.name == "gap")
    assert figures.groups(spec, means(), tmp_path / "gap")
    rf, fr = drawn["gap"]
    names = [t.get_text() for t in fr.get_xticklabels()]
    at = names.index("mp_idk")
    bars = [b.get_height() for b in rf.patches if abs(b.get_x() + b.get_width() / 2 - at) < 0.5]
    assert bars == pytest.approx([0.5 + 0.5938 / 2, 0.5 - 0.5938 / 2 - 0.1])  # [R]F, R[F]
    assert [t.get_text() for t in rf.texts][at] == "+0.69"


def test_the_stress_figure_has_a_plot_a_method_with_four_lines(drawn, tmp_path):
    spec = next(s for s in SEPS_FIGURES if s.name == "stress")
    assert figures.lines(spec, means(), tmp_path / "stress")
    by_title = {a.get_title("left"): a for a in drawn["stress"]}
    assert set(METHODS) <= set(by_title)
    lines = by_title["mp_idk"].get_lines()
    assert [line.get_label() for line in lines] == [
        "retain, retain first", "retain, forget first", "forget, retain first", "forget, forget first",
    ]  # fmt: skip
    assert list(lines[0].get_ydata()) == pytest.approx([0.77 - 0.05 * k for k in (2, 3, 5, 3, 4, 6, 5, 6, 8)])


def test_the_trade_off_takes_tofus_utility_where_it_is_scored_else_mu(drawn, tmp_path):
    spec = next(s for s in SEPS_FIGURES if s.name == "tradeoff")
    assert figures.trade_off(spec, means(), tmp_path / "mu")
    scores = frame()
    tofu = scores[scores["metric"] == "mu"].query("task == 'all'").assign(metric="model_utility", value=0.4)
    both = tables.averaged(tables.last_epochs(pd.concat([scores, tofu], ignore_index=True)))
    assert figures.trade_off(spec, both, tmp_path / "tofu")
    assert drawn["mu"][0].get_ylabel() == "MU (higher is better)"
    assert drawn["tofu"][0].get_ylabel() == "model utility, nine values (higher is better)"


def test_letters_are_coloured_methods_by_places(drawn, tmp_path):
    spec = next(s for s in SEPS_FIGURES if s.name == "letters")
    assert figures.matrix(spec, means(), tmp_path / "letters")
    retain, forget = drawn["letters"][:2]
    assert [t.get_text() for t in forget.get_xticklabels()] == ["F", "[F]R", "R[F]", "[F]F", "F[F]"]
    assert np.asarray(retain.get_images()[0].get_array()).shape == (len(METHODS), 5)


def test_the_sentence_names_the_highest_h_avg_and_the_highest_seps():
    said = headline(PANEL, means())
    assert said.startswith("1 of 4 unlearned methods keeps at least 90 % of the target's model utility (MU)")
    assert "Of all, mp_idk best tells forget from retain questions in one prompt: SEPS 0.55" in said


def test_every_metric_in_the_tables_is_explained():
    texts = yaml.safe_load((ROOT / "resources/report/metrics.yaml").read_text(encoding="utf-8"))
    shown = glossary([Panel(PANEL, "", tuple(all_built().values()), ())], texts)
    assert [entry["metrics"][0] for entry in shown] == ["mu", "fe", "seps", "h_avg", "judge", "pearson"]
