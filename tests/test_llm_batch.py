"""The Batch API against a small server of ours (a real one cannot be reached here): results by id, and paid once."""

import json
import signal
import subprocess
import sys
import time

import pytest

import kills
import llm_client
from llm_upstream import BatchServer, said
from loopback import Answer, answer
from unlearning.llm.backends import openai as backend
from unlearning.llm.endpoint import batch, client
from unlearning.llm.endpoint.chat import body_of
from unlearning.llm.endpoint.errors import Stopped
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import Failure, Reply

N = 12


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", kills.KEY)
    monkeypatch.setattr(client, "BACKOFF", 0.02)
    monkeypatch.setattr(batch, "POLL", 0.01)


def requests(n=N):
    return [request for request, _ in requests_of(llm_client.prompts(n))]


def opened(server, folder, **changed):
    return backend.open(llm_client.settings(server.url, batch=True, batches=str(folder / "b.sqlite"), **changed))


def results(server, folder, n=N, **changed) -> dict:
    there = opened(server, folder, **changed)
    try:
        return dict(there.ask(requests(n)))
    finally:
        there.close()


def wanted(n=N) -> dict:
    settings = llm_client.settings("http://h")
    return {i: Reply(said(body_of(request, settings)), "stop", 10, 5) for i, request in enumerate(requests(n))}


def test_a_batch_answers_every_request_by_its_id_in_whatever_order(tmp_path):
    with BatchServer(edit=lambda lines: lines[::-1]) as server:
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 1 and server.asked == [r.messages[-1]["content"] for r in requests()]
    assert server.batches["batch-0"]["endpoint"] == "/v1/chat/completions"


def test_lines_that_are_missing_wrong_or_nobodys_are_asked_for_again(tmp_path):
    def edit(lines):
        if len(lines) < N:
            return lines
        missing, malformed, unusable, failing = 0, 1, 2, 3
        lines[malformed] = '{"custom_id": "x", "respo'
        lines[unusable]["response"]["body"]["choices"] = []
        lines[failing]["response"] = {"status_code": 500, "body": {"error": {"message": "busy"}}}
        nobodys = {**lines[5], "custom_id": "nobody's"}
        return [line for i, line in enumerate(lines) if i != missing] + [nobodys, "null", lines[6]]

    with BatchServer(edit=edit) as server:
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 2 and len(server.asked) == N + 4


def test_a_line_that_is_never_answered_or_refused_is_a_failure(tmp_path):
    def edit(lines):
        for line in lines:
            if line["response"]["body"]["choices"][0]["message"]["content"] == wanted()[1].text:
                line["response"] = {"status_code": 400, "body": {"error": {"message": "too long"}}}
        return [line for line in lines if line["response"]["body"].get("error") or
                line["response"]["body"]["choices"][0]["message"]["content"] != wanted()[0].text]  # fmt: skip

    with BatchServer(edit=edit) as server:
        got = results(server, tmp_path)
    assert got[0] == Failure("no usable reply in 3 batches; the last time its batch did not answer it")
    assert got[1].reason.startswith("refused: HTTP 400") and len(server.batches) == 3
    assert {i: r for i, r in got.items() if i > 1} == {i: r for i, r in wanted().items() if i > 1}


def test_a_large_table_goes_up_in_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MOST_REQUESTS", 5)
    with BatchServer() as server:
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 3 and len(server.asked) == N


def test_a_run_that_was_ended_takes_up_its_batch(tmp_path):
    with BatchServer() as server:
        first = opened(server, tmp_path)
        reading = first.ask(requests())
        got = dict([next(reading), next(reading)])
        reading.close()
        first.close()
        again = opened(server, tmp_path)
        left = [i for i in range(N) if i not in got]
        for position, result in again.ask([requests()[i] for i in left]):
            got[left[position]] = result
        again.close()
    assert got == wanted() and len(server.batches) == 1 and len(server.asked) == N


def test_a_batch_whose_start_was_not_confirmed_is_found_instead_of_started_again(tmp_path):
    # done, but the answer is lost on its way
    with BatchServer(before={("POST", "batches", "done"): Answer(500, b"{}")}) as server:
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 1


def test_faults_on_the_way_are_tried_again(tmp_path):
    busy = answer(503, {})
    broken = {("POST", "files"): busy, ("GET", "batches"): Answer(200, b"{"), ("GET", "files"): busy}
    with BatchServer(before=broken) as server:
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 1


def test_a_refused_batch_says_why_and_is_not_waited_for_again(tmp_path):
    with BatchServer(looks=99) as server:
        bad = {"id": "batch-0", "object": "batch", "status": "failed", "errors": {"data": [{"message": "token limit"}]}}
        made = server._look
        server._look = lambda found: bad
        with pytest.raises(Stopped, match="batch batch-0 was refused: .*token limit.*b.sqlite: delete it"):
            results(server, tmp_path)
        server._look, server.looks = made, 2
        assert results(server, tmp_path) == wanted()
    assert len(server.batches) == 2


def test_a_killed_job_pays_for_one_batch(tmp_path):
    with BatchServer(looks=40) as server:
        script, env = kills.TESTS / "llm_client.py", kills.environment()
        command = [sys.executable, script, server.url, tmp_path, str(N), json.dumps({"batch": True})]
        job = subprocess.Popen(command, env=env)
        while not (server.batches and server.batches["batch-0"]["looks"] > 2):
            assert job.poll() is None
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)
        job.wait()
        assert not server.asked  # the batch was on its way
        subprocess.run(command, env=env, check=True)
    completions = kills.read_table(tmp_path / "completions.parquet", "completions")
    assert list(completions["text"]) == [reply.text for reply in wanted().values()]
    assert len(server.batches) == 1 and len(server.asked) == N
    for file in tmp_path.iterdir():
        assert kills.KEY.encode() not in file.read_bytes()
