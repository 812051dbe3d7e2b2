"""The ledger: one line per job, saying whether it was computed or restored and how long it took."""

import json
import os
import time
from pathlib import Path


def record(ledger: Path, rule: str, output: str, action: str, seconds: float) -> None:
    """Append the line of a finished job: `action` is computed or restored."""
    _append(ledger, {"rule": rule, "output": output, "action": action, "seconds": round(seconds, 3)})


def record_failure(ledger: Path, rule: str, output: str, error: Exception, log: str | None) -> None:
    """Append the line of a failed job: action failed, what went wrong (our own errors say it in full) and its log."""
    facts = {"rule": rule, "output": output, "action": "failed", "message": message(error), "log": log}
    _append(ledger, facts)


def message(error: Exception) -> str:
    """What a person is told of `error`: a mistake that we know says it in full, any other with its kind."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _append(ledger: Path, facts: dict) -> None:
    """One JSON line by a single write in append mode, so that jobs side by side do not mix their lines."""
    ledger = Path(ledger)
    ledger.mkdir(parents=True, exist_ok=True)
    line = {"time": round(time.time(), 3), **facts}
    handle = os.open(ledger / "jobs.jsonl", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)
    try:
        os.write(handle, (json.dumps(line) + "\n").encode())
    finally:
        os.close(handle)


def failures(ledger: Path, since: float) -> str:
    """What the jobs that failed since `since` (seconds of the epoch) said, each message once with a traceback's log."""
    failed = [line for line in lines(ledger) if line["action"] == "failed" and line["time"] >= since]
    said = {line["message"]: f"{line['rule']}: {line['message']}\n  (traceback: {line['log']})" for line in failed}
    return "\n".join(said.values())


def lines(ledger: Path) -> list[dict]:
    """All lines so far, oldest first; a line cut short by a crash is skipped."""
    path = Path(ledger) / "jobs.jsonl"
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
