"""The candidates of a search: a method's entry with some of its keys changed, `<method>~<number>`, numbers from 1."""

import itertools
from collections.abc import Iterable

from pydantic import ValidationError

from unlearning.config.methods import Method
from unlearning.config.problems import known, listed, repeated
from unlearning.config.words import explain
from unlearning.registry import available

SEARCH = ("candidates", "select")  # the keys of a method that say nothing about how one model is trained
INSIDE = ("params", "lora")


def combinations(candidates: dict[str, list]) -> list[dict]:
    """Every combination of the values, the last key's changing fastest: {lr: [1, 2], beta: [3]} -> 2 of them."""
    return [dict(zip(candidates, values, strict=True)) for values in itertools.product(*candidates.values())]


def changed(method: Method, values: dict) -> Method:
    """`method` with `values` put in, without its search; a dot reaches inside a map. pydantic's ValidationError."""
    entry = method.model_dump(exclude=set(SEARCH))
    for key, value in values.items():
        outer, _, inner = key.partition(".")
        entry[outer] = {**(entry[outer] or {}), inner: value} if inner else value
    return Method.model_validate(entry)


def candidate(method: Method, number: int) -> Method:
    """The entry that candidate `number` is trained by."""
    return changed(method, combinations(method.candidates)[number - 1])


def check(key: str, method: Method) -> Iterable[str]:
    """The problems of what a method lists, as far as no term is asked: `key` is the method's own."""
    if method.candidates and not method.select:
        yield f"{key}.select: say by what criterion one of the candidates is chosen: {listed(available('criteria'))}"
    if method.select:
        yield from known(f"{key}.select", method.select, available("criteria"), "criterion")
        if not method.candidates:
            yield f"{key}.candidates: there are none to select from; give some, e.g. candidates: {{lr: [1e-4, 2e-4]}}"
    for word, values in method.candidates.items():
        yield from _key(f"{key}.candidates", word)
        if twice := repeated(map(str, values)):
            yield f"{key}.candidates.{word}: {twice} stands there twice; list each value once"


def _key(key: str, word: str) -> Iterable[str]:
    outer, dot, _ = word.partition(".")
    unknown = known(key, outer, [name for name in Method.model_fields if name not in SEARCH], "key")
    yield from unknown
    if dot and not unknown and outer not in INSIDE:
        yield f"{key}.{word}: {outer} is no map; a dot reaches inside {listed(INSIDE)}"


def entries(key: str, method: Method) -> tuple[list[Method], list[str]]:
    """The entries of all candidates of a method, and why others cannot be."""
    made, problems = [], []
    for values in combinations(method.candidates):
        try:
            made.append(changed(method, values))
        except ValidationError as error:
            problems += explain(error.errors(), Method, f"{key}.candidates")
    return made, list(dict.fromkeys(problems))
