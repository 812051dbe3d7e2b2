"""What an endpoint's errors mean: try again, give this request up, or stop asking.

Of a refused key nothing that the server said is repeated: servers like to echo a part of it.
"""

import email.utils
import json
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from unlearning.llm.endpoint.chat import Unusable
from unlearning.llm.requests import Failure

LONGEST_WAIT = 600.0  # seconds; an endpoint that asks for more has no quota left, and waiting would look like hanging
SAID = 300  # characters of a server's message that are repeated
NO_FUNDS = ("insufficient_quota", "billing_hard_limit_reached")
UNSENT = ("ConnectError", "ConnectTimeout", "ProxyError")  # of httpx: there was no connection to send anything over
TURNED_AWAY = (503, 529)  # too busy to begin; after other 5xx it may have been worked on, and billed


class Stopped(ValueError):
    """Every other request would fail alike: a refused key, an unknown model, an empty account, an endpoint down."""


class Stop(NamedTuple):
    """Why no other call would fare better either: the reason of a Stopped."""

    reason: str


class Again(NamedTuple):
    """Worth another attempt, after `seconds` if the server named a time. `charged`: it may have been billed."""

    reason: str
    seconds: float | None = None
    charged: bool = False
    unreached: bool = False


def judged(error: Exception, where: Mapping[str, Any], answered: bool) -> Again | Failure | Stop:
    """What follows from `error`. `where`: the settings; `answered`: this endpoint has answered some request before."""
    import openai

    if isinstance(error, Unusable | json.JSONDecodeError):
        return Again(str(error), charged=True)
    if isinstance(error, openai.APIStatusError):
        return _status(error, where, answered)
    unreached = type(error.__cause__).__name__ in UNSENT
    if isinstance(error, TimeoutError | openai.APITimeoutError) and not unreached:
        return Again(f"no whole reply in {where['timeout']:g} s", charged=True)
    if isinstance(error, openai.APIConnectionError):
        return Again(f"the connection failed ({_root(error)})", charged=not unreached, unreached=unreached)
    raise error


def _status(error: Any, where: Mapping[str, Any], answered: bool) -> Again | Failure | Stop:
    status, named = error.status_code, f"{where['model']} at {where['base_url']}"
    said = f"HTTP {status}: {_message(error)}"
    key = f"the key in {where['key_env']}" if where["key_env"] else "a call without key (key_env is null)"
    if status == 401:
        return Stop(f"{named}: HTTP 401: {key} is refused")
    if status == 402 or error.code in NO_FUNDS:
        return Stop(f"{named}: the account of {key} has no quota left ({said})")
    if status == 404:
        return Stop(f"{named}: no such model or address ({said}); see model and base_url of the backend")
    if status == 403 and not answered:
        return Stop(f"{named}: {key} may not ask this model ({said})")
    if status not in (408, 409, 429) and status < 500:
        return Failure(f"refused: {said}", refused=True)
    seconds = retry_after(error.response.headers)
    if seconds is not None and seconds > LONGEST_WAIT:
        return Stop(f"{named}: asks to wait {seconds:.0f} s ({said}); run again then")
    return Again(said, seconds, charged=status >= 500 and status not in TURNED_AWAY)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (seconds, or an HTTP date); None if not said."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, OverflowError, OSError):
        return None


def _message(error: Any) -> str:
    """The server's own words, on one line."""
    body = error.body
    told = body.get("message") if isinstance(body, Mapping) else None
    told = told or (body if isinstance(body, str) else error.message)
    return " ".join(str(told).split())[:SAID]


def _root(error: BaseException) -> str:
    """The innermost cause, which says more than "Connection error"."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__
    return f"{type(error).__name__}: {error}"[:SAID]
