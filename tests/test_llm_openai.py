"""Backend openai against servers on loopback: what is sent, what is tried again, what stops it, and where no key is."""

import email.utils
import gc
import json
import logging
import os
import threading
import time

import pytest

import llm_client
import llm_fakes
from llm_client import prompts
from llm_server import free_port, tiny_model, transformers_serve
from llm_upstream import Upstream, chat, said
from loopback import Answer, answer
from unlearning.llm.backends import openai as backend
from unlearning.llm.complete import complete, open_door
from unlearning.llm.endpoint import client as client_module
from unlearning.llm.endpoint.chat import Unusable, body_of, reply_of
from unlearning.llm.endpoint.errors import Stopped, retry_after
from unlearning.llm.endpoint.pace import Pace
from unlearning.llm.requests import Failure, Reply, Request, Sampling

KEY = "sk-planted-77c1e0b2a9d84f63"
SCHEMA = {"title": "Word", "type": "object", "properties": {"w": {"type": "string"}}, "required": ["w"]}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", KEY)
    monkeypatch.setattr(client_module, "BACKOFF", 0.02)


def request(text="hello", schema=None, sample=0, **sampling) -> Request:
    return Request("p", sample, [{"role": "user", "content": text}], Sampling(**sampling), schema, {}, "judge")


def asked(server, requests, **changed) -> dict:
    """Results by position."""
    opened = backend.open(llm_client.settings(server if isinstance(server, str) else server.url, **changed))
    try:
        return dict(opened.ask(requests))
    finally:
        opened.close()


def keep(results, got: dict) -> None:
    """Note results as they come, also where an error follows."""
    for position, result in results:
        got[position] = result


def refusal(status, code=None, message="no", **headers):
    return answer(status, {"error": {"message": message, "code": code, "type": "t"}}, **headers)


# What is sent and read


def test_the_body_holds_the_model_the_messages_and_how_the_reply_is_drawn():
    settings = llm_client.settings("http://h/v1", structured="json_schema")
    body = body_of(request("hi", SCHEMA, sample=2, temperature=0.5, top_p=0.9, max_tokens=7, seed=40), settings)
    assert body == {
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5, "top_p": 0.9,
        "max_tokens": 7, "seed": 42,  # the third sample of seed 40
        "response_format": {"type": "json_schema", "json_schema": {"name": "Word", "schema": SCHEMA, "strict": True}},
    }  # fmt: skip


def test_the_form_of_the_reply_is_told_as_the_endpoint_understands_it():
    def form(schema, structured):
        return body_of(request(schema=schema), llm_client.settings("http://h", structured=structured)).get(
            "response_format"
        )

    assert form(SCHEMA, "json_object") == {"type": "json_object"}
    assert form(SCHEMA, "none") is None
    assert form(None, "json_schema") is None


def test_what_was_sent_arrives_and_what_came_back_is_read():
    with Upstream() as server:
        results = asked(server, [request("a"), request("b", seed=3)], concurrency=1)
    assert [b["messages"][0]["content"] for b in server.bodies] == ["a", "b"]
    assert results == {i: Reply(said(body), "stop", 10, 5) for i, body in enumerate(server.bodies)}
    assert {h["authorization"] for h in server.headers} == {f"Bearer {KEY}"}


GOOD = {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "length"}]}


def test_a_reply_without_counts_or_text_is_read_as_such():
    assert reply_of(GOOD) == Reply("x", "length", 0, 0)
    refused = {"choices": [{"message": {"content": None, "refusal": "I will not"}, "finish_reason": "stop"}]}
    assert reply_of(json.dumps(refused)).text == "I will not"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b'{"object": "chat.completion", "choi', b"\xff\xfe\xff", b"[]", b"null", b"{}",
        {**GOOD, "object": "response"}, {**GOOD, "choices": []}, {**GOOD, "choices": None}, {**GOOD, "choices": [1]},
        {**GOOD, "choices": GOOD["choices"] * 2}, {**GOOD, "choices": [{**GOOD["choices"][0], "index": 1}]},
        {**GOOD, "choices": [{"index": 0, "message": None}]}, {**GOOD, "choices": [{"message": {"content": 5}}]},
        {"error": {"message": "busy"}},
    ],
)  # fmt: skip
def test_what_is_no_reply_to_the_request_is_unusable(body):
    with pytest.raises(Unusable):
        reply_of(body)


