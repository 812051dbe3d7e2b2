"""The acceptance list, run on fresh clones: prints each figure beside its bound and fails on a miss. `make accept`

Options: names of sections to run only those (see SECTIONS). TOFU's files are read from
$TOFU or ../shared/data/tofu; where they are absent that section says so and counts as a miss.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import psutil
import pyarrow.parquet as pq
import yaml

import accept_cluster
import accept_leak
import accept_llm
import accept_lume
import accept_methods
import accept_seps
import accept_umu

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = (
    "default",
    "tofu",
    "build",
    "twice",
    "tests",
    "twelve",
    "settings",
    "llm",
    "speed",
    "loop",
    "methods",
    "leak",
    "lume",
    "seps",
    "umu",
    "cluster",
)
TRAIN = ["en", "de", "id", "af"]
EVERY = [*TRAIN, "es", "lv", "th", "mk"]
results: list[bool] = []


def show(what: str, figure, bound: str, met: bool) -> None:
    """Print one line of the list and keep its verdict."""
    figure = f"{figure:.4g}" if isinstance(figure, float) else str(figure)
    print(f"{'met   ' if met else 'MISSED'}  {what:<78} {figure:>12}   {bound}", flush=True)
    results.append(bool(met))


def clone(folder: Path) -> Path:
    """A fresh clone of the committed state that shares this environment."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    return folder


class Peak(threading.Thread):
    """Peak resident memory of this process' children, summed, by sampling."""

    def __init__(self):
        super().__init__(daemon=True)
        self.mib, self.running = 0.0, True

    def run(self):
        while self.running:
            total = 0
            for child in psutil.Process().children(recursive=True):
                try:
                    total += child.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.mib = max(self.mib, total / 2**20)
            time.sleep(0.3)


