"""The acceptance list on building data: twelve languages, both settings, language models, and a default no slower."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

TWELVE = ["en", "de", "id", "af", "es", "lv", "th", "mk", "zh", "ko", "ur", "el"]
BEFORE = "c12f044"  # the commit before language models came, whose default run is the measure
SETTINGS = """
experiments:
  mu2_minimal: {enabled: false}
  both: {benchmark: mu2, base_models: [tiny], settings: [s1, s2], splits: [one], methods: [npo_gd]}
benchmarks:
  mu2:
    settings:
      s1: {train: [en, de, id, af], holdout: [es, lv, th, mk]}
      s2: {train: [zh, ko, ur, el], holdout: [es, lv, th, mk]}
"""


def settings(show, make, folder: Path) -> None:
    """Settings 1 and 2 feed training and scoring: a minimal run over all twelve languages."""
    (folder / "config/both.yaml").write_text(SETTINGS, encoding="utf-8")
    make(folder, "run", "CONFIG=config/minimal.yaml config/both.yaml")
    scores = pd.read_parquet(folder / "results/report/scores.parquet")
    found = scores[(scores["metric"] == "ps") & (scores["group"] == "retain") & scores["value"].notna()]
    for setting, languages in (("s1", TWELVE[:8]), ("s2", [*TWELVE[8:], *TWELVE[4:8]])):
        rows = found[(found["setting"] == setting) & found["language"].isin(languages)]
        for method in ("target", "retrain", "npo_gd"):
            asked = rows.loc[rows["method"] == method, "language"].nunique()
            show(f"setting {setting}: languages in which {method} has a PS", asked, "= 8", asked == 8)


def twelve(show, folder: Path) -> None:
    """60,000 pairs offline with all checks; memory does not grow with the number of languages."""
    seconds, peak = _built(folder, TWELVE)
    _, least = _built(folder, TWELVE[:4])
    show("μ² data, 250 x 20 x 12 rows with all checks, seconds", seconds, "< 120", seconds < 120)
    show("the same, peak MiB / that of four languages", peak / least, "< 1.5", peak / least < 1.5)


def _built(folder: Path, languages: list[str]) -> tuple[float, float]:
    command = [sys.executable, "benchmarks/mu2_build.py", "--languages", *languages]
    environment = os.environ | {"PYTHONPATH": "workflow"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=True)
    found = re.search(r"all checks: ([\d.]+) s, peak ([\d.]+) MiB", done.stdout)
    return float(found.group(1)), float(found.group(2))


def speed(show, make, before: Path, after: Path) -> None:
    """The default run against the one before language models came, one after the other in this run."""
    subprocess.run(["git", "checkout", "--quiet", BEFORE], cwd=before, check=True)
    seconds = []
    for folder in (before, after):
        started = time.perf_counter()
        make(folder, "run")
        seconds.append(time.perf_counter() - started)
    show(f"make run / that of {BEFORE} ({seconds[0]:.0f} s)", seconds[1] / seconds[0], "<= 1.1",
         seconds[1] <= 1.1 * seconds[0])  # fmt: skip


def llm(show, make, folder: Path) -> None:
    """Every section of make test-llm; it prints its own figures and bounds."""
    _, _, said = make(folder, "test-llm", may_fail=True)
    verdicts = [line for line in said.splitlines() if line.startswith(("met", "MISSED"))]
    print(*verdicts, sep="\n")
    met = sum(line.startswith("met") for line in verdicts)
    if not verdicts:
        print(said[-5000:])
    show("make test-llm", f"{met} of {len(verdicts)}", "all met", 0 < met == len(verdicts))
