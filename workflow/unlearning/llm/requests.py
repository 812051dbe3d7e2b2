"""What goes to a language model and what comes back: the types that the backends share."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol


class Sampling(NamedTuple):
    """How a reply is drawn. Temperature 0 is greedy; of several samples, number i is drawn with `seed + i`."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int = 0


class Request(NamedTuple):
    """One call: `messages` are what a model reads, `inputs` what an offline engine reads; `schema` is JSON schema."""

    prompt_id: str
    sample: int
    messages: list[dict[str, str]]
    sampling: Sampling
    schema: dict | None
    inputs: dict
    role: str


class Reply(NamedTuple):
    """What a model wrote. `finish_reason`: stop or length. Token counts are the backend's own; 0 offline."""

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int


class Failure(NamedTuple):
    """No reply: every attempt used up, or refused. `charged`: the endpoint may have billed the last attempt.

    `refused`: it was this request that was turned down (too long, say), so that asking again would not help.
    `waits`: its batch may be under way, and whoever asks again waits for that one.
    """

    reason: str
    charged: bool = False
    refused: bool = False
    waits: bool = False


def identity_of(settings: Mapping) -> dict[str, str | None]:
    """Who answers, by a backend's settings: part of a stored reply's key, so nothing secret and nothing about speed."""
    endpoint, model, revision = (settings.get(key) for key in ("base_url", "model", "revision"))
    return {"backend": settings["kind"], "endpoint": endpoint, "model": model, "revision": revision}


class Backend(Protocol):
    """What answers requests, opened by `open(settings)` of its module; a model is loaded at the first `ask` only."""

    identity: dict[str, str | None]

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | Failure]]:
        """Yield (position, result), each position once, in any order, as each is done.

        `requests` may be a generator: it is pulled from only when there is room for another request.
        """

    def close(self) -> None:
        """Release what the backend holds."""
