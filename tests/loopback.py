"""A small HTTP/1.1 server on loopback, in a thread of its own, whose handler may also misbehave."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

PIECES = 20  # of a slow body: each comes soon after the one before


class Call(NamedTuple):
    """A request as it came: header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What goes back. `sent`: bytes sent before the connection is dropped; `pause`: seconds that the body takes."""

    status: int
    body: bytes
    headers: dict[str, str] = {}
    sent: int | None = None
    pause: float = 0.0


Handler = Callable[[Call], Awaitable[Answer | None]]  # None drops the connection


def answer(status: int, content: Any, **headers: str) -> Answer:
    """JSON."""
    return Answer(status, json.dumps(content).encode(), {k.replace("_", "-"): v for k, v in headers.items()})


def completion(call: Call, said: object) -> Answer:
    """An OpenAI-compatible server's answer to `call`: `said` as JSON, 100 tokens read and 10 written."""
    message = {"role": "assistant", "content": json.dumps(said, ensure_ascii=False)}
    content = {
        "id": "x", "object": "chat.completion", "created": 1, "model": json.loads(call.body)["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip
    return answer(200, content, x_client_request_id=call.headers.get("x-client-request-id", ""))


class Loopback:
    """`with Loopback(handler) as server: server.url`. `active` is how many calls are being worked on."""

    def __init__(self, handler: Handler):
        self.handler, self.active = handler, 0
        self._loop = asyncio.new_event_loop()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self.port = self._server.result(10)
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> int:
        self.listening = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        return self.listening.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self.listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while call := await _read(reader):
                self.active += 1
                try:
                    if not await _write(writer, await self.handler(call)):
                        break
                finally:
                    self.active -= 1
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Call | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    return Call(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _write(writer: asyncio.StreamWriter, reply: Answer | None) -> bool:
    """Send `reply`; False when the connection is to be dropped."""
    if reply is None:
        return False
    headers = {"content-type": "application/json", "content-length": str(len(reply.body)), **reply.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode("latin-1"))
    body = reply.body if reply.sent is None else reply.body[: reply.sent]
    size = len(body) // PIECES if reply.pause else len(body)
    for start in range(0, len(body), max(size, 1)):
        writer.write(body[start : start + size])
        await writer.drain()
        await asyncio.sleep(reply.pause / PIECES)
    return reply.sent is None
