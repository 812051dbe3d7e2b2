"""The workflow on a SLURM on this machine: each figure beside its bound; fails on a miss. `make test-slurm`, as root,
or by section:

    python tests/heavy/slurm.py small memory

Sections: small (the minimal overlay: a job is cancelled, the run goes on from there), memory (a job over its memory),
default (the default run).
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "tests/heavy", "workflow")]

from slurm_cluster import GPU_RULES, Cluster, Record  # noqa: E402

from accept import clone, make, results, show  # noqa: E402
from unlearning.cache import ledger  # noqa: E402

CANCELLED = "retrain"
SQUEUE = "--slurm-status-command squeue"  # this SLURM has no accounting
OVERLAY = "tests/heavy/slurm.yaml"


def run(folder: Path, config: str) -> tuple[float, str]:
    """make run on the cluster: seconds and what it said."""
    seconds, _, said = make(folder, "run", "PROFILE=slurm", f"CONFIG={config}", f"SNAKEMAKE_ARGS={SQUEUE}")
    return seconds, said


def small(cluster: Cluster, folder: Path) -> None:
    """A job is cancelled while it runs; the next run goes on, and each job ran where it belongs."""
    config, before = f"config/minimal.yaml {OVERLAY}", len(cluster.records())
    options = ("run", "PROFILE=slurm", f"CONFIG={config}", f"SNAKEMAKE_ARGS={SQUEUE} --retries 0")
    with open(folder / "first.txt", "w+", encoding="utf-8") as said:
        first = subprocess.Popen(["make", *options], cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        try:
            victim = wait_for(cluster, first, CANCELLED)
            cluster.cancel(victim)
            code = first.wait(3600)
        finally:
            first.terminate()
        said.seek(0)
        told = said.read()
    error = re.search(rf"Error in rule {CANCELLED}:.*?external_jobid: \d+\n", told, re.DOTALL)
    error = error[0] if error else ""
    print(error, end="")
    show("a job is cancelled: make run's exit status", code, "!= 0", code != 0)
    state = next(record.state for record in cluster.records() if record.id == victim.id)
    show("SLURM's state of that job", state, "CANCELLED", state == "CANCELLED")
    for what, wanted in (("rule", f"rule {CANCELLED}"), ("log", "results/logs/runs/mu2/tiny/four/one/retrain/s0.log")):
        show(f"the cancelled job's {what} is told", wanted in error, "True", wanted in error)
    show("the cancelled job's number in SLURM is told", str(victim.id) in error, "True", str(victim.id) in error)
    done = [line["output"] for line in ledger.lines(folder / "results/.ledger") if line["action"] == "computed"]
    show("jobs that were done before", len(done), "> 0", len(done) > 0)
    seconds, said = run(folder, config)
    again = [line["output"] for line in ledger.lines(folder / "results/.ledger") if line["action"] == "computed"]
    again = again[len(done) :]
    show("the next run: seconds", seconds, "-", True)
    show("jobs that it did, and did not do again", len(again), "> 0", len(again) > 0)
    twice = len(set(again) & set(done))
    show("jobs that were done twice", twice, "= 0", twice == 0)
    finished(folder, config)
    placed(cluster.records()[before:], said)


def wait_for(cluster: Cluster, process: subprocess.Popen, rule: str, seconds: int = 1200) -> Record:
    """The first job of `rule` that runs."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        for record in cluster.records():
            if record.rule == rule and record.state == "RUNNING":
                return record
        time.sleep(0.5)
    raise RuntimeError(f"no job of rule {rule} ran within {seconds} s (make run: {process.poll()})")


def finished(folder: Path, config: str) -> None:
    """The report is there, and nothing is left to do, by either profile."""
    there = (folder / "results/report/index.html").is_file()
    show("the report is there", there, "True", there)
    for profile in ("slurm", ""):
        arguments = f"{SQUEUE if profile else ''} --dry-run"
        _, _, said = make(folder, "run", f"PROFILE={profile}", f"CONFIG={config}", f"SNAKEMAKE_ARGS={arguments}")
        left = "Nothing to be done" in said
        show(f"nothing is left to do, profile {profile or 'default'}", left, "True", left)


