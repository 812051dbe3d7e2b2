"""What a person sees of a job that fails: its plain message, once, and where the traceback is."""

import os
import subprocess
import sys

import pytest
import yaml

from project import ROOT, Project
from unlearning.cache import ledger, locks

MESSAGE = "mine.csv, line 3: row 1 has no question"
OVERLAY = {
    "experiments": {
        "mu2_small": {"enabled": False},
        "leak_small": {"enabled": False},
        "mine": {"benchmark": "mine", "base_models": ["tiny"], "splits": ["one"], "methods": ["ga"]},
    },
    "benchmarks": {
        "mine": {
            "kind": "files", "source": "own", "splits": {"one": ["drop"]}, "metrics": ["probability"],
            "sets": {
                "drop": {"file": "mine.csv", "rows": [0, 1], "group": "forget"},
                "keep": {"file": "mine.csv", "rows": [1, 4], "group": "retain"},
            },
        },
    },
    "base_models": {
        "tiny": {
            "architecture": {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 64, "vocab_size": 500},
            "base": {"epochs": 0, "lr": 1e-3}, "target": {"epochs": 2, "lr": 1e-3},
        },
    },
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    """A copy of the project with a questions file whose third line lacks its question."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/mine.csv").write_text("question,answer\nWho?,I.\n,You.\nWhere?,Here.\nWhen?,Now.\n")
    overlay = tmp_path / "mine.yaml"
    overlay.write_text(yaml.safe_dump({**OVERLAY, "sources": {"own": str(tmp_path / "own")}}))
    return Project(tmp_path / "project", str(overlay))


@pytest.mark.parametrize("quiet", [[], ["--quiet"]], ids=["default", "quiet"])
def test_a_mistake_in_the_data_is_told_once_near_the_end_and_its_traceback_is_in_the_log(project, quiet):
    done = project.snakemake(*quiet, check=False)
    seen = done.stdout + done.stderr
    assert done.returncode
    assert seen.count(MESSAGE) == 1 and "Traceback" not in seen
    assert any(MESSAGE in line for line in done.stderr.splitlines()[-8:])
    log = "results/logs/data/mine/whole/files.log"
    assert f"(traceback: {log})" in seen
    text = (project.path / log).read_text()
    assert text.count(MESSAGE) == 1 and text.startswith("Traceback")


def test_failures_are_those_since_a_time_each_message_once(tmp_path):
    ledger.record(tmp_path, "base", "model.json", "computed", 0.1)
    ledger.record_failure(tmp_path, "answer", "a.parquet", ValueError("too long; shorten it"), "a.log")
    ledger.record_failure(tmp_path, "answer", "b.parquet", ValueError("too long; shorten it"), "b.log")
    ledger.record_failure(tmp_path, "score", "c.parquet", KeyError("x"), "c.log")
    told = ledger.failures(tmp_path, since=0)
    assert told.splitlines()[::2] == ["answer: too long; shorten it", "score: KeyError: 'x'"]
    assert told.splitlines()[1::2] == ["  (traceback: b.log)", "  (traceback: c.log)"]
    assert ledger.failures(tmp_path, since=ledger.lines(tmp_path)[-1]["time"] + 1) == ""


STEPS = """
include: "{failures}"
rule all:
    input: "last"
rule first:
    input: "given"
    output: "one", "two"
    params: config["changed"]
    shell: "cat given > one; ls room && echo {{params}} > two"
rule last:
    input: "one", "two"
    output: "last"
    shell: "cat {{input}} > {{output}}"
"""


def test_a_job_that_failed_is_done_by_the_next_run_though_what_depends_on_it_is_there(tmp_path):
    """Without rules/failures.smk Snakemake has nothing to do in the third run, whether a value or an input changed."""
    (tmp_path / "Snakefile").write_text(STEPS.format(failures=ROOT / "rules/failures.smk"))

    def run(changed: int, given: str, room: bool) -> bool:
        (tmp_path / "given").write_text(given)
        (tmp_path / "room").touch() if room else (tmp_path / "room").unlink()
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "--config", f"changed={changed}"]
        return not subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    assert run(1, "a", True) and (tmp_path / "last").read_text() == "a1\n"
    assert not run(2, "a", False)
    assert run(2, "a", True) and (tmp_path / "last").read_text() == "a2\n"
    assert not run(2, "b", False)
    assert run(2, "b", True) and (tmp_path / "last").read_text() == "b2\n"


def test_a_second_run_on_the_same_results_is_refused_and_one_after_a_kill_is_not(project, monkeypatch):
    monkeypatch.setenv(locks.RUN, "")  # so that what `hold` sets goes again
    held = locks.hold(project.path / "results")
    done = project.snakemake("results/data/mine/whole/default/items.parquet", check=False)
    assert done.returncode and f"process {os.getpid()}, since" in done.stderr and "Wait until it is done" in done.stderr
    assert "Traceback" not in done.stderr and not (project.path / "results/logs").exists()
    os.close(held)
    assert MESSAGE in project.snakemake(check=False).stderr
