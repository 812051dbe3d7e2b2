"""The acceptance list on the papers' grids, and on two runs at once."""

import re
import subprocess
import time
from pathlib import Path

import psutil

MINIMAL = "CONFIG=config/minimal.yaml"


def grids(show, benchmark, folder: Path) -> None:
    """The dry run of all papers' grids together, and how it grows."""
    benchmark(show, folder, "dry_run", 3)


def beside(show, make, folder: Path) -> None:
    """The minimal overlay, and a second run of it on the same results."""
    first = subprocess.Popen(["make", "run", MINIMAL], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and not (folder / "results/.ledger/jobs.jsonl").exists():
        time.sleep(0.2)
    _, _, said = make(folder, "run", MINIMAL, may_fail=True)
    holder = re.search(r"in use by a run of .+ on .+ \(process (\d+), .+two runs at once", said)
    refused = bool(holder) and psutil.Process(int(holder[1])) in psutil.Process(first.pid).children(recursive=True)
    show("a second run beside the first is refused, with the first's process", refused, "True", refused)
    code = first.wait()
    show("the first run: exit status", code, "= 0", code == 0)
    _, _, said = make(folder, "run", MINIMAL)
    show("nothing is left to do", "Nothing to be done" in said, "True", "Nothing to be done" in said)
