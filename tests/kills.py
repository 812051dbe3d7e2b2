"""Jobs that ask an endpoint through a faulty proxy, killed at set moments and started again; what it cost in calls."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import llm_client
from fault_proxy import FaultProxy, body_id
from llm_upstream import said
from unlearning.llm.endpoint.chat import body_of
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import identity_of
from unlearning.llm.store import Store
from unlearning.tables.artifacts import read_table

TESTS = Path(__file__).parent
KEY = "sk-planted-5f0c8a7be1d94c2f"
SETTLE = 0.3  # seconds: calls that a killed job had sent are with the proxy by then


class Killed(NamedTuple):
    """A kill: how many calls the proxy had had, and how many replies were on their way to the store."""

    calls: int
    in_flight: int


class Outcome(NamedTuple):
    """What a series of jobs did. `again`: calls for what was stored before. `seconds`: the last job's calls."""

    completions: pd.DataFrame
    usage: pd.DataFrame
    killed: list[Killed]
    again: int
    seconds: float


def expected(prompts: pd.DataFrame, settings: dict) -> pd.DataFrame:
    """The completions of `prompts` as the upstream server works them out, without any call."""
    rows = []
    for request, _ in requests_of(prompts):
        text = said(body_of(request, settings))
        parsed = json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        rows.append((request.prompt_id, request.sample, text, json.loads(parsed)))
    return pd.DataFrame(rows, columns=["prompt_id", "sample", "text", "parsed"])


def moments(count: int, calls: int, seed: int) -> list[int]:
    """`count` moments uniform over a run of so many calls, each as the call that it comes at."""
    draw = random.Random(seed)
    return sorted(draw.randrange(calls) for _ in range(count))


def run(proxy: FaultProxy, folder: Path, n: int, at=(), **changed) -> Outcome:
    """Jobs that complete `n` prompts: one is killed when the proxy has had the calls that each of `at` says, at its
    first call at the earliest; the last ends.
    """
    keys = _keys(n, llm_client.settings(proxy.url, **changed))
    killed, again = [], 0
    for moment in at:
        start, stored = len(proxy.calls), _stored(folder, keys)
        job = _job(proxy, folder, n, changed)
        while len(proxy.calls) <= max(start, moment) and job.poll() is None:
            time.sleep(0.002)
        job.send_signal(signal.SIGKILL)
        if job.wait() != -signal.SIGKILL:
            break  # it had ended before
        time.sleep(SETTLE)
        asked = proxy.calls[start:]
        again += sum(ident in stored for ident, _ in asked)
        brought = {ident for ident, fault in asked if not fault}
        killed.append(Killed(len(proxy.calls), len(brought - _stored(folder, keys))))
    start, stored = len(proxy.calls), _stored(folder, keys)
    job = _job(proxy, folder, n, changed)
    while len(proxy.calls) == start and job.poll() is None:
        time.sleep(0.002)
    first = time.monotonic()
    if job.wait():
        raise RuntimeError(f"the job failed; see {folder / 'log'}:\n{(folder / 'log').read_text()[-3000:]}")
    seconds = time.monotonic() - first
    again += sum(ident in stored for ident, _ in proxy.calls[start:])
    tables = [read_table(folder / f"{name}.parquet", name) for name in ("completions", "usage")]
    return Outcome(*tables, killed, again, seconds)


def environment() -> dict[str, str]:
    """What a job needs to find our modules and the key."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "workflow")])
    return os.environ | {"PYTHONPATH": paths, "LLM_TEST_KEY": KEY, "OMP_NUM_THREADS": "1"}


def _job(proxy: FaultProxy, folder: Path, n: int, changed: dict) -> subprocess.Popen:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, TESTS / "llm_client.py", proxy.url, folder, str(n), json.dumps(changed)]
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment())


def _keys(n: int, settings: dict) -> dict[str, str]:
    """The proxy's name of a request by its key in the store."""
    identity = identity_of(settings)
    requests = [request for request, _ in requests_of(llm_client.prompts(n))]
    return {Store.key(identity, request): body_id(body_of(request, settings)) for request in requests}


def _stored(folder: Path, keys: dict[str, str]) -> set[str]:
    """What of it is in the store."""
    if not (folder / "served.sqlite").exists():
        return set()
    connection = sqlite3.connect(folder / "served.sqlite", timeout=60)
    try:
        found = connection.execute("SELECT key FROM replies").fetchall()
    except sqlite3.OperationalError:  # killed before the table was made
        found = []
    connection.close()
    return {keys[key] for (key,) in found}
