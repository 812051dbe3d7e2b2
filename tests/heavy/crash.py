"""Runs that are killed at random moments, or whose disk is full: each figure beside its bound; fails on a miss.
`make test-crash`, or by section:

    python tests/heavy/crash.py minimal disk

Sections: minimal (the minimal overlay, 30 kills), default (the default run, 5 kills), disk (the minimal overlay on
small disks; as root). Kills come in three ways in turn: Snakemake alone, so that its jobs live on while the next run
starts; a job; everything at once, as in a power cut.
"""

import base64
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "workflow")]

from accept import clone, environment, make, results, show  # noqa: E402
from unlearning.cache import ledger  # noqa: E402
from unlearning.llm.requests import Reply  # noqa: E402
from unlearning.llm.store import Store  # noqa: E402
from unlearning.models.load import ModelError, verify_weights  # noqa: E402
from unlearning.tables.artifacts import NoRoom, sha256_file  # noqa: E402

MINIMAL, DEFAULT = "config/minimal.yaml", "tests/heavy/crash.yaml"
SEED = 9
WAYS = ("Snakemake", "a job", "everything")
NOT_COMPARED = ("logs", "benchmarks")  # they tell of times
MEASURED = ["seconds", "memory_mib"]  # columns of training logs
ROOMS = (4, 8, 20, 60, 150, 400, 900)  # KiB that a disk has left for the next run
TOLD = re.compile(r"no room to write (\S+).*: free disk space and run again")


