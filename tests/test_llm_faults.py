"""A faulty endpoint and jobs that are killed: nothing lost, nothing asked twice after success, order kept."""

import collections
import json

import pytest

import kills
import llm_client
from fault_proxy import FAULTS, FaultProxy
from llm_upstream import Upstream
from unlearning.llm.complete import complete, open_door

PROMPTS = 1000
KILLS = 3


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as server:
        yield server


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", kills.KEY)


def check_table(completions, prompts, settings):
    wanted = kills.expected(prompts, settings)
    assert completions["failed"].isna().all()
    assert completions[["prompt_id", "sample", "text"]].equals(
        wanted[["prompt_id", "sample", "text"]].astype(completions[["prompt_id", "sample", "text"]].dtypes)
    )
    assert [json.loads(parsed) for parsed in completions["parsed"]] == list(wanted["parsed"])


def test_a_thousand_prompts_through_a_faulty_proxy_cost_one_call_each_and_one_for_each_fault(upstream, tmp_path):
    prompts = llm_client.prompts(PROMPTS)
    with FaultProxy(upstream.url, share=0.2) as proxy:
        with open_door(llm_client.door_settings(proxy.url), tmp_path) as door:
            completions, usage = complete(prompts, door, progress=False)
            check_table(completions, prompts, door.backend.settings)
            calls = len(proxy.calls)
            complete(prompts, door, progress=False)
        # the planted faults were all there, many of each
        assert set(proxy.faults) == set(FAULTS) and min(proxy.faults.values()) >= 5
        assert calls == PROMPTS + proxy.faults.total()
        assert len(proxy.calls) == calls  # the second time all came from the store
        assert set(collections.Counter(proxy.good()).values()) == {1}
        assert int(usage["asked"].iloc[0]) == PROMPTS and int(usage["input_tokens"].iloc[0]) == 10 * PROMPTS
    for file in tmp_path.iterdir():
        assert kills.KEY.encode() not in file.read_bytes()


def test_killed_jobs_resume_and_end_with_the_table_of_an_undisturbed_one(upstream, tmp_path):
    n = 400
    prompts, changed = llm_client.prompts(n), {"concurrency": 16}
    with FaultProxy(upstream.url, share=0.1, faults=("rate", "error", "cut", "malformed", "other"), seed=1) as proxy:
        outcome = kills.run(proxy, tmp_path, n, [20, 170, 330], **changed)
        check_table(outcome.completions, prompts, llm_client.settings(proxy.url, **changed))
        assert len(outcome.killed) == KILLS and any(kill.in_flight for kill in outcome.killed)
        assert all(kill.in_flight <= 16 for kill in outcome.killed)
        lost = sum(kill.in_flight for kill in outcome.killed)
        assert n <= len(proxy.calls) <= n + proxy.faults.total() + lost
        assert outcome.again == 0
        assert int(outcome.usage["asked"].iloc[0]) == n
    for file in tmp_path.iterdir():
        assert kills.KEY.encode() not in file.read_bytes()
