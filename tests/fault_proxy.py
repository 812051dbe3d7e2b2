"""A reverse proxy before an OpenAI-compatible server that injects faults by a seed, and counts them and all calls.

Which fault a call meets depends on the seed, the request's body and how often that body came, not on any order.
"""

import asyncio
import collections
import hashlib
import json
from urllib.parse import urlsplit

from loopback import Answer, Call, Loopback, answer

FAULTS = (
    "rate",
    "date",
    "error",
    "silent",
    "dropped",
    "cut",
    "truncated",
    "malformed",
    "slow",
    "index",
    "empty",
    "other",
)
MOST_IN_A_ROW = 3  # of one request, so that the attempts a client has suffice


def body_id(body: dict) -> str:
    """What the proxy knows a request by."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


class FaultProxy(Loopback):
    """`calls`: every call as (body id, fault or None), in order of arrival; `share` of calls meets one of `faults`.

    `stall` is how long silent and slow ones take: more than the client waits.
    """

    def __init__(self, upstream: str, share: float, seed: int = 0, faults=FAULTS, stall: float = 6.0):
        super().__init__(self._handle)
        self.upstream, self.share, self.seed, self.kinds, self.stall = upstream, share, seed, faults, stall
        self.calls: list[tuple[str, str | None]] = []
        self.seen: collections.Counter[str] = collections.Counter()
        self.last: Answer | None = None
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    @property
    def faults(self) -> collections.Counter[str]:
        """How often each fault was injected."""
        return collections.Counter(fault for _, fault in self.calls if fault)

    def good(self) -> list[str]:
        """The bodies of the calls that were answered as they should."""
        return [ident for ident, fault in self.calls if not fault]

    def _fault(self, ident: str) -> str | None:
        times = self.seen[ident]
        self.seen[ident] += 1
        drawn = hashlib.sha256(f"{self.seed}/{ident}/{times}".encode()).digest()
        if times % (MOST_IN_A_ROW + 1) == MOST_IN_A_ROW or int.from_bytes(drawn[:4]) / 2**32 >= self.share:
            return None
        return self.kinds[drawn[4] % len(self.kinds)]

    async def _handle(self, call: Call) -> Answer | None:
        if not call.path.endswith("/chat/completions"):
            return await self._forward(call)
        ident = body_id(json.loads(call.body))
        fault = self._fault(ident)
        if fault == "other" and self.last is None:
            fault = "error"
        self.calls.append((ident, fault))
        if fault in BEFORE:
            return BEFORE[fault]()
        if fault == "silent":
            await asyncio.sleep(self.stall)
            return None
        if fault == "dropped":
            return None
        reply = await self._forward(call)
        if fault in AFTER:
            return AFTER[fault](reply)
        if fault == "slow":
            return reply._replace(pause=self.stall)
        if fault == "other":
            return self.last
        self.last = reply
        return reply

    async def _forward(self, call: Call) -> Answer:
        """The upstream server's answer, over a connection that is used again."""
        address = urlsplit(self.upstream)
        reader, writer = (
            self._idle.pop() if self._idle else await asyncio.open_connection(address.hostname, address.port)
        )
        skipped = ("host", "connection", "accept-encoding")
        headers = {"host": address.netloc, **{k: v for k, v in call.headers.items() if k not in skipped}}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"{call.method} {call.path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + call.body)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        got = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(got["content-length"]))
        self._idle.append((reader, writer))
        kept = {k: v for k, v in got.items() if k in ("x-request-id", "x-client-request-id", "content-type")}
        return Answer(int(first.split(" ", 2)[1]), body, kept)


def _index(reply: Answer) -> Answer:
    """The reply with its choice numbered as another."""
    body = json.loads(reply.body)
    body["choices"][0]["index"] = 7
    return reply._replace(body=json.dumps(body).encode())


def _date() -> str:
    """A moment ago as an HTTP date, which means at once."""
    import email.utils
    import time

    return email.utils.formatdate(time.time(), usegmt=True)


BEFORE = {
    "rate": lambda: answer(429, {"error": {"message": "slow down", "code": "rate_limit"}}, retry_after="0.1"),
    "date": lambda: answer(503, {"error": {"message": "overloaded"}}, retry_after=_date()),
    "error": lambda: answer(500, {"error": {"message": "internal"}}),
}
AFTER = {
    "cut": lambda reply: reply._replace(sent=len(reply.body) // 2),
    "truncated": lambda reply: reply._replace(body=reply.body[: len(reply.body) // 2]),
    "malformed": lambda reply: reply._replace(body=reply.body.replace(b":", b";", 3)),
    "index": _index,
    "empty": lambda reply: reply._replace(body=b'{"id": "x", "object": "chat.completion", "choices": []}'),
}
