"""What the keys about language models say about each other: roles, backends, prices, and no secret among them."""

import re
from collections.abc import Iterable

from unlearning.config.llm import OFFLINE, ROLES, OpenAI
from unlearning.config.problems import known, listed, nearest
from unlearning.config.schema import Config
from unlearning.llm.keys import address_problem
from unlearning.registry import available


def check(config: Config) -> Iterable[str]:
    """The problems of `backends`, `roles`, `prices` and `llm`."""
    if OFFLINE in config.backends:
        yield f"backends.{OFFLINE}: this name is reserved for the engines that need no model; choose another"
    for name, entry in config.backends.items():
        if isinstance(entry, OpenAI):
            yield from _endpoint(f"backends.{name}", entry)
    for role, entry in config.roles.items():
        yield from known("roles", role, ROLES, "role")
        yield from known(f"roles.{role}", entry.backend, [*config.backends, OFFLINE], "backend")
        if role in ROLES and entry.backend == OFFLINE:
            yield from offline_problem(config, role, f"roles.{role}")
    yield from _prices(config)


def offline_problem(config: Config, role: str, key: str) -> Iterable[str]:
    """The problem, told at `key`, that `role` is offline but only a language model can play it."""
    entry, there = config.roles.get(role), available("llm/offline")
    if (entry is None or entry.backend == OFFLINE) and role not in there:
        yield (
            f"{key}: role {role} has no offline engine; give it a backend, e.g. roles: {{{role}: "
            f"{next(iter(config.backends), 'served')}}}. Backends: {listed(config.backends)}; roles that have an "
            f"offline engine: {listed(there)}"
        )


def _endpoint(key: str, entry: OpenAI) -> Iterable[str]:
    """The value is not shown: it may be a key put in the wrong place."""
    if entry.key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", entry.key_env):
        yield (
            f"{key}.key_env: should be the name of an environment variable (capital letters, digits and _) that holds "
            "the key; never write a key itself here"
        )
    if entry.base_url is not None and (problem := address_problem(entry.base_url)):
        yield f"{key}.base_url: {problem}"


def _prices(config: Config) -> Iterable[str]:
    """With a cap, every paid model that a role uses needs a price."""
    if config.llm.spending_cap is None:
        return
    used = {entry.backend: role for role, entry in config.roles.items()}
    for name, role in used.items():
        entry = config.backends.get(name)
        if isinstance(entry, OpenAI) and entry.model not in config.prices:
            yield (
                f"llm.spending_cap: model {entry.model!r} (backends.{name}, role {role}) has no price."
                f"{nearest(entry.model, config.prices)} Add prices: {{{entry.model}: {{input: …, output: …}}}} in USD "
                "per million tokens (0 for an endpoint of your own)"
            )
