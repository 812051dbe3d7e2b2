"""The acceptance list on unlearning methods: how fast the training loop is, and what a reference model costs."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import yaml


def speed(show, folder: Path) -> None:
    """The loop against a bare one, and stored reference log-probabilities against a reference model in memory."""
    benchmark(show, folder, "train_loop", 4)


def memory(show, folder: Path) -> None:
    """Peak memory of two steps on a model of more than 50 M parameters, with and without a reference model."""
    benchmark(show, folder, "reference_memory", 3)


def benchmark(show, folder: Path, name: str, lines: int, *arguments: str) -> None:
    """Run benchmarks/<name>.py, which holds its figures against their bounds itself, and show its `lines` verdicts."""
    command, environment = (
        [sys.executable, f"benchmarks/{name}.py", *arguments],
        os.environ | {"PYTHONPATH": "workflow"},
    )
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    print(done.stdout)
    verdicts = [line for line in done.stdout.splitlines() if line.startswith(("met", "MISSED"))]
    if len(verdicts) != lines:
        sys.exit(
            f"benchmarks/{name}.py gave {len(verdicts)} of {lines} verdicts:\n{done.stdout}\n{done.stderr[-5000:]}"
        )
    for line in verdicts:
        verdict, what, figure, *_, bound = re.split(" {2,}", line)
        show(what, float(figure), bound, verdict == "met")


def construction(show, folder: Path, name: str, lines: int, most: int) -> None:
    """`benchmark` of a construction at full size, which the independent check reads too: in under `most` seconds."""
    started = time.perf_counter()
    benchmark(show, folder, name, lines)
    seconds = time.perf_counter() - started
    show("construction at full size with its checks, seconds", seconds, f"< {most}", seconds < most)


def every(show, make, scores, folder: Path) -> None:
    """Every method of config/all_methods.yaml, trained and scored from nothing, and what each does to PS."""
    seconds, _, _ = make(folder, "run", "CONFIG=config/all_methods.yaml")
    show("make run CONFIG=config/all_methods.yaml, seconds", seconds, "< 1800", seconds < 1800)
    s = scores(folder)
    listed = yaml.safe_load((folder / "config/all_methods.yaml").read_text(encoding="utf-8"))
    methods = listed["experiments"]["mu2_small"]["methods"]
    show("methods scored", len(methods), ">= 28", len(methods) >= 28)
    kept = {method: s(method, "ps", "retain") for method in methods}
    for method in methods:
        ratio = s(method, "ps") / s("target", "ps")
        show(f"{method}: forget PS / target's (retain PS {kept[method]:.3f})", ratio, "< 0.97", ratio < 0.97)
    for method in methods:
        bare = method.rpartition("_")[0]
        if bare in methods and method.endswith(("_gd", "_kl")):
            what = f"{method}: retain PS; {bare} alone {kept[bare]:.3f}"
            show(what, kept[method], f"> {bare}'s", kept[method] > kept[bare])


def proofs(show, folder: Path, of: str, shared: Path) -> None:
    """The tests in the files named after `of`, with the public data in `shared`: all pass, none is left out."""
    names = sorted(str(path.relative_to(folder)) for path in (folder / "tests").glob(f"test_*{of}*.py"))
    environment = os.environ | {"UNLEARNING_SHARED": str(shared)}
    done = subprocess.run([sys.executable, "-m", "pytest", *names], cwd=folder, capture_output=True, text=True,
                          env=environment)  # fmt: skip
    said = done.stdout.strip().splitlines()[-1].strip("= ")
    show(f"{len(names)} files of tests of {of}: {said}", done.returncode, "= 0, none skipped",
         done.returncode == 0 and "skipped" not in said)  # fmt: skip
