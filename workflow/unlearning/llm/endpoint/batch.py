"""The Batch API: requests go up as one file, results come down within a day, at a lower price.

Which batch a request waits in is kept in an SQLite file beside the response store, before the batch is started: a run
that is killed and started again waits for the same batch instead of paying for another.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from unlearning.llm.budget import SpendingCap
from unlearning.llm.database import connect, writing
from unlearning.llm.endpoint.chat import Unusable, body_of, reply_of
from unlearning.llm.endpoint.client import Client
from unlearning.llm.endpoint.errors import Again, Stopped
from unlearning.llm.requests import Failure, Reply, Request

log = logging.getLogger(__name__)
MARK = 0x4C4C4D42  # "LLMB" in the file's header
TABLE = "CREATE TABLE waiting (custom_id TEXT PRIMARY KEY, file TEXT NOT NULL, batch TEXT) WITHOUT ROWID"
MOST_REQUESTS = 50_000  # in one batch; OpenAI's limits
MOST_BYTES = 190_000_000
POLL = 20.0  # seconds between looks at a batch
ENDED = ("completed", "failed", "expired", "cancelled")
ADDRESS = "/v1/chat/completions"
REFUSALS = (400, 413, 422)
ROUNDS = 3  # batches that a request may be put in before it is given up


class Waiting:
    """Which file and batch each request is in, on disk."""

    def __init__(self, path: str):
        self._connection = connect(path, MARK, TABLE, "record of batches")

    def files(self, ids: Iterable[str]) -> dict[str, str | None]:
        """The uploaded files that hold any of `ids`, each with its batch (None: not known to have been started)."""
        wanted = set(ids)
        rows = self._connection.execute("SELECT custom_id, file, batch FROM waiting").fetchall()
        return {file: batch for ident, file, batch in rows if ident in wanted}

    def ids(self) -> set[str]:
        """All requests that wait."""
        return {row[0] for row in self._connection.execute("SELECT custom_id FROM waiting")}

    def within(self, file: str) -> set[str]:
        """The requests in an uploaded file."""
        return {row[0] for row in self._connection.execute("SELECT custom_id FROM waiting WHERE file = ?", (file,))}

    def uploaded(self, ids: Iterable[str], file: str) -> None:
        """The requests `ids` are in `file`."""
        with writing(self._connection):
            self._connection.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, NULL)", [(i, file) for i in ids])

    def started(self, file: str, batch: str) -> None:
        """`file` is worked on as `batch`."""
        with writing(self._connection):
            self._connection.execute("UPDATE waiting SET batch = ? WHERE file = ?", (batch, file))

    def over(self, file: str) -> None:
        """What was in `file` has been read, or will never come."""
        with writing(self._connection):
            self._connection.execute("DELETE FROM waiting WHERE file = ?", (file,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def under_way(settings: Mapping, requests: Iterable[Request]) -> set[int]:
    """The positions of those of `requests` that wait in a batch of an earlier run, or of another job."""
    waiting = Waiting(settings["batches"])
    try:
        ids = waiting.ids()
    finally:
        waiting.close()
    return {i for i, request in enumerate(requests) if ids and _ident(body_of(request, settings), settings) in ids}


def _ident(body: Mapping, settings: Mapping) -> str:
    return hashlib.sha256(json.dumps([settings["base_url"], body], sort_keys=True).encode()).hexdigest()


def ask_in_batches(
    client: Client, requests: Iterable[Request], again: Callable[[Request], object] = lambda request: None
) -> Iterator[tuple[int, Reply | Failure]]:
    """Yield (position, result) as batches end; a request that a batch lost goes into another one, up to ROUNDS.

    `client.settings["batches"]` is the path of the record of batches. `again(request)` is called before a request goes
    into another batch after one that may have been billed; a SpendingCap that it raises ends its rounds.
    Stopped: a batch could not be started. Every request has its result before that is raised; those in a batch that
    may be under way may be billed.
    """
    bodies: dict[str, dict] = {}
    positions: dict[str, list[int]] = {}
    asked: dict[str, Request] = {}
    for position, request in enumerate(requests):
        body = body_of(request, client.settings)
        ident = _ident(body, client.settings)
        bodies[ident], asked[ident] = body, request
        positions.setdefault(ident, []).append(position)
    waiting, stopped = Waiting(client.settings["batches"]), None
    lost = dict.fromkeys(bodies, Again("its batch did not answer it"))
    try:
        try:
            for ident, result in _results(client, waiting, bodies, lost, lambda ident: again(asked[ident])):
                yield from ((position, result) for position in positions.pop(ident))
        except Stopped as error:
            path = client.settings["batches"]
            stopped = Stopped(f"{error}. Batches on their way are noted in {path}: delete it to start anew")
        still = waiting.ids()
        for ident, places in positions.items():
            failure = Failure(str(stopped), charged=ident in still or lost[ident].charged, waits=ident in still)
            yield from ((position, failure) for position in places)
    finally:
        waiting.close()
    if stopped:
        raise stopped


def _results(
    client: Client, waiting: Waiting, bodies: dict[str, dict], lost: dict[str, Again], again: Callable[[str], object]
) -> Iterator[tuple[str, Reply | Failure]]:
    """`lost`: why those that have no result yet must go into another batch."""
    for _ in range(ROUNDS):
        for ident in [ident for ident, last in lost.items() if last.charged]:
            try:
                again(ident)
                lost[ident] = lost[ident]._replace(charged=False)
            except SpendingCap as error:
                del lost[ident]
                yield ident, Failure(str(error), charged=True)
        there = waiting.files(lost)
        inside = set().union(*(waiting.within(file) for file in there))
        for part in _parts({ident: bodies[ident] for ident in lost if ident not in inside}):
            file = _upload(client, part)
            waiting.uploaded(part, file)
            there[file] = None
        for file, batch in there.items():
            if batch is None:
                there[file] = batch = _start(client, file)
                waiting.started(file, batch)
        for file, batch in there.items():
            for ident, result in _read(client, waiting, file, batch):
                if ident not in lost:
                    continue  # nobody's, or read already
                if isinstance(result, Again):
                    lost[ident] = result
                else:
                    del lost[ident]
                    yield ident, result
            waiting.over(file)
        if not lost:
            return
    for ident, last in lost.items():
        yield ident, Failure(f"no usable reply in {ROUNDS} batches; the last time {last.reason}", last.charged)


def _parts(bodies: Mapping[str, dict]) -> Iterator[dict[str, bytes]]:
    """Lines of batch files by custom id, in files that are not too large."""
    part: dict[str, bytes] = {}
    size = 0
    for ident, body in bodies.items():
        line = json.dumps({"custom_id": ident, "method": "POST", "url": ADDRESS, "body": body}).encode() + b"\n"
        if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield part
            part, size = {}, 0
        part[ident] = line
        size += len(line)
    if part:
        yield part


def _called(client: Client, call: Callable, what: str) -> Any:
    """The JSON object or the bytes that `call` brings, tried like any call."""
    result = client.submit(client.tried(call)).result()
    if client.stopped:
        raise client.stopped
    if isinstance(result, Failure):
        raise Stopped(f"{client.settings['model']} at {client.settings['base_url']}: {what}: {result.reason}")
    return result


def _object(raw: Any, kind: str) -> dict:
    try:
        body = json.loads(raw.content)
    except ValueError as error:
        raise Unusable(f"the body is not whole JSON ({error})") from None
    if not isinstance(body, dict) or not isinstance(body.get("id"), str) or body.get("object", kind) != kind:
        raise Unusable(f"the body is no {kind}")
    return body


def _upload(client: Client, part: Mapping[str, bytes]) -> str:
    lines = b"".join(part.values())

    async def call() -> str:
        raw = await client.api.files.with_raw_response.create(file=("requests.jsonl", lines), purpose="batch")
        return _object(raw, "file")["id"]

    return _called(client, call, "the file of a batch cannot be sent")


def _start(client: Client, file: str) -> str:
    """The batch that works on `file`: started, unless an earlier attempt that got no answer has started it."""

    async def call() -> str:
        async for batch in client.api.batches.list(limit=100):
            if batch.input_file_id == file:
                return batch.id
        raw = await client.api.batches.with_raw_response.create(
            input_file_id=file, endpoint=ADDRESS, completion_window="24h"
        )
        return _object(raw, "batch")["id"]

    return _called(client, call, "a batch cannot be started")


def _read(client: Client, waiting: Waiting, file: str, batch: str) -> Iterator[tuple[str, Reply | Failure | Again]]:
    """Results by custom id, once `batch` has ended; an Again says why one has to be asked for again."""
    state = _ended(client, batch)
    if state["status"] == "failed":
        waiting.over(file)
        raise Stopped(f"batch {batch} was refused: {json.dumps(state.get('errors'))[:300]}")
    for name in ("output_file_id", "error_file_id"):
        if state.get(name):
            for line in _content(client, state[name]).splitlines():
                yield from _line(line)


def _ended(client: Client, batch: str) -> dict:
    """The batch's state after it has ended, however long that takes."""

    async def call() -> dict:
        return _object(await client.api.batches.with_raw_response.retrieve(batch), "batch")

    while True:
        state = _called(client, call, f"batch {batch} cannot be looked at")
        if state.get("status") in ENDED:
            return state
        log.info("batch %s: %s, %s", batch, state.get("status"), state.get("request_counts"))
        client.submit(asyncio.sleep(POLL)).result()


def _content(client: Client, file: str) -> bytes:
    async def call() -> bytes:
        return (await client.api.files.with_raw_response.content(file)).content

    return _called(client, call, f"results {file} cannot be read")


def _line(line: bytes) -> Iterator[tuple[str, Reply | Failure | Again]]:
    """The result in a line of a batch's output; a line that is none says nothing about any request."""
    try:
        entry = json.loads(line)
        ident, response = entry["custom_id"], entry.get("response") or {}
    except (ValueError, TypeError, KeyError, AttributeError):
        return
    if not isinstance(ident, str) or not isinstance(response, Mapping):
        return
    status, body = response.get("status_code"), response.get("body")
    if status == 200:
        try:
            yield ident, reply_of(body if isinstance(body, Mapping) else {})
        except Unusable as error:
            yield ident, Again(str(error), charged=True)
        return
    said = json.dumps(body or entry.get("error"))[:300]
    why = f"HTTP {status}: {said}"
    yield ident, Failure(f"refused: {why}", refused=True) if status in REFUSALS else Again(why)
