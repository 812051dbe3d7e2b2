"""What a paid endpoint bills never passes the cap, and what it certainly did not bill does not count against it."""

import json
import random
import threading

import httpx2 as httpx
import openai
import pytest

import llm_client
import llm_fakes as fakes
from llm_server import free_port
from llm_upstream import BatchServer, Upstream, chat
from loopback import Answer, answer
from unlearning.llm.budget import TOKENS_AROUND, Budget, SpendingCap
from unlearning.llm.complete import NoReplies, complete, open_door
from unlearning.llm.endpoint import batch, client
from unlearning.llm.endpoint.errors import judged
from unlearning.llm.requests import Failure, Reply, Request, Sampling

PRICE = {"input": 1000.0, "output": 2000.0}  # USD per million tokens
TOKENS = 50  # that a reply may have
ASK = fakes.ASK._replace(reply="text")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", "sk-planted-b81c5d0f42a7e936")
    monkeypatch.setattr(client, "BACKOFF", 0.005)
    monkeypatch.setattr(batch, "POLL", 0.01)


def most(body: dict) -> tuple[int, int]:
    """Tokens that a call can take at most, as the door reserves them."""
    return sum(len(m["content"].encode()) + TOKENS_AROUND for m in body["messages"]), body["max_tokens"]


def usd(read: int, written: int) -> float:
    return (read * PRICE["input"] + written * PRICE["output"]) / 1e6


def refusal(status: int, **headers: str) -> Answer:
    return answer(status, {"error": {"message": "no", "code": None, "type": "t"}}, **headers)


def job(url: str, folder, texts, cap: float | None, **changed):
    """Completes `texts` by the endpoint, or raises what a job would."""
    door = llm_client.door_settings(url, **{"structured": "none", "attempts": 3, "concurrency": 4, **changed})
    with open_door(door | {"cap": cap, "price": PRICE, "reask": 0}, folder) as opened:
        return complete(fakes.prompts(texts, prompt=ASK, max_tokens=TOKENS), opened, progress=False)


def spent(folder) -> float:
    return Budget(folder / "spending.sqlite", None, PRICE).spent()


class Billing:
    """Replies of a server that bills what it works on, whatever becomes of the answer on its way."""

    def __init__(self, seed: int):
        self.draw, self.billed, self.lost = random.Random(seed), 0.0, 0

    def __call__(self, body: dict) -> Answer | None:
        kind = self.draw.choice(["whole"] * 4 + ["uncounted", "cut", "broken", "dropped", 500, 502, 504, 429, 503, 408])
        read, written = most(body)
        if kind in (429, 503, 408):
            return refusal(kind)
        if kind == "whole":
            read, written = self.draw.randint(1, read), self.draw.randint(0, written)
        self.billed += usd(read, written)
        self.lost += kind not in ("whole", "uncounted")
        found = chat(body) | {"usage": {"prompt_tokens": read, "completion_tokens": written}}
        if kind == "uncounted":
            del found["usage"]
        reply = answer(200, found)
        late = {"cut": reply._replace(sent=40), "broken": reply._replace(body=reply.body[:60]), "dropped": None}
        return refusal(kind) if isinstance(kind, int) else late.get(kind, reply)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_billed_is_what_is_counted_and_never_passes_the_cap(seed, tmp_path):
    texts = [f"{seed}, text {i}" for i in range(15)]
    worst = usd(
        *most({"messages": [{"content": ASK.system}, {"content": f"Translate {texts[-1]}."}], "max_tokens": 50})
    )
    billing, cap = Billing(seed), 14.5 * worst
    with Upstream(replies=[billing] * 10_000) as server:
        ended = None
        while not isinstance(ended, SpendingCap | tuple):
            try:
                ended = job(server.url, tmp_path, texts, cap)
            except (NoReplies, SpendingCap) as error:
                ended = error
            assert spent(tmp_path) == pytest.approx(billing.billed) and billing.billed <= cap
    assert billing.lost > 5  # attempts that were billed for nothing are among them
    if isinstance(ended, SpendingCap):
        assert billing.billed > cap - worst  # no more of it is kept back than the next call may need


