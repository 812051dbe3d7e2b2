"""The ledger: one line per job, saying whether it was computed or restored and how long it took."""

import contextlib
import json
import os
import time
from pathlib import Path

from unlearning.tables.artifacts import NoRoom, room_for

START = '{"time": '  # of a line; within one it can stand only with its quotes escaped


def record(ledger: Path, rule: str, output: str, action: str, seconds: float) -> None:
    """Append the line of a finished job: `action` is computed or restored. Raises NoRoom."""
    _append(ledger, {"rule": rule, "output": output, "action": action, "seconds": round(seconds, 3)})


def record_failure(ledger: Path, rule: str, output: str, error: Exception, log: str | None) -> None:
    """Append the line of a failed job: action failed, what went wrong (our own errors say it in full) and its log.

    Raises NoRoom.
    """
    facts = {"rule": rule, "output": output, "action": "failed", "message": message(error), "log": log}
    _append(ledger, facts)


def message(error: Exception) -> str:
    """What a person is told of `error`: a mistake that we know says it in full, any other with its kind."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _append(ledger: Path, facts: dict) -> None:
    """One JSON line by a single write in append mode, so that jobs side by side do not mix their lines."""
    path = Path(ledger) / "jobs.jsonl"
    line = (json.dumps({"time": round(time.time(), 3), **facts}) + "\n").encode()
    with room_for(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)
        try:
            written = os.write(handle, line)
        finally:
            os.close(handle)
    if written < len(line):
        raise NoRoom(f"no room to write {path}: free disk space and run again")


def failures(ledger: Path, since: float) -> str:
    """What the jobs that failed since `since` (seconds of the epoch) said, each message once with a traceback's log."""
    failed = [line for line in lines(ledger) if line["action"] == "failed" and line["time"] >= since]
    said = {line["message"]: f"{line['rule']}: {line['message']}\n  (traceback: {line['log']})" for line in failed}
    return "\n".join(said.values())


def lines(ledger: Path) -> list[dict]:
    """All lines so far, oldest first. One cut short, by a crash or a full disk, is skipped, but not what follows it."""
    path = Path(ledger) / "jobs.jsonl"
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line[max(line.rfind(START), 0) :]))
    return found
