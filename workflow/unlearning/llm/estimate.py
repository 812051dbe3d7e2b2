"""What prompts would take, counted without asking anyone.

Two figures for a role. One round: every reply can be used at once; four Latin characters, or one of another script,
make a token read. At most: every round, every reply asked for again as often as it may be and as long as it may be, and
every byte a token.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.llm.budget import cost, most_input_tokens
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import Reply, Request, identity_of
from unlearning.llm.store import Store

NO_LATIN = re.compile("[^\u0000-\u024f]")  # up to there: Latin with its accents
WORDS = 3  # columns of words, before the numbers
HEAD = ("role", "backend", "model", "replies", "tokens read (about)", "tokens written (at most)", "USD (about)")
HEAD_MOST = (*HEAD[:4], "tokens read (at most)", "tokens written (at most)", "USD (at most)")
# ASSUME: what is wrong with a reply is told in no more than twice its tokens and TOLD
TOLD = 400


class Estimate(NamedTuple):
    """What one role's requests take: replies to ask for, tokens read and written, USD (None: no price)."""

    role: str
    backend: str
    model: str | None
    replies: int
    input_tokens: int
    output_tokens: int
    cost: float | None


class Asked(NamedTuple):
    """What a job may ask of a role: table `prompts` of one round, the number of rounds, and by how many tokens at most
    each further round lengthens a prompt.
    """

    role: str
    prompts: pd.DataFrame
    rounds: int = 1
    grows: int = 0


class Size(NamedTuple):
    """What `prompts` of one round come to: tokens, `about` in all, at `most` in all, and in the shortest at `least`;
    `again`: by how many they grow in all, at most, when each is asked once more; `reply`: the most that one reply has.
    """

    role: str
    rounds: int
    grows: int
    prompts: int
    about: int
    most: int
    least: int
    again: int
    reply: int


class Counted(Exception):
    """Raised instead of asking, with `missing`: role -> replies that are not in the store."""

    def __init__(self, missing: Mapping[str, int]):
        super().__init__(", ".join(f"{n} prompts of role {role}" for role, n in missing.items()))
        self.missing = missing


class Stored:
    """A backend that asks nobody: it gives the replies that are in the store `path`, counts them by role in `found`,
    and raises Counted where others are missing.
    """

    def __init__(self, settings: Mapping, path: Path, found: Counter):
        self.identity, self._path, self._found = identity(settings), path, found

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply]]:
        """What is stored; Counted if that is not all."""
        asked = list(requests)
        keys = [Store.key(self.identity, request) for request in asked]
        replies = stored_replies(self._path, keys)
        self._found.update(r.role for r, key in zip(asked, keys, strict=True) if key in replies)
        if missing := Counter(r.role for r, key in zip(asked, keys, strict=True) if key not in replies):
            raise Counted(missing)
        return ((i, replies[key]) for i, key in enumerate(keys))

    def close(self) -> None:
        """Nothing is held."""


def identity(settings: Mapping) -> dict[str, str | None]:
    """Who would answer, by whose name replies are stored: the backend's own word, but for endpoints, which take a key.

    A local model that is not here has no version, so none of its stored replies is found and all count.
    """
    if settings["kind"] == "openai":
        return identity_of(settings)
    return dict(_local_identity(json.dumps(settings, sort_keys=True)))


@functools.cache  # a folder is read whole for its version, or the hub asked
def _local_identity(settings: str) -> tuple:
    from unlearning.models.load import ModelError

    given = json.loads(settings)
    try:
        return tuple(import_module(f"unlearning.llm.backends.{given['kind']}").open(given).identity.items())
    except ModelError:
        return tuple(identity_of(given).items())


def stored_replies(path: Path, keys: list[str]) -> dict[str, Reply]:
    """Those of the replies `keys` that the store at `path` has; it is not made where there is none."""
    if not path.exists():
        return {}
    store = Store(path)
    try:
        return store.get(keys)
    finally:
        store.close()