def placed(records: list[Record], said: str) -> None:
    """Where SLURM says that each job ran, and with how many GPUs."""
    gpu = [record for record in records if record.rule in GPU_RULES or "_epochs_" in record.rule]
    cpu = [record for record in records if record not in gpu]
    print("jobs by rule:", ", ".join(f"{rule} {n}" for rule, n in sorted(Counter(r.rule for r in records).items())))
    well = [r for r in gpu if r.partition == "gpu" and r.gpus == 1]
    show(
        "jobs with a model: in partition gpu, with one GPU", len(well), f"= {len(gpu)}, > 0", 0 < len(gpu) == len(well)
    )
    well = [r for r in cpu if r.partition == "cpu" and r.gpus == 0]
    show("all other jobs: in partition cpu, without a GPU", len(well), f"= {len(cpu)}, > 0", 0 < len(cpu) == len(well))
    table = re.findall(r"^(\w+) +(\d+)$", said.partition("Job stats:")[2], re.MULTILINE)
    planned = sum(int(n) for rule, n in table if rule in GPU_RULES)
    ended = sum(record.state == "COMPLETED" for record in gpu)
    show("jobs with a model that SLURM completed", ended, f">= {planned} planned", ended >= planned > 0)
    failed = [record for record in records if record.state not in ("COMPLETED", "CANCELLED")]
    show("jobs that SLURM did not complete, but for the cancelled one", len(failed), "= 0", not failed)


def memory(cluster: Cluster, folder: Path) -> None:
    """A job over its memory is killed, submitted again with twice as much, and done."""
    before = len(cluster.records())
    command = [".venv/bin/snakemake", "--snakefile", "tests/heavy/slurm_greedy.smk"]
    command += ["--workflow-profile", "profiles/slurm", *SQUEUE.split()]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200)
    records = [record for record in cluster.records()[before:] if record.rule == "greedy"]
    show("a job over its memory: exit status of the run", done.returncode, "= 0", done.returncode == 0)
    log = re.search(r"log: results/greedy/log, (\S+)", done.stdout + done.stderr)
    told = bool(log) and "exceeded memory limit" in Path(log[1]).read_text(encoding="utf-8")
    show("SLURM's log of the first is named, and says why it was killed", told, "True", told)
    show("submissions of it", len(records), "= 2", len(records) == 2)
    given = ", ".join(f"{record.mem} {record.state}" for record in records)
    wanted = "2000M FAILED, 4000M COMPLETED"
    show("memory and state of the first and the second", given, f"= {wanted}", given == wanted)
    if done.returncode:
        print(done.stderr[-3000:])


def default(cluster: Cluster, folder: Path) -> None:
    """The default run, whole."""
    before = len(cluster.records())
    seconds, said = run(folder, OVERLAY)
    show("the default run on SLURM: seconds", seconds, "-", True)
    finished(folder, OVERLAY)
    placed(cluster.records()[before:], said)


SECTIONS = {"small": small, "memory": memory, "default": default}


def stop(*_) -> None:
    """On SIGTERM: end what we started, and with `main` SLURM."""
    for child in psutil.Process().children(recursive=True):
        child.terminate()
    sys.exit("stopped")


def main(names: list[str]) -> None:
    """Run the sections named, all without a name; SLURM goes down whatever happens."""
    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    signal.signal(signal.SIGTERM, stop)
    with tempfile.TemporaryDirectory() as folder:
        folder, started = Path(folder), time.monotonic()
        with Cluster(folder / "slurm") as cluster:
            seconds = time.monotonic() - started
            show("SLURM from nothing to idle nodes, seconds", seconds, "< 300", seconds < 300)
            for name in names or SECTIONS:
                SECTIONS[name](cluster, clone(folder / name))
    print(f"{sum(results)} of {len(results)} met")
    sys.exit(not all(results))


if __name__ == "__main__":
    main(sys.argv[1:])