# Waiting


def test_the_time_to_wait_is_read_from_either_header():
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 28 <= retry_after({"retry-after": soon}) <= 30
    assert retry_after({"retry-after": email.utils.formatdate(time.time() - 30, usegmt=True)}) == 0
    for nothing in ({}, {"retry-after": "later"}, {"retry-after": "nan"}, {"retry-after": "-1"}):
        assert retry_after(nothing) is None


@pytest.mark.parametrize("headers", [{"retry_after": "0.6"}, {"retry_after_ms": "600"}])
def test_a_call_waits_as_long_as_the_server_asks(headers):
    with Upstream(replies=[refusal(429, **headers)]) as server:
        start = time.monotonic()
        results = asked(server, [request()])
    assert isinstance(results[0], Reply) and len(server.bodies) == 2
    assert 0.6 <= time.monotonic() - start < 5


def test_a_wait_of_hours_is_not_waited():
    with Upstream(replies=[refusal(429, retry_after="7200")]) as server, pytest.raises(Stopped, match="wait 7200 s"):
        asked(server, [request()])


def test_calls_are_spaced_by_what_they_take(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pace = Pace(60)  # one unit a second
    assert [pace.delay(), pace.delay(3), pace.delay()] == [0, 1, 4]  # the third waits for 1 + 3 units
    now[0] = 103.0
    assert pace.delay() == 2  # 5 units are booked until 105
    assert Pace(None).delay(1e9) == 0


@pytest.mark.parametrize(
    "limit",
    # 9 calls after the first; a call counts 24 bytes / 4 and 94 tokens it may write: 100 of 60,000 a minute is 0.1 s
    [{"requests_per_minute": 600}, {"tokens_per_minute": 60_000}],
)
def test_the_limits_per_minute_are_kept(limit):
    with Upstream() as server:
        start = time.monotonic()
        assert len(asked(server, [request("x" * 8, max_tokens=94)] * 10, **limit)) == 10
    assert 0.9 <= time.monotonic() - start < 5


# What is tried again, given up, or stops everything


def crossed(body):
    return answer(200, chat(body), x_client_request_id="somebody else's")


AGAIN = {
    "408": refusal(408), "409": refusal(409), "429": refusal(429), "500": refusal(500), "503": Answer(503, b"<html>"),
    "dropped": lambda body: None, "cut": lambda body: answer(200, chat(body))._replace(sent=40),
    "truncated": lambda body: Answer(200, json.dumps(chat(body)).encode()[:60]), "malformed": Answer(200, b"{'a': 1}"),
    "slow": lambda body: answer(200, chat(body))._replace(pause=3.0), "crossed": crossed,
    "empty": Answer(200, b""), "no choices": answer(200, {"object": "chat.completion", "choices": []}),
}  # fmt: skip


@pytest.mark.parametrize("name", AGAIN)
def test_a_fault_is_tried_again(name):
    with Upstream(replies=[AGAIN[name]] * 2) as server:
        results = asked(server, [request()], timeout=0.3 if name == "slow" else 5)
    assert isinstance(results[0], Reply) and len(server.bodies) == 3


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_request_is_a_failure_and_not_asked_again(status):
    with Upstream(replies=[refusal(status, message="too\nlong")]) as server:
        results = asked(server, [request("a"), request("b")], concurrency=1)
    assert results[0] == Failure(f"refused: HTTP {status}: too long", refused=True) and isinstance(results[1], Reply)
    assert len(server.bodies) == 2


def test_attempts_used_up_are_a_failure_with_the_last_reason_and_whether_it_may_be_billed():
    with Upstream(replies=[refusal(503)] * 3 + [refusal(500)] * 3 + [Answer(200, b"{")] * 3) as server:
        results = asked(server, [request(text) for text in "abcd"], attempts=3, concurrency=1)
    assert results[0] == Failure("no usable reply in 3 attempts; the last time HTTP 503: no", charged=False)
    assert results[1] == Failure("no usable reply in 3 attempts; the last time HTTP 500: no", charged=True)
    assert results[2].reason.startswith("no usable reply in 3 attempts; the last time the body is not whole JSON")
    assert results[2].charged and isinstance(results[3], Reply)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (refusal(401), "HTTP 401: the key in LLM_TEST_KEY is refused"),
        (refusal(402), "no quota left"),
        (refusal(403), "the key in LLM_TEST_KEY may not ask this model"),
        (refusal(404, "model_not_found"), "no such model or address"),
        (refusal(429, "insufficient_quota"), "no quota left"),
    ],
)
def test_what_would_fail_every_call_stops_them_all_and_says_why(reply, told):
    with Upstream(replies=[reply] * 1000) as server:
        with pytest.raises(Stopped, match=told) as error:
            asked(server, [request(str(i)) for i in range(100)], concurrency=4)
        assert f"m at {server.url}" in str(error.value) and len(server.bodies) <= 8


