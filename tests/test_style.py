"""The checks of `make lint`, and that packages are pinned once."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["snakefmt", "--check", "Snakefile", "rules"]],
    ids=lambda command: " ".join(command),
)
def test_style(command):
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakemakes_lint_finds_nothing():
    done = subprocess.run([BIN / "snakemake", "--lint"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "Lints for" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_each_package_is_pinned_once():
    lines = (ROOT / "envs/constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0].lower() for line in lines if line and not line.startswith("#")]
    assert names == sorted(set(names), key=names.index) and len(names) > 50
