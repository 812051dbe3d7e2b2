"""Backend `openai`: any OpenAI-compatible endpoint, through the official client.

At most `concurrency` calls are out at a time; requests and tokens per minute are kept by spacing the calls (a call
counts the most tokens it can take, as providers count). With `batch: true` requests go through the Batch API instead.
"""

import queue
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from unlearning.llm.budget import most_input_tokens
from unlearning.llm.endpoint.chat import Unusable, body_of, reply_of
from unlearning.llm.endpoint.client import Client
from unlearning.llm.endpoint.pace import Pace
from unlearning.llm.requests import Failure, Reply, Request, identity_of


def open(settings: Mapping[str, Any]) -> "OpenAI":
    """The backend of `settings`, an entry of `backends`. ValueError: the key is not set, or the address is none."""
    return OpenAI(settings)


class OpenAI:
    """Asks an endpoint. The first `ask` connects.

    `again(request)` is called before an attempt at a request that follows one which may have been billed: whoever
    keeps a budget puts its `reserve` there.
    """

    again: Callable[[Request], object] = staticmethod(lambda request: None)

    def __init__(self, settings: Mapping[str, Any]):
        self._client = Client(settings)
        self.settings = self._client.settings
        self.identity = identity_of(settings)
        self._requests, self._tokens = (Pace(settings[f"{unit}_per_minute"]) for unit in ("requests", "tokens"))
        self._limit = "max_tokens"

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | Failure]]:
        """Yield (position, result) as each call is done, pulling a request when there is room for its call.

        Stopped: all calls would fail (a refused key, no money, endpoint down). That, and an error in `requests`, is
        raised after every request that was pulled has its result. Closing the generator ends the calls under way.
        """
        self._client.start()
        if self.settings["batch"]:
            from unlearning.llm.endpoint.batch import ask_in_batches

            yield from ask_in_batches(self._client, requests, self.again)
            return
        yield from self._ask(enumerate(requests))

    def under_way(self, requests: Iterable[Request]) -> set[int]:
        """The positions of those of `requests` that wait in a batch already."""
        if not self.settings["batch"]:
            return set()
        from unlearning.llm.endpoint.batch import under_way

        return under_way(self.settings, requests)

    def _ask(self, source: Iterator[tuple[int, Request]]) -> Iterator[tuple[int, Reply | Failure]]:
        done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        out: dict[Future, int] = {}
        stop: Exception | None = None
        try:
            while True:
                while not (stop or self._client.stopped) and len(out) < self.settings["concurrency"]:
                    try:
                        position, request = next(source)
                    except StopIteration:
                        break
                    except Exception as error:
                        stop = error
                        break
                    future = self._client.submit(self._answer(request))
                    out[future] = position
                    future.add_done_callback(done.put)
                if not out:
                    break
                future = done.get()
                yield out.pop(future), future.result()
        finally:
            for future in out:
                future.cancel()
        if stop := stop or self._client.stopped:
            raise stop

    async def _answer(self, request: Request) -> Reply | Failure:
        return await self._client.tried(
            lambda: self._call(request), lambda: self._delay(request), lambda: self.again(request)
        )

    def _delay(self, request: Request) -> float:
        tokens = most_input_tokens(request) / 4 + request.sampling.max_tokens
        return max(self._requests.delay(), self._tokens.delay(tokens))

    async def _call(self, request: Request) -> Reply:
        """One call. The mark in its header, where a server sends it back, tells a reply to another request."""
        import openai

        mark = uuid.uuid4().hex
        body = body_of(request, self.settings)
        body[self._limit] = body.pop("max_tokens")
        try:
            raw = await self._client.api.chat.completions.with_raw_response.create(
                **body, extra_headers={"X-Client-Request-Id": mark}
            )
        except openai.BadRequestError as error:
            if self._limit == "max_completion_tokens" or "max_completion_tokens" not in error.message:
                raise
            self._limit = "max_completion_tokens"  # reasoning models know the limit by this name only
            return await self._call(request)
        if raw.headers.get("x-client-request-id", mark) != mark:
            raise Unusable("the reply is to another request")
        return reply_of(raw.content)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