def test_what_came_before_the_stop_is_handed_over_and_the_rest_is_not_charged():
    with Upstream(replies=[lambda body: answer(200, chat(body))] * 5 + [refusal(401)] * 99) as server:
        opened, got = backend.open(llm_client.settings(server.url, concurrency=2)), {}
        with pytest.raises(Stopped):
            keep(opened.ask(request(str(i)) for i in range(50)), got)
        opened.close()
    replies = [position for position, result in got.items() if isinstance(result, Reply)]
    rest = [result for result in got.values() if isinstance(result, Failure)]
    assert replies == list(range(5)) and 1 <= len(rest) <= 2  # what was pulled has a result, the other 43 were not
    assert all("HTTP 401" in failure.reason and not failure.charged for failure in rest)


def test_a_403_after_replies_concerns_its_request_only():
    with Upstream(replies=[lambda body: answer(200, chat(body)), refusal(403, message="flagged")]) as server:
        results = asked(server, [request("a"), request("b"), request("c")], concurrency=1)
    assert results[1] == Failure("refused: HTTP 403: flagged", refused=True) and isinstance(results[2], Reply)


def test_an_endpoint_that_is_not_there_is_named():
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(Stopped, match=f"m at {url}: no usable reply in 2 attempts.*is it up"):
        asked(url, [request(str(i)) for i in range(500)], attempts=2)


def test_an_endpoint_that_goes_down_stops_the_run():
    replies = [lambda body: answer(200, chat(body))] * 20 + [refusal(503)] * 10_000
    with Upstream(replies=replies) as server, pytest.raises(Stopped, match="10 requests in a row"):
        asked(server, [request(str(i)) for i in range(500)], attempts=2)
    assert len(server.bodies) < 20 + 2 * (10 + 64)


def test_a_model_that_knows_the_limit_by_its_other_name_is_asked_so():
    told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    with Upstream(replies=[refusal(400, "unsupported_parameter", told)]) as server:
        results = asked(server, [request("a", max_tokens=9), request("b", max_tokens=9)], concurrency=1)
    assert all(isinstance(r, Reply) for r in results.values())
    assert [b.get("max_completion_tokens") for b in server.bodies] == [None, 9, 9]


# Concurrency


def test_requests_are_pulled_when_there_is_room_and_no_more_calls_are_out_than_allowed():
    pulled = []

    def source():
        for i in range(60):
            pulled.append(i)
            yield request(str(i))

    with Upstream(delay=0.02) as server:
        opened = backend.open(llm_client.settings(server.url, concurrency=5))
        for done, _ in enumerate(opened.ask(source())):
            assert len(pulled) - done <= 5
        opened.close()
    assert len(pulled) == 60 and server.most == 5


def test_an_error_in_the_requests_is_raised_after_the_calls_under_way_are_handed_over():
    def source():
        yield from (request(str(i)) for i in range(3))
        raise LookupError("the cap")

    with Upstream(delay=0.1) as server:
        opened, got = backend.open(llm_client.settings(server.url)), {}
        with pytest.raises(LookupError, match="the cap"):
            keep(opened.ask(source()), got)
        opened.close()
    assert sorted(got) == [0, 1, 2] and all(isinstance(result, Reply) for result in got.values())


