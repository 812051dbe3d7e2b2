"""The acceptance list on two runs at once, answering in shards, models that are dropped, and the papers' grids."""

import re
import subprocess
import time
from pathlib import Path

import psutil

from unlearning.cache import ledger
from unlearning.tables.artifacts import sha256_file

MINIMAL = "CONFIG=config/minimal.yaml"
SHARDS = 3
ASKED = ("answers", "likelihoods")


def dry(show, benchmark, folder: Path) -> None:
    """The dry run of all papers' grids together, and how it grows."""
    benchmark(show, folder, "dry_run", 3)


def shards(show, make, folder: Path) -> None:
    """The minimal overlay answered in shards, a second run beside it, then in one job; then models are dropped."""
    overlay = folder / "config/mine.yaml"
    overlay.write_text(f"shards: {{answer: {SHARDS}}}\n", encoding="utf-8")
    mine = f"{MINIMAL} config/mine.yaml"
    first = subprocess.Popen(["make", "run", mine], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and not ledger.lines(folder / "results/.ledger"):
        time.sleep(0.2)
    _, _, said = make(folder, "run", mine, may_fail=True)
    holder = re.search(r"in use by a run of .+ on .+ \(process (\d+), .+two runs at once", said)
    refused = bool(holder) and psutil.Process(int(holder[1])) in psutil.Process(first.pid).children(recursive=True)
    show("a second run beside the first is refused, with the first's process", refused, "True", refused)
    code = first.wait()
    show(f"make run with answering in {SHARDS} shards, beside which a second was tried: exit status", code, "= 0",
         code == 0)  # fmt: skip
    before, jobs = _contents(folder), len(ledger.lines(folder / "results/.ledger"))
    overlay.write_text("shards: {answer: 1}\n", encoding="utf-8")
    make(folder, "run", mine)
    made = [line for line in ledger.lines(folder / "results/.ledger")[jobs:] if Path(line["output"]).stem in ASKED]
    restored = sum(line["action"] == "restored" for line in made)
    show("then in one job: jobs that ask a model, restored", restored, f"= {len(made)}, > 0", restored == len(made) > 0)
    overlay.write_text("keep_models: selected\n", encoding="utf-8")
    jobs = len(ledger.lines(folder / "results/.ledger"))
    make(folder, "run", mine)
    made = [line["rule"] for line in ledger.lines(folder / "results/.ledger")[jobs:]]
    show(
        f"keep_models: selected: jobs ({', '.join(made)})", len(made), "= 2", sorted(made) == ["drop_models", "report"]
    )
    weights = sorted(path.parent.name for path in (folder / "results/runs").rglob("weights"))
    show("weights left of the attacked model; of all models", len(weights), "= 5", weights == ["s0"] * 5)
    after = _contents(folder)
    same = [path for path in before if after.get(path) == before[path]]
    show("answers, likelihoods, scores as they were in shards", len(same), f"= {len(before)}", len(same) == len(before))
    seconds, _, said = make(folder, "run", mine)
    show("nothing is left to do", "Nothing to be done" in said, "True", "Nothing to be done" in said)
    show("a run that has nothing to do, seconds", seconds, "< 10", seconds < 10)


def _contents(folder: Path) -> dict[str, str]:
    """sha256 of every table of answers, likelihoods and scores of the runs."""
    runs = folder / "results/runs"
    found = [path for name in (*ASKED, "scores") for path in runs.rglob(f"{name}.parquet")]
    return {str(path.relative_to(runs)): sha256_file(path) for path in found}