def estimate(requests: Iterable[Request], who: Mapping, price: Mapping[str, float] | None) -> list[Estimate]:
    """One round of `requests`, by role, if identity `who` answers. `price`: USD per million tokens."""
    roles: dict[str, list[Request]] = {}
    for request in requests:
        roles.setdefault(request.role, []).append(request)
    written = {role: sum(request.sampling.max_tokens for request in asked) for role, asked in roles.items()}
    return [
        _estimate(role, who, price, len(asked), sum(map(_input_tokens, asked)), written[role])
        for role, asked in roles.items()
    ]


def sized(asked: Asked) -> Size:
    """What the prompts of `asked` come to."""
    requests = [request for request, _ in requests_of(asked.prompts)]
    most = [most_input_tokens(request) for request in requests]
    return Size(
        asked.role, asked.rounds, asked.grows, len(requests), sum(map(_input_tokens, requests)), sum(most), min(most),
        sum(map(_again, requests)), max(request.sampling.max_tokens for request in requests),
    )  # fmt: skip


def one_round(size: Size, door: Mapping, found: int = 0, missing: int = 0) -> Estimate:
    """What one round takes behind `door`, the settings of `open_door`, if every reply can be used.

    `found`: replies that are stored already; `missing`: those that are known to be lacking.
    """
    n = max(size.prompts - found, missing)
    about = round(size.about * n / size.prompts)
    return _estimate(size.role, identity_of(door["backend"]), door["price"], n, about, n * size.reply)


def at_most(size: Size, door: Mapping, found: int = 0) -> Estimate:
    """The most that can be taken behind `door`; of all that, `found` replies are stored already."""
    tries = door["reask"] + 1
    left = max(size.prompts * size.rounds * tries - found, 0)
    read = size.rounds * tries * size.most
    read += size.prompts * tries * size.grows * size.rounds * (size.rounds - 1) // 2  # attempts shown in later rounds
    read += size.rounds * size.again * tries * (tries - 1) // 2  # replies shown when they are asked for again
    read -= found * size.least  # no stored reply is to a shorter prompt
    return _estimate(size.role, identity_of(door["backend"]), door["price"], left, read, left * size.reply)


def _estimate(
    role: str, who: Mapping, price: Mapping[str, float] | None, replies: int, read: int, written: int
) -> Estimate:
    return Estimate(role, who["backend"], who["model"], replies, read, written, cost(price, read, written))


def _again(request: Request) -> int:
    """Tokens by which a conversation grows at most when it is asked again: the reply, and what is told of it."""
    return 3 * request.sampling.max_tokens + TOLD + (len(json.dumps(request.schema)) if request.schema else 0)


def summed(estimates: Iterable[Estimate]) -> list[Estimate]:
    """One estimate for each role, backend and model of `estimates`, without those that ask nothing."""
    groups: dict[tuple, list[Estimate]] = {}
    for found in estimates:
        groups.setdefault(found[:3], []).append(found)
    rows = [
        Estimate(*who, *(_total(column) for column in list(zip(*rows, strict=True))[3:]))
        for who, rows in groups.items()
    ]
    return [row for row in rows if row.replies]


def _total(column: Iterable) -> float | None:
    return None if None in column else sum(column)


def tokens(text: str) -> float:
    """About how many tokens `text` has."""
    latin = len(NO_LATIN.sub("", text))
    return latin / 4 + (len(text) - latin)


def _input_tokens(request: Request) -> int:
    schema = json.dumps(request.schema) if request.schema else ""
    return round(sum(4 + tokens(m["content"]) for m in request.messages) + tokens(schema))


def total(estimates: Iterable[Estimate]) -> float:
    """USD of those that have a price."""
    return sum(row.cost for row in estimates if row.cost is not None)


def described(estimates: Iterable[Estimate], head: tuple[str, ...] = HEAD) -> str:
    """A table of `estimates`, as text."""
    rows = [head, *(tuple(map(_cell, row)) for row in estimates)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(_aligned(cell, *place) for cell, place in zip(row, enumerate(widths), strict=True)) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: str | int | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def _aligned(cell: str, column: int, width: int) -> str:
    return cell.ljust(width) if column < WORDS else cell.rjust(width)
