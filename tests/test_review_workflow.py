"""Review in the real workflow: sheets are built, a decision file reruns its language and what follows, no other."""

import pandas as pd
import pytest

from project import Project, label
from unlearning.cache import ledger
from unlearning.review.csv_file import write_csv
from unlearning.tables.artifacts import read_table

FOLDER = "results/data/mu2/minimal"
CARD = "results/publish/mu2/minimal/README.md"
DATA = (f"{FOLDER}/four/items.parquet", CARD)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("project"), "config/minimal.yaml")


def computed(project, *targets):
    """What a run of `targets` computes, as labels."""
    folder = project.path / "results/.ledger"
    before = len(ledger.lines(folder))
    project.snakemake(*targets, "--quiet")
    return sorted(label(line["output"]) for line in ledger.lines(folder)[before:])


def sheet(project):
    return pd.read_csv(project.path / FOLDER / "review/th.csv", dtype=str, keep_default_na=False)


def test_a_sheet_is_built_with_the_data(project):
    done = computed(project, *DATA, f"{FOLDER}/review/th.xlsx")
    assert done.count("review th") == 1 and {"translate th", "translate en", "build", "card"} <= set(done)
    pairs = read_table(project.path / FOLDER / "pairs/th.parquet", "pairs")
    assert len(sheet(project)) == -(-len(pairs) // 10) and (sheet(project)["why"] == "sample").all()
    for end in ("xlsx", "json"):
        assert (project.path / FOLDER / f"review/th.{end}").stat().st_size > 1000


def test_adding_a_decision_file_reruns_its_language_and_what_follows(project):
    decided = sheet(project)
    ident = decided["id"].iloc[0]
    write_csv(decided.assign(decision="reject", comment="ไม่ดี").iloc[:1], project.path / "decided.csv")
    (project.path / "config/review/mu2").mkdir(parents=True)
    (project.path / "decided.csv").rename(project.path / "config/review/mu2/th.csv")
    assert computed(project, *DATA) == ["build", "card", "translate th"]
    rejected = read_table(project.path / FOLDER / "rejected/th.parquet", "rejected")
    assert rejected[["id", "check", "reason"]].values.tolist() == [[ident, "review", "rejected by a person: ไม่ดี"]]
    items = read_table(project.path / FOLDER / "four/items.parquet", "items")
    examples = read_table(project.path / FOLDER / "four/examples.parquet", "examples")
    assert ident not in {*items["item_id"], *examples["example_id"]}
    card = (project.path / CARD).read_text(encoding="utf-8")
    assert "| config/review/mu2/th.csv |" in card and "| language | kept | refused | review |" in card


def test_the_next_sheet_carries_the_decision_and_taking_its_place_changes_nothing(project):
    assert computed(project, f"{FOLDER}/review/th.xlsx") == ["review th"]
    again = sheet(project).set_index("id")
    assert again["decision"].tolist().count("reject") == 1
    assert again.loc[again["decision"] == "reject", "why"].item() == "review: rejected by a person: ไม่ดี"
    before = (project.path / FOLDER / "pairs/th.parquet").read_bytes()
    (project.path / FOLDER / "review/th.csv").rename(project.path / "config/review/mu2/th.csv")
    assert "build" not in computed(project, f"{FOLDER}/pairs/th.parquet")
    assert (project.path / FOLDER / "pairs/th.parquet").read_bytes() == before


def test_a_mistake_in_a_decision_file_stops_its_language_with_the_place_and_the_fix(project):
    path = project.path / "config/review/mu2/th.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("reject,", "rejected,", 1), encoding="utf-8")
    done = project.snakemake(f"{FOLDER}/pairs/th.parquet", "--quiet", check=False)
    assert done.returncode == 1
    assert (
        "config/review/mu2/th.csv, row 2, column decision: no decision 'rejected'. Did you mean 'reject'?"
        in done.stderr
    )


def test_a_decision_file_with_a_wrong_name_stops_everything_before_it_runs(project):
    path = project.path / "config/review/mu2/th.csv"
    path.rename(path.with_name("thai.csv"))
    done = project.snakemake("--dry-run", check=False)
    assert done.returncode == 1 and "  - config/review/mu2/thai.csv: name it th.csv\n" in done.stdout


def test_decisions_about_another_overlays_benchmark_stop_nothing_and_are_told_once(project):
    folder = project.path / "config/review"
    (folder / "mu2").rename(folder / "lume")
    done = project.snakemake("--dry-run")
    assert done.stderr.count("warning: config/review/lume: this configuration has no benchmark 'lume', ") == 1
