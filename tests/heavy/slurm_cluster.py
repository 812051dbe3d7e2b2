"""A SLURM cluster on this one machine, from nothing: two nodes, partitions cpu and gpu; its own records of jobs."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections import namedtuple
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged")
PORTS = (16817, 16818, 16819)  # of slurmctld and the two nodes
NODES = ("cpu01", "gpu01")
CPUS, MIB, GPUS = {"cpu01": 4, "gpu01": 2}, 12_000, 2
SETTINGS = Path("/etc/slurm")  # a job step reads no other place: what points elsewhere is not handed on to it
# The rules that ask for gpus.train or gpus.answer (tests/test_slurm.py holds them to the rules' text), as long as
# shards.answer is 1; above, `answer` and `likelihood` ask for none.
GPU_RULES = {
    *("base", "target", "retrain", "reference", "refusal_reference", "unlearn", "attack_weights"),
    *("answer", "answer_shard", "likelihood", "likelihood_shard", "harness", "embed", "embed_references"),
}

SLURM_CONF = """\
ClusterName=unlearning
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
# a job over its memory is killed, without cgroups
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
# records of a day
MinJobAge=86400
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
# what could never start is refused at once
EnforcePartLimits=ALL
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=2,defer_batch
ReturnToService=2
KillWait=5
GresTypes=gpu
NodeName=cpu01 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus[cpu01]} RealMemory={mib}
NodeName=gpu01 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus[gpu01]} RealMemory={mib} Gres=gpu:{n}
PartitionName=cpu Nodes=cpu01 Default=YES MaxTime=24:00:00 State=UP
PartitionName=gpu Nodes=gpu01 Default=NO MaxTime=24:00:00 State=UP
"""

Record = namedtuple("Record", "id rule partition state gpus mem wildcards")


def parsed(line: str) -> Record:
    """A line of `scontrol --details --oneliner show job`. `rule`: answer, or score_score; `gpus`: what it was given."""
    told = {name: value for name, _, value in (word.partition("=") for word in line.split())}
    given = dict(part.split("=", 1) for part in told["TRES"].split(","))
    rule, _, wildcards = told.get("Comment", "").partition("_wildcards_")
    gres = re.fullmatch(r"gpu(?::[a-z]\w*)?:(\d+)", told.get("JOB_GRES", ""))
    state, gpus = told["JobState"], int(gres[1]) if gres else 0
    return Record(
        int(told["JobId"]), rule.removeprefix("rule_"), told["Partition"], state, gpus, given.get("mem"), wildcards
    )


class Cluster:
    """SLURM up within `with`, and down after it, whatever happens. RuntimeError where it does not come up.

    Needs root. What it makes lies in `folder`, but for links in /etc/slurm; a SLURM that is there is left alone.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.linked: list[Path] = []

    def __enter__(self):
        if os.geteuid():
            raise RuntimeError("a SLURM of our own takes root: its nodes start jobs for others")
        names = ["slurm.conf", "gres.conf", "cgroup.conf"]
        if there := [str(SETTINGS / name) for name in names if os.path.lexists(SETTINGS / name)]:
            raise RuntimeError(f"{', '.join(there)}: this machine has a SLURM of its own, which is left alone")
        try:
            self._install()
            self._write()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if (self.folder / "slurmctld.pid").exists():
            subprocess.run(["timeout", "10", "scancel", "--full", "--user=root"], capture_output=True)
            time.sleep(1)
        for name, program in (*((n, "slurmd") for n in NODES), ("slurmctld", "slurmctld"), ("munged", "munged")):
            _stop(self.folder / f"{name}.pid", program)
        for link in self.linked:
            link.unlink(missing_ok=True)
        self.linked.clear()

    def records(self) -> list[Record]:
        """All jobs since the start, finished ones too, by number."""
        command = ["scontrol", "--details", "--oneliner", "show", "job"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        return sorted(parsed(line) for line in lines if line.startswith("JobId="))

    def cancel(self, record: Record) -> None:
        """Cancel a job."""
        subprocess.run(["scancel", str(record.id)], check=True, timeout=60)

    def _install(self) -> None:
        if all(shutil.which(program) for program in PROGRAMS):
            return
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
            done = subprocess.run(["apt-get", "--quiet", *arguments], env=quiet, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"apt-get {' '.join(arguments)} failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")

    def _write(self) -> None:
        """Settings, a key, and what stands in for GPUs: a plain file would be no GPU to SLURM, a device is."""
        for name in ("state", "spool-cpu01", "spool-gpu01"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        for i in range(GPUS):
            subprocess.run(["mknod", str(self.folder / f"gpu{i}"), "c", "1", "3"], check=True)
        values = {"host": socket.gethostname().partition(".")[0], "folder": self.folder, "ports": PORTS}
        files = {
            "slurm.conf": SLURM_CONF.format(**values, cpus=CPUS, mib=MIB, n=GPUS),
            "gres.conf": f"AutoDetect=off\nNodeName=gpu01 Name=gpu File={self.folder}/gpu[0-{GPUS - 1}]\n",
            "cgroup.conf": "ConstrainCores=no\nConstrainRAMSpace=no\n",
        }
        SETTINGS.mkdir(exist_ok=True)
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
            (SETTINGS / name).symlink_to(self.folder / name)
            self.linked.append(SETTINGS / name)

    def _start(self) -> None:
        at = self.folder
        paths = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "munge.seed"}
        paths |= {"log-file": "munged.log"}
        munged = ["munged", "--force", *(f"--{option}={at / name}" for option, name in paths.items())]
        for command in (munged, ["slurmctld", "-c"], *(["slurmd", "-N", node] for node in NODES)):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            command = ["timeout", "5", "sinfo", "--noheader", "--Node", "--format=%T"]
            states = subprocess.run(command, capture_output=True, text=True).stdout.split()
            if states.count("idle") == len(NODES):
                return
            time.sleep(0.2)
        logs = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(at.glob("*.log")))
        raise RuntimeError(f"SLURM's nodes did not become idle in a minute:\n{logs}")


def _stop(pid_file: Path, program: str) -> None:
    """Stop a daemon that we started, by its number, if it is still that program; SIGKILL after ten seconds."""
    try:
        pid = int(pid_file.read_text())
    except (FileNotFoundError, ValueError):
        return
    for signal, tries in ((15, 100), (9, 20)):
        if not _runs(pid, program):
            break
        os.kill(pid, signal)
        for _ in range(tries):
            if not _runs(pid, program):
                break
            time.sleep(0.1)
    pid_file.unlink(missing_ok=True)


def _runs(pid: int, program: str) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
    return f"Name:\t{program}" in status and "State:\tZ" not in status
