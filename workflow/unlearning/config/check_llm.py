"""What the keys about language models say about each other: roles, backends, prices, and no secret among them."""

import re
from collections.abc import Iterable

from unlearning.config.llm import OFFLINE, ROLES, OpenAI
from unlearning.config.problems import known, listed, nearest, placeholder
from unlearning.config.schema import Config
from unlearning.llm.keys import address_problem
from unlearning.registry import available


def check(config: Config) -> Iterable[str]:
    """The problems of `backends`, `roles`, `prices` and `llm`."""
    if OFFLINE in config.backends:
        yield f"backends.{OFFLINE}: this name is reserved for the engines that need no model; choose another"
    for name, entry in config.backends.items():
        yield from placeholder(f"backends.{name}.model", entry.model, "model's name or folder")
        yield from placeholder(f"backends.{name}.revision", entry.revision, "commit, tag or branch")
        if isinstance(entry, OpenAI):
            yield from _whole_address(f"backends.{name}.base_url", entry.base_url)
            yield from _endpoint(f"backends.{name}", entry)
    for role, entry in config.roles.items():
        yield from known("roles", role, ROLES, "role")
        yield from _backend(config, f"roles.{role}", entry.backend)
        if role in ROLES and entry.backend == OFFLINE:
            yield from offline_problem(config, role, f"roles.{role}")
    yield from _prices(config)


def _backend(config: Config, key: str, word: str) -> Iterable[str]:
    """The problem that `word` is no backend; where it is a backend's model, or none is there, with what to write."""
    of_model = [name for name, entry in config.backends.items() if entry.model == word]
    named = f" It is the model of backends.{of_model[0]}: write {of_model[0]}" if of_model else ""
    fix = named or ("" if config.backends else f" Add it: backends: {{{word}: {{kind: openai, model: …}}}}")
    yield from (f"{problem}{fix}" for problem in known(key, word, [*config.backends, OFFLINE], "backend"))


def _whole_address(key: str, url: str | None) -> Iterable[str]:
    """The client adds the method's path itself."""
    if (url or "").rstrip("/").endswith("/completions"):
        yield f"{key}: ends with the path of a call, which is added by itself; give what stands before it, …/v1"


def variable_problem(key: str, name: str) -> Iterable[str]:
    """The problem that `name` is no environment variable's; it is not shown: it may be a key put in the wrong place."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        yield (
            f"{key}: should be the name of an environment variable (capital letters, digits and _) that holds the key; "
            "never write a key itself here"
        )


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
    if entry.key_env is not None:
        yield from variable_problem(f"{key}.key_env", entry.key_env)
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
            by_name = " Prices are by model, not by backend." if name in config.prices else ""
            guess = by_name or nearest(entry.model, config.prices)
            yield (
                f"llm.spending_cap: model {entry.model!r} (backends.{name}, role {role}) has no price."
                f"{guess} Add prices: {{{entry.model}: {{input: …, output: …}}}} in USD per million tokens (0 for an "
                "endpoint of your own)"
            )
