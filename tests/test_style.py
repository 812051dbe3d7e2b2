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


def pins(path):
    lines = [line.partition(";")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    parts = [line.partition("==") for line in lines if "==" in line and not line.startswith("#")]
    return [(name.partition("[")[0].lower(), version) for name, _, version in parts]


def test_each_package_is_pinned_once():
    names = [name for name, _ in pins(ROOT / "envs/constraints.txt")]
    assert len(names) == len(set(names)) > 50


@pytest.mark.parametrize("path", sorted((ROOT / "envs").glob("*.txt")), ids=lambda path: path.name)
def test_what_an_environment_asks_for_is_what_the_constraints_allow(path):
    """pip refuses the two files together otherwise, and only on a machine that has to install them."""
    constraints = dict(pins(ROOT / "envs/constraints.txt"))
    assert {name: version for name, version in pins(path) if constraints.get(name, version) != version} == {}