def test_closing_ends_the_calls_under_way_and_the_thread(caplog):
    slow = [lambda body: answer(200, chat(body))._replace(pause=60.0)] * 100
    with Upstream(replies=[lambda body: answer(200, chat(body)), *slow]) as server:
        opened = backend.open(llm_client.settings(server.url, timeout=60, concurrency=20))
        results = opened.ask(request(str(i)) for i in range(1000))
        assert isinstance(next(results)[1], Reply)
        assert any(thread.name == "endpoint" for thread in threading.enumerate())
        start = time.monotonic()
        results.close()
        opened.close()
        assert time.monotonic() - start < 2 and len(server.bodies) <= 21
    del opened, results
    gc.collect()
    assert "destroyed" not in caplog.text  # what asyncio says of calls that were left behind
    assert not any(thread.name == "endpoint" for thread in threading.enumerate())


# Keys and addresses


def test_a_missing_key_is_named_and_none_is_needed_where_none_is_named(monkeypatch):
    monkeypatch.delenv("LLM_TEST_KEY")
    with pytest.raises(ValueError, match="LLM_TEST_KEY is not set"):
        backend.open(llm_client.settings("http://127.0.0.1:1/v1"))
    with Upstream() as server:
        assert isinstance(asked(server, [request()], key_env=None)[0], Reply)


def test_a_key_with_a_line_end_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", KEY + "\n")
    with pytest.raises(ValueError, match="LLM_TEST_KEY holds spaces") as error:
        backend.open(llm_client.settings("http://127.0.0.1:1/v1"))
    assert KEY not in str(error.value)


@pytest.mark.parametrize("url", ["http://me:secret@host/v1", "https://host/v1?key=secret", "host:8000", "ftp://host"])
def test_an_address_with_a_secret_or_without_a_protocol_is_refused(url):
    with pytest.raises(ValueError) as error:
        backend.open(llm_client.settings(url))
    assert "secret" not in str(error.value)


def test_the_address_does_not_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    opened = backend.open(llm_client.settings(None))
    assert opened.settings["base_url"] == "https://api.openai.com/v1" and opened.identity["endpoint"] is None


ECHOES = {
    "401": refusal(401, message=f"Incorrect API key provided: {KEY}"),
    "400": refusal(400, message=f"bad header Bearer {KEY}"),
    "404": refusal(404, message=f"no model for {KEY}"),
    "500": refusal(500, message=f"trace: {KEY}"),
    "html": Answer(502, f"<p>{KEY}</p>".encode()),
    "body": Answer(200, f"{KEY} is no JSON".encode()),
    "text": answer(200, {"choices": [{"message": {"content": json.dumps({"translation": KEY})}}]}),
}  # fmt: skip


@pytest.mark.parametrize("name", ECHOES)
def test_a_key_that_the_server_echoes_appears_nowhere(name, tmp_path, caplog, capsys):
    caplog.set_level(logging.DEBUG, logger="unlearning")
    with Upstream(replies=[ECHOES[name]] * 1000) as server:
        try:
            with open_door(llm_client.door_settings(server.url, attempts=2), tmp_path) as door:
                told = str([t.to_dict() for t in complete(prompts(3), door)])
        except ValueError as error:
            told = f"{error!r} {error.__cause__!r} {error.__context__!r}"
    said = capsys.readouterr()
    assert told and KEY not in told + caplog.text + said.out + said.err
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


# A real server


def test_a_real_server_answers_through_the_door_as_its_model_does(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from unlearning.llm.prompts import Prompt

    folder = tiny_model(tmp_path / "model")
    texts = [f"What does person {i} like?" for i in range(20)]
    table = llm_fakes.prompts(texts, prompt=Prompt("t", "v", None, "{{ text }}", "text"), max_tokens=12)
    with transformers_serve(folder, tmp_path / "server.log") as url:
        settings = llm_client.door_settings(url, model=str(folder), structured="none", concurrency=4, timeout=30)
        with open_door(settings, tmp_path / "store") as door:
            completions, usage = complete(table, door, progress=False)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    own = []
    for text in texts:
        ids = tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        out = model.generate(**ids, max_new_tokens=12, do_sample=False)
        own.append(tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True))
    assert list(completions["text"]) == own and len(set(own)) >= 15
    assert completions["failed"].isna().all() and int(usage["output_tokens"].iloc[0]) > 0
    assert KEY not in (tmp_path / "server.log").read_text() and os.environ["LLM_TEST_KEY"] == KEY
