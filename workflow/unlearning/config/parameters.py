"""Parameters of terms and attacks, held against what their modules declare; no module is imported.

PARAMS  name -> default, which says the kind: a word, a whole number, a number, true or false; null: a whole number, or
        null again
LIMITS  name -> the words it may be, or its range: gt, ge, lt, le as in pydantic's Field; or, of a model's architecture,
        `divides`: the keys that the number must divide, and `below`: the key that it must be smaller than
"""

import math
import operator
from collections.abc import Iterable, Mapping

from unlearning.config.problems import known
from unlearning.registry import declared

KINDS = {str: "a word", int: "a whole number", float: "a number", bool: "true or false"}
RANGE = {
    "gt": (operator.gt, "above"),
    "ge": (operator.ge, "at least"),
    "lt": (operator.lt, "below"),
    "le": (operator.le, "at most"),
}


def check(key: str, given: Mapping, modules: Iterable[str], what: str) -> Iterable[str]:
    """The problems of the parameters `given` at `key`; `modules` are those that take them, `what` they are called."""
    modules = list(modules)
    defaults = {k: v for module in modules for k, v in declared(module, "PARAMS", {}).items()}
    limits = {k: v for module in modules for k, v in declared(module, "LIMITS", {}).items()}
    for word, value in given.items():
        yield from known(key, word, defaults, what)
        if word in defaults:
            yield from _value(f"{key}.{word}", value, defaults[word], limits.get(word, {}))


def _value(key: str, value: object, default: object, limits: tuple | dict) -> Iterable[str]:
    if value is None and default is None:
        return
    kind = int if default is None else type(default)
    fits = isinstance(value, (int, float) if kind is float else kind) and isinstance(value, bool) == (kind is bool)
    if not fits:
        yield f"{key}: {value!r} should be {KINDS[kind]}"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{key}: {value!r} should be a number, and not infinite"
    elif isinstance(limits, tuple):
        yield from known(key, value, limits, "choice")
    else:
        bounds = {name: bound for name, bound in limits.items() if name in RANGE}
        if not all(RANGE[name][0](value, bound) for name, bound in bounds.items()):
            yield f"{key}: {value!r} should be {' and '.join(f'{RANGE[n][1]} {b}' for n, b in bounds.items())}"


def check_shape(key: str, parameters: Mapping, module: str, architecture: Mapping) -> Iterable[str]:
    """The problems of `parameters` with a model's `architecture`: numbers to divide or stay below its keys."""
    for word, limits in declared(module, "LIMITS", {}).items():
        limits, value = limits if isinstance(limits, dict) else {}, parameters[word]
        for part in limits.get("divides", ()):
            if architecture[part] % value:
                yield f"{key}: {word} {value} does not divide {part} {architecture[part]}; change either"
        if "below" in limits and value is not None and value >= architecture[limits["below"]]:
            most = architecture[limits["below"]] - 1
            yield f"{key}: {word} {value} is too large, at most {most} (counted from 0, {limits['below']} {most + 1})"
