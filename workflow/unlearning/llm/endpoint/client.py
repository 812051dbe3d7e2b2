"""Calls to an OpenAI-compatible endpoint, each tried until it succeeds, is refused, or has had its attempts.

The event loop lives in a thread of its own, so that calls go on and time out as they should while replies are stored.
"""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

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
NO_KEY = "none"  # servers without keys ignore it; the client insists on one


class Halted(Exception):
    """Calls are being ended because another one found that all would fail."""


class Client:
    """A client of the endpoint in `settings` (an entry of `backends`), and the loop that it runs on."""

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
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start the loop and open the client, once; after a halt, go on."""
        if self._loop:
            self._loop.call_soon_threadsafe(self.halted.clear)
            return
        import openai

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()
        self.halted = asyncio.Event()
        self.api = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self.settings["base_url"],
            timeout=self.settings["timeout"],
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

    def halt(self) -> None:
        """Let no call wait or be tried again; those under way end as they end."""
        self._loop.call_soon_threadsafe(self.halted.set)

    async def tried(self, call: Callable[[], Awaitable[T]], before: Callable[[], float] = lambda: 0.0) -> T | Failure:
        """What `call` returns, or why there is nothing; before each attempt it waits the seconds that `before` says.

        Stopped: no other call would fare better either. Halted: another call found so.
        """
        import tenacity

        charged = False

        async def attempt() -> T | Again | Failure:
            nonlocal charged
            await sleep_unless(self.halted, before())
            result = await self._once(call)
            charged |= isinstance(result, Again) and result.charged
            return result

        result = await tenacity.AsyncRetrying(
            retry=tenacity.retry_if_result(lambda result: isinstance(result, Again)),
            stop=tenacity.stop_after_attempt(self.settings["attempts"]),
            wait=_wait,
            sleep=functools.partial(sleep_unless, self.halted),
            retry_error_callback=lambda state: state.outcome.result(),
        )(attempt)
        if isinstance(result, Again):
            result = self._given_up(result)
        return result._replace(charged=result.charged or charged) if isinstance(result, Failure) else result

    async def _once(self, call: Callable[[], Awaitable[T]]) -> T | Again | Failure:
        """One attempt, within the time that a whole reply may take."""
        if self.halted.is_set():
            raise Halted
        try:
            async with asyncio.timeout(self.settings["timeout"]):
                result = await call()
        except Exception as error:
            verdict = judged(error, self.settings, self._answered)
        else:
            self._answered, self._lost = True, 0
            return result
        reason = redacted(verdict.reason, self.settings["key_env"])
        if isinstance(verdict, Stop):
            raise Stopped(reason)  # here, and not above: what the client raised holds the server's words and the key
        return verdict._replace(reason=reason)

    def _given_up(self, last: Again) -> Failure:
        """A failure after the last attempt, unless it looks as if nobody were there: then Stopped."""
        self._lost += 1
        attempts, where = self.settings["attempts"], f"{self.settings['model']} at {self.settings['base_url']}"
        if self._lost >= LOST_IN_A_ROW or (last.unreached and not self._answered):
            raise Stopped(
                f"{where}: no usable reply in {attempts} attempts, for {self._lost} requests in a row; the last time "
                f"{last.reason}. Is it up? Run again when it is: what came so far is kept"
            )
        return Failure(f"no usable reply in {attempts} attempts; the last time {last.reason}")


def _wait(state: "tenacity.RetryCallState") -> float:
    """Seconds before the next attempt: random up to a bound that doubles, on top of what the server asked for."""
    import tenacity

    asked = state.outcome.result().seconds or 0.0
    return asked + tenacity.wait_random_exponential(multiplier=BACKOFF, max=LONGEST_BACKOFF)(state)
