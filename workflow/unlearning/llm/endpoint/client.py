"""Calls to an OpenAI-compatible endpoint, each tried until it succeeds, is refused, or has had its attempts.

The event loop lives in a thread of its own, so that calls go on and time out as they should while replies are stored.
"""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from unlearning.llm.budget import SpendingCap
from unlearning.llm.endpoint.errors import Again, Stop, Stopped, judged
from unlearning.llm.endpoint.pace import sleep_unless
from unlearning.llm.keys import address_problem, read_key, redacted
from unlearning.llm.requests import Failure

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")
OPENAI = "https://api.openai.com/v1"
BACKOFF = 0.5  # seconds: after attempt n a call waits a random time of up to BACKOFF * 2**(n - 1) …
LONGEST_BACKOFF = 60.0  # … but no more than this, on top of what the server asks for
LOST_IN_A_ROW = 10  # so many requests in a row without a usable reply mean that the endpoint is down
LONGEST_CONNECT = 10.0  # seconds to wait for a connection; its own limit, so that one never made is known as such
NO_KEY = "none"  # servers without keys ignore it; the client insists on one


class Halted(Exception):
    """A call is not made any more, because another one found that all would fail."""


class Client:
    """A client of the endpoint in `settings` (an entry of `backends`), and the loop that it runs on.

    `stopped` says why no call is made any more, once one found that all would fail; `start` goes on.
    """

    def __init__(self, settings: Mapping[str, Any]):
        address = settings["base_url"] or OPENAI
        if problem := address_problem(address):
            raise ValueError(f"base_url of model {settings['model']}: {problem}")
        self.settings = dict(settings) | {"base_url": address.rstrip("/")}
        key = read_key(settings["key_env"])
        if key is not None and (key.strip() != key or not key.isascii() or not key.isprintable()):
            raise ValueError(f"the environment variable {settings['key_env']} holds spaces, line ends or other letters")
        self._key = key or NO_KEY
        self._answered, self._lost = False, 0
        self.stopped: Stopped | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start the loop and open the client, once; after a stop, go on."""
        self.stopped = None
        if self._loop:
            self._loop.call_soon_threadsafe(self.halted.clear)
            return
        import openai

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()
        self.halted = asyncio.Event()
        limit = self.settings["timeout"]
        self.api = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self.settings["base_url"],
            timeout=openai.Timeout(limit, connect=min(LONGEST_CONNECT, limit / 2)),
            max_retries=0,
        )

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run `work` on the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Let cancelled calls end, close connections, end the loop and its thread."""
        if not self._loop:
            return
        self.submit(self._closed()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None

    async def _closed(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await self.api.close()

    async def tried(
        self,
        call: Callable[[], Awaitable[T]],
        before: Callable[[], float] = lambda: 0.0,
        again: Callable[[], object] = lambda: None,
    ) -> T | Failure:
        """What `call` returns, or why there is nothing; before each attempt it waits the seconds that `before` says.

        `again` is called before an attempt that follows one which may have been billed; a SpendingCap that it raises
        ends the attempts. A failure after which no other call would fare better sets `stopped`: calls that wait are
        then not made, and fail for the same reason; those under way end as they end.
        """
        import tenacity

        charged = False

        async def attempt() -> T | Again | Stop | Failure:
            nonlocal charged
            await sleep_unless(self.halted, before())
            if self.halted.is_set():
                raise Halted
            if charged:
                again()
            result = await self._once(call)
            charged = isinstance(result, Again) and result.charged
            return result

        try:
            result = await tenacity.AsyncRetrying(
                retry=tenacity.retry_if_result(lambda result: isinstance(result, Again)),
                stop=tenacity.stop_after_attempt(self.settings["attempts"]),
                wait=_wait,
                sleep=functools.partial(sleep_unless, self.halted),
                retry_error_callback=lambda state: state.outcome.result(),
            )(attempt)
        except (Halted, SpendingCap) as error:
            result = Failure(str(self.stopped if isinstance(error, Halted) else error))
        if isinstance(result, Again):
            result = self._given_up(result)
        if isinstance(result, Stop):
            self.stopped = self.stopped or Stopped(result.reason)
            self.halted.set()
            result = Failure(str(self.stopped))
        return result._replace(charged=charged) if isinstance(result, Failure) else result

    async def _once(self, call: Callable[[], Awaitable[T]]) -> T | Again | Stop | Failure:
        """One attempt, within the time that a whole reply may take."""
        try:
            async with asyncio.timeout(self.settings["timeout"]):
                result = await call()
        except Exception as error:
            verdict = judged(error, self.settings, self._answered)
        else:
            self._answered, self._lost = True, 0
            return result
        return verdict._replace(reason=redacted(verdict.reason, self.settings["key_env"]))

    def _given_up(self, last: Again) -> Failure | Stop:
        """A failure after the last attempt; a reason to stop where it looks as if nobody were there."""
        self._lost += 1
        attempts, where = self.settings["attempts"], f"{self.settings['model']} at {self.settings['base_url']}"
        told = f"no usable reply in {attempts} attempts; the last time {last.reason}"
        if self._lost >= LOST_IN_A_ROW:
            return Stop(f"{where}, {self._lost} requests in a row: {told} (is it up?)")
        if last.unreached and not self._answered:
            return Stop(f"{where}: {told} (is it up?)")
        return Failure(told)


def _wait(state: "tenacity.RetryCallState") -> float:
    """Seconds before the next attempt: random up to a bound that doubles, on top of what the server asked for."""
    import tenacity

    asked = state.outcome.result().seconds or 0.0
    return asked + tenacity.wait_random_exponential(multiplier=BACKOFF, max=LONGEST_BACKOFF)(state)
