"""How a mistake in the configuration is told: the key, what is wrong, what is allowed, the fix."""

import difflib
import re
from collections.abc import Iterable

FIX = "mend it in config/config.yaml or in the overlay given with --configfile"


class ConfigError(ValueError):
    """The configuration cannot be run; the message names the key, what is allowed and the fix."""


def refuse(problems: Iterable[str]) -> None:
    """ConfigError that lists every problem, one a line; nothing where there are none."""
    problems = list(problems)
    if problems:
        listed = "".join(f"  - {problem}\n" for problem in problems)
        raise ConfigError(f"the configuration has a problem:\n{listed}  ({FIX})")


def nearest(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' for the closest known word, or an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def listed(names: Iterable[str]) -> str:
    """The names, sorted, with commas; `none` where there are none."""
    return ", ".join(sorted(names)) or "none"


def known(key: str, word: str, names: Iterable[str], what: str) -> list[str]:
    """The problem that `word` is none of `names`, if it is one."""
    names = list(names)
    return [] if word in names else [f"{key}: no {what} {word!r}.{nearest(word, names)} There are: {listed(names)}"]


def placeholder(key: str, value: str | None, what: str) -> list[str]:
    """The problem that `value` still is the placeholder of an example, such as <commit>, or empty, if it is."""
    if value is None or (value.strip() and not re.search(r"[<>]", value)):
        return []
    return [f"{key}: {value!r} is a placeholder; put the {what} there"]


def repeated(names: Iterable[str]) -> str:
    """Those of `names` that stand there twice, with commas; empty where none does."""
    names = list(names)
    return ", ".join(dict.fromkeys(name for name in names if names.count(name) > 1))
