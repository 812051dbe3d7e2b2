"""How long the dry run of the papers' grids takes, and how it grows with the number of jobs.

    python benchmarks/dry_run.py [--grow config/paper/umu.yaml]

Asks `make dry`'s script for all of config/paper together, then for one of them with 1, 2, 4 and 8 seeds. Seconds are
CPU seconds, which other work on the machine changes little; those by the clock are printed beside them. Growth is held
against a straight line by the seconds a further job takes: from 4 seeds to 8, over those from 1 to 4 (1 is linear,
2.4 quadratic).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from measured import show

ROOT = Path(__file__).resolve().parents[1]
SECONDS, GROWTH = 60, 1.5  # bounds: CPU seconds of all grids together; seconds a further job, late over early


def dry(overlays: list[str]) -> tuple[int, float]:
    """Jobs of the overlays' dry run from nothing, and its CPU seconds. RuntimeError where it fails."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, str(ROOT / "workflow/scripts/dry.py"), "--snakefile", str(ROOT / "Snakefile")]
        command += ["--workflow-profile", str(ROOT / "profiles/default"), "--directory", empty]
        (Path(empty) / "config").symlink_to(ROOT / "config")
        (Path(empty) / "resources").symlink_to(ROOT / "resources")
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [*command, "--configfile", *overlays], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    jobs = int(done.stdout.split("\nall ")[1].split()[0])
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{jobs:6} jobs  {took:6.1f} CPU s  {clock:6.1f} s by the clock", flush=True)
    return jobs, took


def seeded(overlay: str, n: int, folder: str) -> list[str]:
    """The overlay and one that gives each of its experiments `n` seeds."""
    experiments = yaml.safe_load(Path(overlay).read_text(encoding="utf-8"))["experiments"]
    path = Path(folder) / f"seeds{n}.json"
    path.write_text(json.dumps({"experiments": {name: {"seeds": list(range(n))} for name in experiments}}))
    return [overlay, str(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grow", default=str(ROOT / "config/paper/umu.yaml"), help="the overlay given more seeds")
    given = parser.parse_args()
    jobs, took = dry(sorted(str(path) for path in (ROOT / "config/paper").glob("*.yaml")))
    with tempfile.TemporaryDirectory() as folder:
        points = [dry(seeded(given.grow, n, folder)) for n in (1, 2, 4, 8)]
    one, _, four, eight = points
    early, late = ((b[1] - a[1]) / (b[0] - a[0]) for a, b in ((one, four), (four, eight)))
    print(f"seconds a further job: {early:.4f}, then {late:.4f}")
    met = [
        show("jobs of all papers' grids", jobs, "> 0", jobs > 0),
        show("their dry run, CPU seconds", took, f"< {SECONDS}", took < SECONDS),
        show("seconds a further job, late over early", late / early, f"< {GROWTH}", late < GROWTH * early),
    ]
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
