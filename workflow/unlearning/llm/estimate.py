"""What a table of prompts would take, counted without asking anyone.

Tokens read are a rough estimate (four Latin characters, or one of another script, make a token); tokens written are the
most that there can be. What is in the store costs nothing; replies that have to be asked for again are not foreseen.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from unlearning.llm.budget import cost
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import Request
from unlearning.llm.store import Store

LATIN = 0x250  # characters below: Latin with its accents
HEAD = ("role", "backend", "model", "prompts", "replies", "stored", "tokens read", "tokens written", "USD")


class Estimate(NamedTuple):
    """One role's prompts: replies wanted (equal ones once), those stored, and what the others take at most."""

    role: str
    backend: str
    model: str | None
    prompts: int
    replies: int
    stored: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def estimate(
    prompts: pd.DataFrame, identity: Mapping, store: Store | None = None, price: Mapping[str, float] | None = None
) -> list[Estimate]:
    """An estimate for each role in table `prompts`, if `identity` answered it. `price`: USD per million tokens."""
    asked = {role: {} for role in prompts["role"].unique()}
    for request, _ in requests_of(prompts):
        asked[request.role][Store.key(identity, request)] = request
    return [_of(role, int((prompts["role"] == role).sum()), asked[role], identity, store, price) for role in asked]


def _of(role: str, n: int, asked: Mapping[str, Request], identity, store, price) -> Estimate:
    stored = store.get(asked) if store else {}
    new = [request for key, request in asked.items() if key not in stored]
    read, written = sum(map(_input_tokens, new)), sum(request.sampling.max_tokens for request in new)
    paid = cost(price, read, written)
    return Estimate(role, identity["backend"], identity["model"], n, len(asked), len(stored), read, written, paid)


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
    rows = [tuple("–" if v is None else f"{v:,.4f}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else v
                  for v in row) for row in estimates]  # fmt: skip
    widths = [max(len(row[i]) for row in [HEAD, *rows]) for i in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.rjust(w) if i > 2 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [HEAD, *rows]
    ]
    known = [row.cost for row in estimates if row.cost is not None]
    total = (
        f"at most about {sum(known):,.4f} USD by the price table" if known else "no price: nothing to pay, or not known"
    )
    return "\n".join(["Estimate (tokens read: rough; written: at most):", *lines, total])
