"""The ledger: one line per job, saying whether it was computed or restored and how long it took."""

import json
import os
import time
from pathlib import Path


def record(ledger: Path, rule: str, output: str, action: str, seconds: float) -> None:
    """Append one JSON line; a single write in append mode, so that jobs side by side do not mix their lines."""
    ledger = Path(ledger)
    ledger.mkdir(parents=True, exist_ok=True)
    line = {
        "time": round(time.time(), 3),
        "rule": rule,
        "output": output,
        "action": action,
        "seconds": round(seconds, 3),
    }
    handle = os.open(ledger / "jobs.jsonl", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)
    try:
        os.write(handle, (json.dumps(line) + "\n").encode())
    finally:
        os.close(handle)


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