def test_the_cap_holds_in_threads_and_jobs_at_once(tmp_path):
    request = Request("p", 0, [{"role": "user", "content": "x" * 84}], Sampling(max_tokens=100), None, {}, "judge")
    jobs = [Budget(tmp_path / "b.sqlite", 3.0, PRICE) for _ in range(2)]  # a call costs 0.3 at most: ten at a time
    lock, billed, most_billed = threading.Lock(), [0.0], []

    def bill(amount: float) -> None:
        with lock:
            billed[0] += amount
            most_billed.append(billed[0])

    def work(budget: Budget, seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(25):
            try:
                reserved = budget.reserve(request)
            except SpendingCap:
                continue
            outcome = draw.choice(["reply", "refused", "refused", "refused", "lost"])
            if outcome == "refused":
                budget.settle(reserved, Failure("HTTP 429"))
            elif outcome == "lost":
                bill(0.3)
                budget.settle(reserved, Failure("timeout", charged=True))
            else:
                reply = Reply("x", "stop", draw.randint(1, 20), draw.randint(0, 20))
                bill(usd(reply.input_tokens, reply.output_tokens))
                budget.settle(reserved, reply)

    threads = [threading.Thread(target=work, args=(jobs[i % 2], i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most_billed) <= 3.0 and jobs[0].spent() == pytest.approx(billed[0])
    assert billed[0] > 2.0  # the cap was what ended it


UNBILLED = {
    "key": refusal(401), "request": refusal(400), "rate": refusal(429), "busy": refusal(503),
    "wait": refusal(429, retry_after="7200"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNBILLED)
def test_what_was_certainly_not_billed_is_released_however_often_it_is_tried(name, tmp_path):
    with Upstream(replies=[UNBILLED[name]] * 10_000) as server:
        for _ in range(3):
            try:
                completions, _ = job(server.url, tmp_path, list("abcdefgh"), 1.0, attempts=2)
                assert completions["failed"].str.startswith("refused: HTTP 400").all()
            except NoReplies:
                pass
            assert spent(tmp_path) == 0
        server.replies = []
        completions, _ = job(server.url, tmp_path, list("abcdefgh"), 1.0)
    assert completions["failed"].isna().all() and spent(tmp_path) == pytest.approx(8 * usd(10, 5))


def test_nothing_is_reserved_for_an_endpoint_that_is_not_there(tmp_path):
    url = f"http://127.0.0.1:{free_port()}/v1"
    for address in (url, "http://no-such-host.invalid/v1"):
        with pytest.raises(NoReplies, match="connection failed"):
            job(address, tmp_path, list("abcdefgh"), 1.0, attempts=2)
    assert spent(tmp_path) == 0


def test_another_try_after_one_that_may_be_billed_waits_for_room_below_the_cap(tmp_path):
    with Upstream(replies=[lambda body: None] * 100) as server:
        with pytest.raises(NoReplies, match="no reply to 1 of 1 requests. Why: 1 × llm.spending_cap: 0.1"):
            job(server.url, tmp_path, ["a"], 0.25, attempts=4)
    # 36 bytes and two times 16 around them at 0.001 USD, 50 tokens written at 0.002: 0.168 a call; two would pass 0.25
    assert len(server.bodies) == 1 and spent(tmp_path) == pytest.approx(usd(*most(server.bodies[0])))


@pytest.mark.parametrize(
    ("cause", "charged", "unreached"),
    [
        (httpx.ConnectError("refused"), False, True),
        (httpx.ConnectTimeout("nobody answers"), False, True),
        (httpx.ProxyError("no way"), False, True),
        (httpx.ReadTimeout("sent"), True, False),
        (httpx.WriteError("half sent"), True, False),
        (httpx.ReadError("reset"), True, False),
        (httpx.RemoteProtocolError("hung up"), True, False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_a_connection_that_never_was_is_certainly_free(cause, charged, unreached):
    request = httpx.Request("POST", "http://h/v1")
    timeout = isinstance(cause, httpx.TimeoutException)
    error = openai.APITimeoutError(request) if timeout else openai.APIConnectionError(request=request)
    error.__cause__ = cause
    verdict = judged(error, llm_client.settings("http://h/v1"), answered=False)
    assert (verdict.charged, verdict.unreached) == (charged, unreached)
    assert judged(TimeoutError(), llm_client.settings("http://h/v1"), answered=False).charged


# The Batch API


def batches(server, folder, texts, cap=100.0):
    return job(server.url, folder, texts, cap, batch=True, attempts=2)


def test_a_batch_that_cannot_be_sent_is_not_counted_and_one_under_way_is(tmp_path):
    texts = list("abcdef")
    with BatchServer(before={("POST", "files"): refusal(401)}) as server:
        with pytest.raises(NoReplies, match="no reply to 6 of 6 .*HTTP 401"):
            batches(server, tmp_path, texts)
        assert spent(tmp_path) == 0
        server.looks, made = 99, server._look
        server._look = lambda found: {**made(found), "id": 5}  # a batch that cannot be looked at
        with pytest.raises(NoReplies, match="no reply to 6 of 6 .*batch batch-0 cannot be looked at"):
            batches(server, tmp_path, texts)
        lines = next(iter(server.files.values())).splitlines()
        reserved = sum(usd(*most(json.loads(line)["body"])) for line in lines)
        assert spent(tmp_path) == pytest.approx(reserved)
        for _ in range(2):  # the job that is run again waits for the same batch, and reserves nothing more for it
            with pytest.raises(NoReplies, match="no reply to 6 of 6 .*batch batch-0 cannot be looked at"):
                batches(server, tmp_path, texts, cap=1.1 * reserved)
            assert spent(tmp_path) == pytest.approx(reserved)
        server._look, server.looks = made, 100
        completions, _ = batches(server, tmp_path, ["new", *texts], cap=1.1 * reserved)
    assert completions["failed"].isna().all() and len(server.asked) == 7
    assert spent(tmp_path) == pytest.approx(7 * usd(10, 5))


def test_a_batch_that_a_job_no_longer_waits_for_keeps_counting(tmp_path):
    with BatchServer() as server:
        made = server._look
        server._look = lambda found: {**made(found), "id": 5}
        with pytest.raises(NoReplies):
            batches(server, tmp_path, list("abc"))
        reserved = spent(tmp_path)
        server._look = made
        (tmp_path / "served.batches.sqlite").unlink()
        batches(server, tmp_path, list("abc"))
    assert len(server.batches) == 2 and spent(tmp_path) == pytest.approx(reserved + 3 * usd(10, 5))


@pytest.mark.parametrize("status", ["expired", "cancelled", "failed"])
def test_what_a_batch_that_ended_early_left_undone_is_not_counted(status, tmp_path):
    def late(lines):  # an expired batch says so for each, a cancelled one has no line
        error = {"code": "batch_expired", "message": "too late"}
        left = [{**line, "response": None, "error": error} for line in lines[1:] if status == "expired"]
        return [*lines[:1], *left] if len(server.batches) == 1 else lines

    with BatchServer(edit=late) as server:
        made = server._look

        def look(found):
            state, empty = made(found), {"output_file_id": None} if status == "failed" else {}
            ended = state["status"] == "completed" and found["id"] == "batch-0"
            return {**state, "status": status, **empty} if ended else state

        server._look = look
        if status == "failed":  # before its first request
            with pytest.raises(NoReplies, match="batch-0 was refused"):
                batches(server, tmp_path, list("abc"))
            assert spent(tmp_path) == 0
        completions, _ = batches(server, tmp_path, list("abc"))
    assert completions["failed"].isna().all() and len(server.batches) == 2
    assert spent(tmp_path) == pytest.approx(3 * usd(10, 5))


def test_a_reply_of_no_use_in_a_batch_counts_though_the_next_batch_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MOST_REQUESTS", 1)

    def edit(lines):
        lines[0]["response"]["body"]["choices"] = []
        return lines

    with BatchServer(edit=edit) as server:
        made = server._look
        server._look = lambda found: made(found) if found["id"] == "batch-0" else {**made(found), "id": 5}
        with pytest.raises(NoReplies):
            batches(server, tmp_path, list("ab"))
        first, second = (json.loads(server.files[f"file-{i}"])["body"] for i in range(2))
    assert spent(tmp_path) == pytest.approx(usd(*most(first)) + usd(*most(second)))


def test_a_request_whose_batch_brought_nothing_of_use_counts_once_more(tmp_path):
    def edit(lines):
        if lines[0]["response"]["body"]["choices"] and len(server.batches) == 1:
            lines[0]["response"]["body"]["choices"] = []
        return lines

    with BatchServer(edit=edit) as server:
        completions, _ = batches(server, tmp_path, list("abc"))
        first = json.loads(next(iter(server.files.values())).splitlines()[0])["body"]
    assert completions["failed"].isna().all() and len(server.batches) == 2
    assert spent(tmp_path) == pytest.approx(3 * usd(10, 5) + usd(*most(first)))
