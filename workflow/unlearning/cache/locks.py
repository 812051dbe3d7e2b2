"""Locks below results/: one run at a time, one process at a time on each job, and what a killed run left swept away.

All are locks of the operating system on open files (flock): they end with their process, however it ends, so that
nothing has to be unlocked after a crash.
"""

import contextlib
import errno
import fcntl
import getpass
import hashlib
import json
import os
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from unlearning.tables.artifacts import room_for

RUN = "UNLEARNING_RUN"  # the run's number, for its jobs, in the environment
LOCK = ".lock"  # below results/, held by the run
JOBS = ".locks"  # below results/, a file for each job at work
UNABLE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class InUse(RuntimeError):
    """Another run has the results folder; the message names it, and says what to do."""


def hold(results: Path) -> int | None:
    """Take `results` for this run until its process ends, and sweep it; the open lock, to be kept open.

    Its number goes into the environment, from which this run's jobs have it. None, with a warning, on a file system
    without locks. Raises InUse where another run has the folder, and NoRoom.
    """
    results.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(results / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError as error:
        raise InUse(f"{results / LOCK} belongs to another user, and is not yours to write: ask for that") from error
    if not _locked(handle, results):
        holder = _told(handle)
        os.close(handle)
        raise InUse(
            f"{results}/ is in use by a run of {holder.get('user', 'somebody')} on {holder.get('host', 'some host')} "
            f"(process {holder.get('process', 'unknown')}, since {holder.get('since', 'just now')}): two runs at once "
            "would write the same files. Wait until it is done or end it, then run again; or run in another copy of "
            "the project"
        )
    facts = {"run": uuid.uuid4().hex, "user": _user(), "host": socket.gethostname(), "process": os.getpid()}
    with room_for(results / LOCK):
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(facts | {"since": time.strftime("%Y-%m-%d %H:%M:%S")}).encode(), 0)
    os.environ[RUN] = facts["run"]
    sweep(results)
    return handle


def check_run(results: Path) -> None:
    """Raise InUse in a job whose run has ended and was followed by another one. Jobs started by hand have no run."""
    mine = os.environ.get(RUN)
    if not mine or not (results / LOCK).exists():
        return
    handle = os.open(results / LOCK, os.O_RDONLY)
    try:
        holder = _told(handle)
    finally:
        os.close(handle)
    if holder.get("run") != mine:
        raise InUse(f"this job's run has ended, and {results}/ is now in use by another one, which does the job again")


@contextlib.contextmanager
def one_at_a_time(results: Path, output: str) -> Iterator[None]:
    """Be the only process that makes `output`: what a killed run left at work on it is waited for.

    The file that is locked goes again; whoever waited for one that has gone takes a new one.
    """
    path = results / JOBS / hashlib.sha256(output.encode()).hexdigest()[:24]
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _locked(handle, results):
            print(f"waiting: a process of an earlier run still works on {output}", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(handle), path.stat()):
                break
        except FileNotFoundError:
            pass
        os.close(handle)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def sweep(results: Path) -> None:
    """Delete what killed jobs left half-written (`.<name>.<random>.tmp`), unless one of an earlier run is at work."""
    for lock in results.glob(f"{JOBS}/*"):
        try:
            handle = os.open(lock, os.O_RDWR)
        except FileNotFoundError:  # its job has just ended
            continue
        try:
            if not _locked(handle, results):
                return
            lock.unlink(missing_ok=True)
        finally:
            os.close(handle)
    for folder, folders, files in os.walk(results):
        for name in [name for name in folders if _temporary(name)]:
            shutil.rmtree(Path(folder, name), ignore_errors=True)
            folders.remove(name)
        for name in filter(_temporary, files):
            Path(folder, name).unlink(missing_ok=True)


def _temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _locked(handle: int, results: Path) -> bool:
    """Whether the lock could be had; on a file system without locks it is, and a warning says so."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNABLE:
            raise
        print(f"warning: the file system of {results}/ has no locks: do not start two runs on it", file=sys.stderr)
    return True


def _told(handle: int) -> dict:
    """What the holder wrote; nothing where it has not yet."""
    try:
        return json.loads(os.pread(handle, 4096, 0))
    except ValueError:
        return {}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this number
        return str(os.getuid())
