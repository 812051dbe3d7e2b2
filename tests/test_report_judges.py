"""What the report says of judges and language models: agreement, failures, tokens and costs."""

import re

import pandas as pd
import pytest

from report_fakes import identity, mu2_rows, row, write_run
from test_report import make
from unlearning.report.sources import read_usage
from unlearning.report.specs import direction
from unlearning.tables.artifacts import write_table


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty project as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(run: dict) -> list[dict]:
    """A run's scores, with those of a second judge."""
    rows = mu2_rows(run)
    for group, kappa in (("forget", -0.25), ("retain", None)):
        why = None if kappa else "every verdict of both judges is the same: κ is undefined"
        rows += [row(run, "se:llm", 0.25, group),
                 row(run, "kappa", kappa, group, task="llm", note=why),
                 row(run, "kappa_agreement", 0.75, group, task="llm"),
                 row(run, "kappa_answers", 1237.0, group, task="llm", width=None),
                 row(run, "kappa_failed", 3.0, group, task="llm", width=None)]  # fmt: skip
    return rows


def table(page: str, title: str) -> str:
    return re.search(rf"<h4>{title}</h4>(.*?)</section>", page, re.S)[1]


def test_agreement_failures_and_counts_stand_in_one_table(here):
    page = make("report", scores=[write_run(here, judged(identity(method=m))) for m in ("target", "npo_gd")])
    text = table(page, "Agreement of judges")
    assert "Judge llm" in text and "κ, forget" in text and "without verdict, retain" in text
    assert re.search(r">−0\.25\s*<small>", text) and ">1237</td>" in text and ">3</td>" in text
    assert "κ is undefined" in text
    assert "κ, Cohen&#39;s kappa" in page  # explained
    csv = (here / "report/tables/mu2/small-s1-p5/judges.csv").read_text(encoding="utf-8")
    assert "kappa.forget.all.llm" in csv and "-0.25" in csv


def test_one_judge_has_no_table_of_agreement_and_no_model_no_costs(here):
    page = make("report", scores=[write_run(here, mu2_rows(identity(method="target")))])
    assert "Agreement of judges" not in page and "language models cost" not in page
    assert not (here / "report/tables/mu2/small-s1-p5/judges.csv").exists()


def test_a_second_judges_metric_is_better_the_same_way():
    assert direction("se:llm", "forget") == direction("se", "forget") == "lower"
    assert direction("kappa", "forget") == "none"


def usage(path, cost: float | None = 0.5, role="judge", model="m", prompts=10) -> str:
    made = {"role": role, "backend": "openai" if model else "offline", "model": model, "prompts": prompts,
            "asked": 12, "from_store": 3, "input_tokens": 3_000_000_000, "output_tokens": 200, "cost": cost,
            "failed": 1}  # fmt: skip
    write_table([made], path, "usage")
    return str(path)


def test_usage_is_added_up_by_role_backend_and_model(here):
    paths = [usage(here / "a.parquet"), usage(here / "b.parquet", 0.25), usage(here / "c.parquet", None, model=None),
             usage(here / "d.parquet", None, role="refiner")]  # fmt: skip
    offline, served, refiner = read_usage(paths[::-1])
    assert served == {
        "role": "judge", "backend": "openai", "model": "m", "prompts": 20, "asked": 24, "from_store": 6,
        "input_tokens": 6_000_000_000, "output_tokens": 400, "failed": 2, "cost": 0.75,
    }  # fmt: skip
    assert offline["model"] is None and offline["cost"] is None and refiner["role"] == "refiner"
    mixed = read_usage([usage(here / "e.parquet"), usage(here / "f.parquet", None)])
    assert mixed[0]["cost"] is None  # unknown plus known is unknown


def test_nothing_used_is_nothing_shown(here):
    empty = pd.DataFrame(columns=["role", "backend", "model", "prompts", "asked", "from_store", "input_tokens",
                                  "output_tokens", "cost", "failed"])  # fmt: skip
    write_table(empty, here / "none.parquet", "usage")
    assert read_usage([]) == read_usage([str(here / "none.parquet")]) == []


def test_costs_stand_on_the_page_by_role(here):
    scores = [write_run(here, mu2_rows(identity(method="target")))]
    page = make("report", scores=scores, usage=[usage(here / "a.parquet"), usage(here / "b.parquet", None, "refiner")])
    section = re.search(r'<section id="costs">(.*?)</section>', page, re.S)[1]
    assert 'href="#costs"' in page and "What the language models cost" in section
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", section, re.S)
    assert len(rows) == 2 and ">0.5000</td>" in rows[0] and ">3000000000</td>" in rows[0] and ">–</td>" in rows[1]
