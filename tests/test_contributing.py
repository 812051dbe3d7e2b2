"""CONTRIBUTING.md's worked example: three blocks, and a new forget term trains, is attacked, scored and reported."""

import re
import subprocess
import sys

import pandas as pd
import pytest

from project import ROOT, Project

BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.xdist_group("workflow")
def test_adding_a_forget_term_takes_its_module_its_name_in_the_configuration_and_its_test(tmp_path):
    project = Project(tmp_path, "config/minimal.yaml", "config/wga.yaml")
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [name for name, _ in blocks] == ["workflow/unlearning/forget/wga.py", "config/wga.yaml", "tests/test_wga.py"]
    for name, text in blocks:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        assert not (tmp_path / name).exists(), f"{name} exists already: the example must add a new one"
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/test_wga.py", "-p", "no:cacheprovider"],
        cwd=tmp_path, env={"PYTHONPATH": "workflow", "PATH": ""}, check=True,
    )  # fmt: skip
    wanted = "results/runs/mu2/tiny/four/one/wga_gd/s0/e2/none/scores.parquet"
    project.snakemake("--quiet")
    scores = pd.read_parquet(tmp_path / wanted)
    assert set(scores["method"]) == {"wga_gd"} and scores["value"].notna().any()
