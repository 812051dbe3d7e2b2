"""10,000 prompts through a faulty endpoint, undisturbed and killed 20 times: what is lost, and what is asked twice."""

import collections
import json
import tempfile
import time
from pathlib import Path

import pandas as pd

import kills
import llm_client
from fault_proxy import FAULTS, FaultProxy
from llm_upstream import Upstream

PROMPTS, KILLS, LEAST_IN_FLIGHT = 10_000, 20, 15
CONCURRENCY, SHARE, SEED = 64, 0.15, 7
TIMEOUT, STALL = 10.0, 12.0  # seconds: a busy machine may be slow, too


def faults(show) -> None:
    """The undisturbed job first, then jobs that are killed at moments uniform over its calls and started again."""
    prompts = llm_client.prompts(PROMPTS)
    with tempfile.TemporaryDirectory() as folder, Upstream() as upstream:
        folder = Path(folder)
        with FaultProxy(upstream.url, SHARE, SEED, stall=STALL) as proxy:
            whole = kills.run(proxy, folder / "whole", PROMPTS, timeout=TIMEOUT)
            undisturbed(show, proxy, whole, prompts)
            calls = len(proxy.calls)
        with FaultProxy(upstream.url, SHARE, SEED, stall=STALL) as proxy:
            start = time.monotonic()
            moments = kills.moments(KILLS, calls, SEED)
            killed = kills.run(proxy, folder / "killed", PROMPTS, moments, timeout=TIMEOUT)
            disturbed(show, proxy, killed, whole, time.monotonic() - start)
        leaks = [path.name for path in folder.rglob("*") if path.is_file() and kills.KEY.encode() in path.read_bytes()]
        show("files of results, store and logs that hold the planted key", len(leaks), "= 0", not leaks)


def undisturbed(show, proxy: FaultProxy, whole: kills.Outcome, prompts: pd.DataFrame) -> None:
    """Every reply is the one its prompt has to get, in the prompts' order; one call each and one for each fault."""
    wanted = kills.expected(prompts, llm_client.settings(proxy.url))
    got, counted = whole.completions, proxy.faults
    right = (got["text"] == wanted["text"]) & (got["parsed"].map(json.loads) == wanted["parsed"])
    ordered = list(got["prompt_id"]) == list(prompts["prompt_id"])
    twice = sum(times > 1 for times in collections.Counter(proxy.good()).values())
    print("faults injected:", ", ".join(f"{name} {counted[name]}" for name in FAULTS))
    show("prompts with the reply that they have to get", int(right.sum()), f"= {PROMPTS}", bool(right.all()))
    show("completions in the prompts' order", ordered, "True", ordered)
    show("prompts asked again after a good reply", twice, "= 0", twice == 0)
    calls, bound = len(proxy.calls), PROMPTS + counted.total()
    show("calls, against prompts + injected faults", calls, f"<= {bound}", calls <= bound)
    show("kinds of faults injected", len(counted), f"= {len(FAULTS)}", set(counted) == set(FAULTS))
    show("seconds, from first call to end", whole.seconds, "-", True)
    show("replies per second", PROMPTS / whole.seconds, "> 0", True)


def disturbed(show, proxy: FaultProxy, killed: kills.Outcome, whole: kills.Outcome, seconds: float) -> None:
    """The same tables, and no more calls than prompts, faults and what was on its way at each kill."""
    flights = [kill.in_flight for kill in killed.killed]
    flying = sum(flight > 0 for flight in flights)
    same = all(getattr(killed, name).equals(getattr(whole, name)) for name in ("completions", "usage"))
    bound = PROMPTS + proxy.faults.total() + sum(flights)
    print("killed at calls:", ", ".join(f"{kill.calls} ({kill.in_flight} in flight)" for kill in killed.killed))
    show("jobs killed", len(flights), f"= {KILLS}", len(flights) == KILLS)
    show("of these with calls in flight", flying, f">= {LEAST_IN_FLIGHT}", flying >= LEAST_IN_FLIGHT)
    show("most replies in flight at a kill", max(flights), f"<= {CONCURRENCY}", max(flights) <= CONCURRENCY)
    show("completions and usage equal those of the undisturbed job", same, "True", same)
    show("calls, against prompts + faults + in flight at each kill", len(proxy.calls), f"<= {bound}",
         len(proxy.calls) <= bound)  # fmt: skip
    show("calls for what an earlier job had stored", killed.again, "= 0", killed.again == 0)
    show("seconds, all jobs", seconds, "-", True)
