"""What the report says of searches among candidates, and of scores by epoch."""

import csv
import json
import re

import pandas as pd
import pytest

from report_fakes import identity, row, write_run
from test_report import make
from unlearning.report import figures, searches
from unlearning.report.kinds import Column, Epochs
from unlearning.report.sources import read_scores, read_selections
from unlearning.report.specs import FIGURES
from unlearning.report.tables import averaged
from unlearning.tables.artifacts import write_table, write_text

PANEL = {"benchmark": "mu2", "base_model": "small", "setting": "s1", "split": "p5"}
FIGURE_NAMES = ("retain PS", "share of the target's", "forget PS")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty project as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def candidate(number, lr, numbers, eligible=True, chosen=False, note=None, seed=0, method="npo_gd") -> dict:
    """One row of a table `selection`."""
    figures_ = [{"name": n, "value": v} for n, v in zip(FIGURE_NAMES, numbers, strict=True)]
    return {**PANEL, "method": method, "seed": seed, "criterion": "mu2_retain_ps", "asks": "keep 90 %",
            "candidate": number, "changed": json.dumps({"lr": lr}), "epochs": 20, "figures": figures_,
            "eligible": eligible, "chosen": chosen, "note": note}  # fmt: skip


MET = [
    candidate(1, 1e-5, (0.95, 0.98, 0.412)),
    candidate(2, 2e-4, (0.9, 0.928, 0.003), chosen=True),
    candidate(3, 1e-3, (0.5, None, 0.0), eligible=False, note="retain PS 0.5 is too low <b>"),
]
UNMET = [candidate(1, 1e-3, (0.3, 0.31, 0.0), False, True, "too low; the least far off", seed=1)]


def written(here, *rows) -> list[str]:
    """The tables of selections of some methods and seeds."""
    paths = []
    for i, table in enumerate(rows):
        write_table(table, here / f"{i}/selection.parquet", "selection")
        paths.append(f"{i}/selection.parquet")
    return paths


def test_the_page_shows_every_candidate_its_figures_and_why(here):
    scores = [write_run(here, [row(identity(method="npo_gd"), "ps", 0.1)])]
    page = make("report", scores=scores, selections=written(here, MET, UNMET))
    text = re.search(r"<h4>How the model of npo_gd was chosen</h4>(.*?)</section>", page, re.S)[1]
    assert "Criterion mu2_retain_ps: keep 90 %." in text
    assert re.findall(r"<button type=\"button\">([^<]+)<", text) == [
        "Candidate", "Seed", "lr", "retain PS", "share of the target&#39;s", "forget PS", "Outcome",
    ]  # fmt: skip
    assert (
        "<strong>npo_gd~2</strong>" in text and "<strong>npo_gd~1</strong>" in text and "<strong>npo_gd~3" not in text
    )
    assert ">0.0002</td>" in text and ">0.003</td>" in text and 'data-sort="">–</td>' in text
    assert "not eligible: retain PS 0.5 is too low &lt;b&gt;" in text and ">chosen, eligible</td>" in text
    said = "No candidate of npo_gd meets its criterion (seed 1): the least far off stands for it."
    assert said in page.split("<nav")[0]  # among what was found
    lines = list(csv.DictReader((here / "report/tables/mu2/small-s1-p5/selection.csv").open(encoding="utf-8")))
    assert [(l["seed"], l["candidate"], l["lr"], l["chosen"]) for l in lines] == [
        ("0", "1", "1e-05", "False"), ("0", "2", "0.0002", "True"), ("0", "3", "0.001", "False"),
        ("1", "1", "0.001", "True"),
    ]  # fmt: skip
    assert lines[2]["share of the target's"] == "" and lines[2]["forget PS"] == "0.0"


def test_a_search_belongs_to_its_panel_and_method(here):
    other = [{**candidate(1, 1e-4, (1.0, 1.0, 0.5), chosen=True), "split": "p1"}]
    rows = read_selections(written(here, MET, [candidate(1, 3e-4, (1.0, 1.0, 0.2), chosen=True, method="ga")], other))
    found = searches.searches(PANEL, rows)
    assert [(s.method, len(s.candidates)) for s in found] == [("ga", 1), ("npo_gd", 3)]
    assert searches.unmet(found) == []
    assert searches.searches(PANEL, read_selections([])) == ()


def by_epoch(*runs) -> pd.DataFrame:
    """Averaged rows by epoch from (method, epoch, forget PS)."""
    rows = [row(identity(method=m, epoch=e), "ps", value, language="train") for m, e, value in runs]
    return averaged(pd.DataFrame(rows).assign(collapsed=False), by_epoch=True)


def test_scores_by_epoch_start_at_the_target(tmp_path, monkeypatch):
    spec = Epochs("epochs", "Scores by epoch", (Column("PS forget", "ps", "forget", "train"),))
    drawn = {}
    monkeypatch.setattr(
        "matplotlib.axes.Axes.plot",
        lambda self, x, y, label=None, **look: drawn.update({label: (list(x), list(y))}) or [],
    )
    rows = by_epoch(("target", 12, 0.9), ("retrain", 8, 0.1), ("npo_gd", 2, 0.3), ("npo_gd", 1, 0.6), ("ga", 3, 0.0))
    assert figures.epochs(spec, rows, tmp_path / "epochs")
    assert drawn == {"npo_gd": ([0, 1, 2], [0.9, 0.6, 0.3])}  # one epoch makes no line
    assert (tmp_path / "epochs.svg").exists() and (tmp_path / "epochs.png").exists()


def test_without_several_epochs_there_is_no_figure_over_them(tmp_path):
    spec = next(s for s in FIGURES["mu2"] if isinstance(s, Epochs))
    assert not figures.epochs(spec, by_epoch(("target", 12, 0.9), ("npo_gd", 2, 0.3)), tmp_path / "epochs")


def test_tables_are_of_the_last_epoch_and_the_figure_of_all(here):
    runs = [("target", 12, 0.9), ("npo_gd", 1, 0.61), ("npo_gd", 3, 0.07)]
    scores = [write_run(here, [row(identity(method=m, epoch=e), "ps", v, language="train")]) for m, e, v in runs]
    page = make("report", scores=scores)
    assert "Scores by epoch" in page
    assert "was chosen" not in page and not (here / "report/tables/mu2/small-s1-p5/selection.csv").exists()
    table = (here / "report/tables/mu2/small-s1-p5/results.md").read_text(encoding="utf-8")
    assert "0.07" in table and "0.61" not in table


def test_a_run_that_collapsed_later_is_not_marked_in_its_epochs_before(here):
    paths = [write_run(here, [row(identity(method="ga", epoch=e), "ps", 0.5)]) for e in (1, 3)]
    record = {"kind": "weights", "trained": {"collapsed": False}}
    write_text(here / paths[0].replace("none/scores.parquet", "model.json"), json.dumps(record))
    found = read_scores(paths).set_index("epoch")["collapsed"]
    assert not found[1] and found[3]
