"""What prompts would take, counted without asking anyone.

Tokens read are a rough estimate (four Latin characters, or one of another script, make a token); tokens written are the
most that there can be. What is in the store costs nothing; replies that have to be asked for again are not foreseen.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from unlearning.llm.budget import cost
from unlearning.llm.requests import Request, identity_of

LATIN = 0x250  # characters below: Latin with its accents
WORDS = 3  # columns of words, before the numbers
HEAD = ("role", "backend", "model", "replies", "tokens read (rough)", "tokens written (at most)", "USD (at most)")


class Estimate(NamedTuple):
    """What one role's requests take at most: replies to pay for, tokens read and written, USD (None: no price)."""

    role: str
    backend: str
    model: str | None
    replies: int
    input_tokens: int
    output_tokens: int
    cost: float | None


class Counted(Exception):
    """Raised instead of asking, with the `estimates` of what would have been asked."""

    def __init__(self, estimates: list[Estimate]):
        super().__init__(described(estimates))
        self.estimates = estimates


class Counter:
    """A backend that asks nobody: it counts the requests that would go out, and raises Counted with what they take.

    The exact version of a local model is not looked up, so its stored replies, which cost nothing, are counted too.
    """

    def __init__(self, settings: Mapping, price: Mapping[str, float] | None):
        self.identity, self.price = identity_of(settings), price

    def ask(self, requests: Iterable[Request]) -> Iterator:
        """Counted, if there are any requests."""
        if found := estimate(requests, self.identity, self.price):
            raise Counted(found)
        return iter(())

    def close(self) -> None:
        """Nothing is held."""


def estimate(requests: Iterable[Request], identity: Mapping, price: Mapping[str, float] | None) -> list[Estimate]:
    """An estimate for each role in `requests`, if `identity` answers them. `price`: USD per million tokens."""
    roles: dict[str, list[int]] = {}
    for request in requests:
        counts = roles.setdefault(request.role, [0, 0, 0])
        counts[0] += 1
        counts[1] += _input_tokens(request)
        counts[2] += request.sampling.max_tokens
    return [
        Estimate(role, identity["backend"], identity["model"], n, read, written, cost(price, read, written))
        for role, (n, read, written) in roles.items()
    ]


def summed(estimates: Iterable[Estimate]) -> list[Estimate]:
    """One estimate for each role, backend and model of `estimates`."""
    groups: dict[tuple, list[Estimate]] = {}
    for found in estimates:
        groups.setdefault(found[:3], []).append(found)
    return [
        Estimate(*who, *(_total(column) for column in list(zip(*rows, strict=True))[3:]))
        for who, rows in groups.items()
    ]


def _total(column: Iterable) -> float | None:
    return None if None in column else sum(column)


def tokens(text: str) -> float:
    """About how many tokens `text` has."""
    latin = sum(ord(character) < LATIN for character in text)
    return latin / 4 + (len(text) - latin)


def _input_tokens(request: Request) -> int:
    schema = json.dumps(request.schema) if request.schema else ""
    return round(sum(4 + tokens(m["content"]) for m in request.messages) + tokens(schema))


def described(estimates: Iterable[Estimate]) -> str:
    """A table of `estimates` with the total cost, as text."""
    estimates = list(estimates)
    rows = [HEAD, *(tuple(map(_cell, row)) for row in estimates)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(_aligned(cell, *place) for cell, place in zip(row, enumerate(widths), strict=True)) for row in rows
    ]
    known = [row.cost for row in estimates if row.cost is not None]
    total = f"about {sum(known):,.4f} USD at most, by `prices`" if known else "no price is configured for these models"
    return "\n".join([*lines, total])


def _cell(value: str | int | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def _aligned(cell: str, column: int, width: int) -> str:
    return cell.ljust(width) if column < WORDS else cell.rjust(width)
