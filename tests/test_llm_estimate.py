"""`make estimate`: what a run's language models would take, without asking anyone and without a key."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OVERLAY = """
backends: {served: {kind: openai, model: m, key_env: NO_SUCH_KEY}}
roles: {translator: served, judge: served}
prices: {m: {input: 1.0, output: 2.0}}
benchmarks: {mu2: {route: llm, judge: llm}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in ("config", "rules", "resources", "workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "paid.yaml").write_text(OVERLAY)
    return folder


def estimated(project: Path, *arguments: str):
    command = [sys.executable, "workflow/scripts/estimate.py", *arguments]
    env = os.environ | {"PYTHONPATH": "workflow"}
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)


def test_what_can_be_counted_is_counted_and_what_cannot_is_named(project):
    done = estimated(project, "--configfile", "paid.yaml")
    assert done.returncode == 0, done.stderr
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("translator"))
    replies, read, written, usd = (float(cell.replace(",", "")) for cell in row[3:])
    assert row[1:3] == ["openai", "m"] and replies > 100 and written == replies * 256
    assert usd == pytest.approx((read * 1.0 + written * 2.0) / 1e6, abs=1e-4)
    assert "Not counted, as inputs are not there yet: " in done.stdout
    assert " judge_llm" in done.stdout and " mu2_translate_llm" in done.stdout
    made = {path.parts[len(project.parts) + 1] for path in (project / "results").rglob("*") if path.is_file()}
    assert made <= {".llm"}  # nothing is built, nothing reserved
    assert not (project / "results/.llm/spending.sqlite").exists()


def test_a_run_without_language_models_asks_nothing(project):
    done = estimated(project)
    assert done.returncode == 0 and "Nothing would be asked" in done.stdout


def test_a_wrong_configuration_is_told(project):
    done = estimated(project, "--configfile", "paid.yaml", "--config", "roles={judge: servd}")
    assert done.returncode == 1 and "roles.judge: no backend 'servd'. Did you mean 'served'" in done.stderr