def environment() -> dict[str, str]:
    """This process' own, without the SECTIONS that this list was called with: they are no other list's."""
    ours = ("SECTIONS", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
    return {name: value for name, value in os.environ.items() if name not in ours}


def make(folder: Path, *arguments: str, may_fail: bool = False) -> tuple[float, float, str]:
    """Run make in `folder`: seconds, peak MiB, output. Stops the list when it fails, unless it `may_fail`."""
    peak, started = Peak(), time.perf_counter()
    peak.start()
    command = ["make", "--no-print-directory", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment())
    peak.running = False
    if done.returncode and not may_fail:
        sys.exit(f"make {' '.join(arguments)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}")
    return time.perf_counter() - started, peak.mib, done.stdout + done.stderr


class Scores:
    """Look scores up by what they are about."""

    def __init__(self, folder: Path):
        self.table = pd.read_parquet(folder / "results/report/scores.parquet")

    def __call__(self, method, metric, group="forget", language="train", task="all", benchmark="mu2", column="value"):
        wanted = {"benchmark": benchmark, "method": method, "metric": metric, "group": group, "language": language}
        wanted |= {"task": task, "attack": "none"}
        rows = self.table
        for name, value in wanted.items():
            rows = rows[rows[name] == value]
        assert len(rows) == 1, f"{len(rows)} rows for {wanted}"
        return float(rows[column].iloc[0])


def default(folder: Path) -> None:
    """The default run and its scores."""
    seconds, mib, _ = make(folder, "run", "ONLY=mu2")
    show("make run ONLY=mu2, seconds", seconds, "< 360", seconds < 360)
    show("make run ONLY=mu2, peak MiB of all processes", mib, "< 4096", mib < 4096)
    more, mib, _ = make(folder, "run")
    show("make run, all benchmarks, seconds with those", seconds + more, "< 1200", seconds + more < 1200)
    show("make run, peak MiB of all processes", mib, "< 4096", mib < 4096)
    seconds, _, said = make(folder, "run")
    show("second make run, seconds", seconds, "< 10", seconds < 10)
    show(
        "second make run says that nothing is to be done",
        "Nothing to be done" in said,
        "True",
        "Nothing to be done" in said,
    )
    s = Scores(folder)
    figure = min(s("target", "se", group, "train") for group in ("forget", "retain"))
    show("target: SE in training languages, lower of forget and retain", figure, ">= 0.95", figure >= 0.95)
    show("target: forget PS, training languages", s("target", "ps"), ">= 0.9", s("target", "ps") >= 0.9)
    figure = min(s("retrain", "ps", "retain", language) for language in EVERY)
    show("retrained: lowest retain PS of the 8 languages", figure, ">= 0.9", figure >= 0.9)
    chance = mean_chance(folder)
    for language in ("train", "holdout"):
        low, high = (s("retrain", "se", language=language, column=c) for c in ("ci_low", "ci_high"))
        met = low <= chance <= high
        show(
            f"retrained: forget SE, {language}, interval holds chance {chance:.3f}",
            f"{low:.3f}-{high:.3f}",
            "holds it",
            met,
        )
    ratio = s("target", "se", language="holdout") / max(s("retrain", "se", language="holdout"), 1e-9)
    show("hold-out languages: SE of the target / of the retrained", ratio, ">= 2", ratio >= 2)
    ratio = s("ga", "ps") / s("target", "ps")
    show("GA: forget PS / target's", ratio, "< 0.1", ratio < 0.1)
    ratio = s("npo_gd", "ps") / s("target", "ps")
    show("NPO+gd: forget PS / target's", ratio, "<= 0.5", ratio <= 0.5)
    ratio = s("npo_gd", "ps", "retain") / s("target", "ps", "retain")
    show("NPO+gd: retain PS / target's", ratio, ">= 0.8", ratio >= 0.8)
    figure = s("retrain", "kss_prob_roc")
    show("retrained: raw KSS (ROC, prob), training languages", figure, ">= 0.95", figure >= 0.95)
    figure = s("target", "kss_prob_roc")
    show("target: raw KSS (ROC, prob), training languages", figure, "0.35-0.65", 0.35 <= figure <= 0.65)
    contract(folder)
    computed(s)
    accept_leak.default(show, Scores, folder)


def computed(s: Scores) -> None:
    """Each metric is a number for the target, the retrained and at least one unlearned model (no attack)."""
    rows = s.table[(s.table["benchmark"] == "mu2") & (s.table["attack"] == "none") & s.table["value"].notna()]
    missing = []
    for metric in s.table.loc[s.table["benchmark"] == "mu2", "metric"].unique():
        models = set(rows.loc[rows["metric"] == metric, "method"])
        kinds = {"target", "retrain"} - models | (set() if models - {"target", "retrain"} else {"unlearned"})
        missing += [(metric, kind) for kind in sorted(kinds)]
    known = [("kps", "target")]  # the target has forgotten nothing, so nothing can persist
    show("metrics without a number (kps of the target has none)", len(missing), "= 1", missing == known)


def mean_chance(folder: Path) -> float:
    """Mean of 1/|pool| over the attributes asked about."""
    pools = yaml.safe_load((folder / "resources/mu2/pools.yaml").read_text(encoding="utf-8"))["attributes"]
    asked = pd.read_parquet(next((folder / "results/data/mu2").glob("*/profiles.parquet")))["attribute"].unique()
    return sum(1 / len(pools[attribute]["values"]) for attribute in asked) / len(asked)


def contract(folder: Path) -> None:
    """scores.parquet follows its contract: columns, no NaN, nulls with notes, every score file the same."""
    sys.path.insert(0, str(folder / "workflow"))
    from unlearning.tables.artifacts import check

    files = [folder / "results/report/scores.parquet", *sorted((folder / "results/runs").rglob("scores.parquet"))]
    broken = []
    for file in files:
        try:
            check(pq.read_table(file), "scores")
        except ValueError as error:
            broken.append(f"{file}: {error}")
    show(
        f"score tables that follow the contract, of {len(files)}",
        len(files) - len(broken),
        f"= {len(files)}",
        not broken,
    )
    for line in broken:
        print("        ", line)


def tofu(folder: Path) -> None:
    """TOFU's files through the same rules."""
    data = Path(os.environ.get("TOFU", ROOT.parent / "shared/data/tofu"))
    if not data.is_dir():
        show("TOFU files end to end (no files here)", "absent", "present", False)
        return
    seconds, _, _ = make(folder, "run", "CONFIG=config/tofu_files.yaml", f"TOFU={data}")
    show("make run with TOFU's files (after the default), seconds", seconds, "< 1500", seconds < 1500)
    s = Scores(folder)
    benchmarks = sorted(s.table["benchmark"].unique())
    show("benchmarks in the report", "+".join(benchmarks), "leak+mu2+tofu", benchmarks == ["leak", "mu2", "tofu"])
    about = {"benchmark": "tofu", "language": "all"}
    parts = s.table[
        (s.table["metric"] == "model_utility") & (s.table["task"] != "all") & (s.table["method"] == "target")
    ]
    show(
        "model utility's parts shown for the target",
        len(parts),
        "= 9",
        len(parts) == 9 and parts["value"].notna().all(),
    )
    target = s("target", "model_utility", "all", **about)
    unlearned = {m: s(m, "model_utility", "all", **about) for m in ("ga_gd", "npo_gd")}
    show(
        f"target's model utility; unlearned {max(unlearned.values()):.4f}",
        target,
        ">= theirs",
        target >= max(unlearned.values()),
    )
    show("forget quality of the retrained model against itself", s("retrain", "forget_quality", **about), "= 1",
         s("retrain", "forget_quality", **about) == 1)  # fmt: skip
    figure = s("target", "forget_quality", **about)
    show("forget quality of the target", figure, "< 0.05", figure < 0.05)


def build(folder: Path) -> None:
    """Full-size construction."""
    done = subprocess.run([sys.executable, "benchmarks/mu2_build.py"], cwd=folder, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": "workflow"}, check=True)  # fmt: skip
    found = re.search(r"all checks: ([\d.]+) s, peak ([\d.]+) MiB", done.stdout)
    seconds, mib = float(found.group(1)), float(found.group(2))
    show("full-size μ² data, 250 x 20 x 8 rows with all checks, seconds", seconds, "< 60", seconds < 60)
    show("full-size μ² data, peak MiB", mib, "< 1024", mib < 1024)


def twice(first: Path, second: Path) -> None:
    """The same configuration in another clone gives the same tables."""
    make(second, "run")
    names = ("answers", "likelihoods", "verdicts", "scores", "examples", "items", "splits")
    files = [
        p.relative_to(first)
        for p in (first / "results").rglob("*.parquet")
        if p.stem in names and "tofu" not in p.parts
    ]
    files = [f for f in files if f.parts[1] != "report"]
    equal = [f for f in files if printed(first / f) == printed(second / f)]
    show(
        f"tables with equal fingerprints in two clones, of {len(files)}", len(equal), f"= {len(files)}", equal == files
    )


def printed(path: Path) -> str | None:
    """The content fingerprint that a table's file carries."""
    return pq.read_schema(path).metadata[b"fingerprint"].decode() if path.exists() else None


def tests(folder: Path) -> None:
    """The tests, as the README runs them: at most 25 minutes (the first two issues' had ten)."""
    seconds, _, said = make(folder, "test")
    show(f"make test, seconds ({said.strip().splitlines()[-1].strip('= ')})", seconds, "< 1500", seconds < 1500)


def main() -> None:
    """Run the sections named on the command line, or all."""
    wanted = sys.argv[1:] or SECTIONS
    if unknown := set(wanted) - set(SECTIONS):
        sys.exit(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    work = Path(tempfile.mkdtemp(prefix="accept-"))
    try:
        first = clone(work / "first")
        if "tests" in wanted:
            tests(first)
        if {"default", "tofu", "twice"} & set(wanted):
            default(first)
        if "twice" in wanted:
            twice(first, clone(work / "second"))
        if "tofu" in wanted:
            tofu(first)
        if "build" in wanted:
            build(first)
        if "twelve" in wanted:
            accept_llm.twelve(show, first)
        if "settings" in wanted:
            accept_llm.settings(show, make, clone(work / "settings"))
        if "llm" in wanted:
            accept_llm.llm(show, make, first)
        if "speed" in wanted:
            accept_llm.speed(show, make, clone(work / "before"), clone(work / "after"))
        if "loop" in wanted:
            accept_methods.speed(show, first)
            accept_methods.memory(show, first)
        if "methods" in wanted:
            accept_methods.every(show, make, Scores, clone(work / "methods"))
        if "leak" in wanted:
            leak = clone(work / "leak")
            accept_leak.mquake(show, accept_methods.benchmark, leak)
            accept_methods.proofs(show, leak, "leak", accept_leak.FOLDER.parents[1])
        if "lume" in wanted:
            lume = clone(work / "lume")
            accept_methods.construction(show, lume, "lume_build", 7, 120)
            accept_lume.small(show, make, lume)
            accept_lume.published(show, make, lume)
            accept_methods.benchmark(show, lume, "lume_scoring", 4)
            accept_methods.proofs(show, lume, "lume", accept_lume.FOLDER.parents[1])
        if "seps" in wanted:
            seps = clone(work / "seps")
            accept_seps.tables(show)
            accept_seps.small(show, make, seps)
            accept_seps.tofu(show, make, seps)
            accept_methods.proofs(show, seps, "seps", accept_seps.FOLDER.parents[1])
        if "umu" in wanted:
            umu = clone(work / "umu")
            accept_methods.construction(show, umu, "umu_build", 6, 180)
            accept_umu.small(show, make, umu)
            accept_methods.proofs(show, umu, "umu", ROOT.parent / "shared")
        if "cluster" in wanted:
            cluster = clone(work / "cluster")
            accept_cluster.grids(show, accept_methods.benchmark, cluster)
            accept_cluster.beside(show, make, cluster)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{sum(results)} of {len(results)} met")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