class Run:
    """`make run` in a session of its own."""

    def __init__(self, folder: Path, config: str):
        self.folder, self._said = folder, folder.parent / f"{folder.name}.txt"
        command = ["make", "--no-print-directory", "run", f"CONFIG={config}"]
        with open(self._said, "wb") as said:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=said, stderr=subprocess.STDOUT, env=environment(), start_new_session=True
            )
        self.started = time.monotonic()

    def processes(self) -> list[psutil.Process]:
        """All of the session but `make` itself, orphans included."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = os.getsid(process.pid) == self.process.pid != process.pid
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
        return found

    def _python(self, what: str) -> list[psutil.Process]:
        """The processes of Python programs whose path has `what`."""
        found = []
        for process in self.processes():
            try:
                if what in "".join(process.cmdline()[1:2]):
                    found.append(process)
            except psutil.NoSuchProcess:
                continue
        return found

    def snakemake(self) -> list[psutil.Process]:
        """Snakemake's main process, once there is one."""
        return self._python("bin/snakemake")

    def jobs(self) -> list[psutil.Process]:
        """The scripts at work."""
        return self._python(".snakemake/scripts/")

    def said(self) -> str:
        """What it has said so far."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def running(self) -> dict[str, str]:
        """Number -> message of the jobs that Snakemake has begun and not ended, as it says itself."""
        said = self.said()
        ended = set(re.findall(r"^(?:Finished|   ) jobid: (\d+)", said, re.MULTILINE))
        return {n: text for n, text in re.findall(r"^Job (\d+): (.*)", said, re.MULTILINE) if n not in ended}

    def over(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def end(self) -> None:
        """Kill whatever is left of the session."""
        while left := [*self.processes(), *([] if self.over() else [self.process])]:
            for process in left:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            self.process.wait()


class Series:
    """Runs of one configuration in one folder that are killed and started again until `kills` are done."""

    def __init__(self, undisturbed: Path, folder: Path, config: str, seconds: float, kills: int):
        self.undisturbed, self.folder, self.config, self.kills = undisturbed, folder, config, kills
        self.draw, self.done, self.passes, self.begun = random.Random(SEED), 0, 0, False
        # so that ten kills, or all if they are fewer, fall upon the time that an undisturbed run takes
        self.span = 2 * seconds / (min(kills, 10) + 1)
        self.runs: list[Run] = []
        self.before: set[str] = set()  # outputs that were done at the last kill
        self.again: list[str] = []
        self.unexplained = 0  # killed jobs of which Snakemake did not say so

    def go(self) -> None:
        """The whole series; nothing that it started is left."""
        try:
            while self.done < self.kills:
                self.one()
            while self.begun:
                self.one()
        finally:
            for run in self.runs:
                run.end()

    def one(self) -> None:
        """One run: killed, or finished and looked at."""
        lines = len(ledger.lines(self.folder / "results/.ledger"))
        beside = any(run.jobs() for run in self.runs)
        run, self.runs = Run(self.folder, self.config), [run for run in self.runs if run.processes()]
        self.runs.append(run)
        moment = self.draw.uniform(0, self.span) if self.done < self.kills else float("inf")
        while not run.over() and time.monotonic() - run.started < moment:
            time.sleep(0.02)
        marked = self.kill(run)
        made = ledger.lines(self.folder / "results/.ledger")[lines:]
        computed = [line["output"] for line in made if line["action"] == "computed"]
        self.again += [output for output in computed if output in self.before]
        self.begun = marked is not None
        if self.begun:
            self.again += sorted(self.before & marked)
            self.before |= {line["output"] for line in made if line["action"] != "failed"}
            self.before -= marked
        else:
            self.finished(run, beside)

    def kill(self, run: Run) -> set[str] | None:
        """Kill in the way that is due; the outputs that were being made. None where the run has ended before."""
        way = WAYS[self.done % len(WAYS)]
        wanted = run.jobs if way == "a job" else run.snakemake
        while not (victims := wanted()):
            if run.over():
                return None
            time.sleep(0.02)
        seconds, running, under_way = time.monotonic() - run.started, run.running(), incomplete(self.folder)
        if way == "everything":
            run.end()
        else:
            try:
                self.draw.choice(victims).kill()
            except psutil.NoSuchProcess:
                return None if run.over() else self.kill(run)
        code = run.process.wait()
        if way == "a job":
            told = re.search(r"Error in rule (\w+):.*?jobid: (\d+)", run.said(), re.DOTALL)
            self.unexplained += not (code and told and told[2] in running)
        self.done += 1
        what = "; ".join(running.values()) or "no job"
        print(f"        kill {self.done}: {way}, after {seconds:.1f} s, at work: {what}", flush=True)
        return under_way | incomplete(self.folder)

    def finished(self, run: Run, beside: bool) -> None:
        """Look at what a run that ended by itself has made, and begin anew."""
        self.passes += 1
        name = f"pass {self.passes} ({self.done} kills)"
        code = run.process.returncode
        show(f"{name}: exit status of the run that was not killed", code, "= 0", code == 0)
        if code:
            print(run.said()[-3000:])
        while any(left.processes() for left in self.runs):
            time.sleep(0.1)
        same(self.undisturbed, self.folder, name)
        _, _, said = make(self.folder, "run", f"CONFIG={self.config}", may_fail=True)
        show(f"{name}: nothing is left to do", "Nothing to be done" in said, "True", "Nothing to be done" in said)
        left = temporary(self.folder)
        what = f"{name}: temporary files left{' (orphans were at work when it began)' if beside else ''}"
        show(what, len(left), "-" if beside else "= 0", beside or not left)
        show(f"{name}: jobs done again that were done before a kill", len(self.again), "= 0", not self.again)
        print("".join(f"        {output}\n" for output in self.again), end="")
        self.before, self.again, self.runs = set(), [], []
        for made in ("results", ".snakemake"):
            shutil.rmtree(self.folder / made)


def incomplete(folder: Path) -> set[str]:
    """The outputs that Snakemake has marked as being made."""
    marks = folder / ".snakemake/incomplete"
    names = ["".join(path.relative_to(marks).parts) for path in marks.rglob("*") if path.is_file()]
    return {base64.urlsafe_b64decode(name.replace("@", "")).decode() for name in names if name != "migration_underway"}


def artifacts(folder: Path) -> dict[str, Path]:
    """Every result below results/, by its path: not what stands in hidden folders, nor what tells of times."""
    found, top = {}, folder / "results"
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        hidden = any(part.startswith(".") for part in parts)
        if path.is_file() and not hidden and parts[0] not in NOT_COMPARED and ".provenance." not in path.name:
            found["/".join(parts)] = path
    return found


def temporary(folder: Path) -> list[Path]:
    """What looks like a file or folder that a job had not finished."""
    return [path for path in (folder / "results").rglob("*") if path.name.endswith(".tmp")]


def equal(one: Path, other: Path) -> bool:
    """Equal bytes; of training logs equal values but for what was measured."""
    if one.name == "train_log.parquet":
        return pd.read_parquet(one).drop(columns=MEASURED).equals(pd.read_parquet(other).drop(columns=MEASURED))
    return one.read_bytes() == other.read_bytes()


def same(undisturbed: Path, folder: Path, name: str) -> None:
    """Show that the results of both are the same."""
    wanted, got = artifacts(undisturbed), artifacts(folder)
    show(f"{name}: files of results", len(got), f"= the undisturbed run's {len(wanted)}", got.keys() == wanted.keys())
    for path in sorted(got.keys() ^ wanted.keys()):
        print(f"        only {'here' if path in got else 'undisturbed'}: {path}")
    for what, ends in (("tables", ".parquet"), ("models (model.json)", "model.json"), ("the report's tables", ".csv")):
        paths = [path for path in wanted if path.endswith(ends)]
        other = [path for path in paths if path not in got or not equal(wanted[path], got[path])]
        show(f"{name}: {what} equal to the undisturbed run's", len(paths) - len(other), f"= {len(paths)}", not other)
        print("".join(f"        {path}\n" for path in other), end="")
    broken_models = broken(folder)
    show(f"{name}: models whose weights are not whole", len(broken_models), "= 0", not broken_models)


def broken(folder: Path) -> list[str]:
    """What is wrong with models whose weights are not those that their records name."""
    found = []
    for name, path in artifacts(folder).items():
        if name.endswith("model.json"):
            try:
                verify_weights(path)
            except ModelError as error:
                found.append(str(error))
    return found


def killed(folder: Path, config: str, kills: int) -> None:
    """An undisturbed run, then a series of killed ones."""
    undisturbed = clone(folder / "undisturbed")
    seconds, _, _ = make(undisturbed, "run", f"CONFIG={config}")
    show("an undisturbed run, seconds", seconds, "-", True)
    started = time.monotonic()
    series = Series(undisturbed, clone(folder / "killed"), config, seconds, kills)
    series.go()
    show(f"kills (seed {SEED})", series.done, f"= {kills}", series.done == kills)
    show("killed jobs whose rule the run did not tell", series.unexplained, "= 0", series.unexplained == 0)
    show("all of it, seconds", time.monotonic() - started, "-", True)


def minimal(folder: Path) -> None:
    """30 kills over the minimal overlay."""
    killed(folder, MINIMAL, 30)


def default(folder: Path) -> None:
    """5 kills over the default."""
    killed(folder, DEFAULT, 5)


def disk(folder: Path) -> None:
    """The minimal overlay on a disk with a little room, then a little more, until it is done."""
    if os.geteuid():
        show("a disk of our own can be mounted by root only", "not root", "root", False)
        return
    undisturbed = clone(folder / "undisturbed")
    make(undisturbed, "run", f"CONFIG={MINIMAL}")
    project = clone(folder / "full")
    top = project / "results"
    top.mkdir()
    mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", top)
    try:
        draw, met = random.Random(SEED), []
        show("a disk's worth of replies is whole when it is full", replies(top), "> 0", True)
        for attempt in range(len(ROOMS) * 2):
            room = ROOMS[attempt % len(ROOMS)] if attempt < len(ROOMS) else draw.choice(ROOMS[2:])
            mount("-o", f"remount,size={used(top) + room * 1024}", top)
            before = {name: sha256_file(path) for name, path in artifacts(project).items()}
            _, _, said = make(project, "run", f"CONFIG={MINIMAL}", may_fail=True)
            if "The report is at" in said:
                break
            told = sorted(set(TOLD.findall(said)))
            met += [Path(path).name for path in told]
            show(f"room for {room} KiB: told that there is none, for {', '.join(told)}", bool(told), "True", bool(told))
            if not told:
                print(said[-3000:])
            now = artifacts(project)
            lost = [name for name, digest in before.items() if name not in now or sha256_file(now[name]) != digest]
            show("    earlier artifacts that are as they were", len(before) - len(lost), f"= {len(before)}", not lost)
            tables = [name for name in now if name.endswith(".parquet")]
            wrong = [name for name in tables if not equal(now[name], undisturbed / "results" / name)]
            show("    tables that an undisturbed run has not", len(wrong), "= 0", not wrong)
            print("".join(f"        {name}\n" for name in lost + wrong), end="")
            show("    models whose weights are not whole", len(broken(project)), "= 0", not broken(project))
            show("    temporary files left", len(temporary(project)), "= 0", not temporary(project))
        kinds = sorted(set(met))
        show(f"files that there was no room for: {', '.join(kinds)}", len(kinds), "> 3", len(kinds) > 3)
        mount("-o", "remount,size=1g", top)
        make(project, "run", f"CONFIG={MINIMAL}")
        same(undisturbed, project, "with room enough")
    finally:
        subprocess.run(["umount", "--lazy", str(top)], check=True)


def replies(folder: Path) -> int:
    """Put replies into a response store until the disk is full: how many; those put before must all be there."""
    path, n = folder / "served.sqlite", 0
    store = Store(path)
    try:
        while True:
            store.put(f"k{n}", Reply("x" * 500, "stop", 1, 1))
            n += 1
    except NoRoom as error:
        print(f"        {error}")
    store.close()
    store = Store(path)
    if len(store.get(f"k{i}" for i in range(n))) != n:
        raise RuntimeError(f"of {n} replies some are lost")
    store.close()
    path.unlink()
    return n


def mount(*arguments: object) -> None:
    """Call mount."""
    subprocess.run(["mount", *map(str, arguments)], check=True)


def used(folder: Path) -> int:
    """Bytes that are taken of the disk at `folder`."""
    facts = os.statvfs(folder)
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize


SECTIONS = {"minimal": minimal, "default": default, "disk": disk}


def main(names: list[str]) -> None:
    """Run the sections named, all without a name."""
    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with tempfile.TemporaryDirectory() as folder:
        for name in names or SECTIONS:
            (Path(folder) / name).mkdir()
            SECTIONS[name](Path(folder) / name)
    print(f"{sum(results)} of {len(results)} met")
    sys.exit(not all(results))


if __name__ == "__main__":
    main(sys.argv[1:])
