"""Texts of several parts, numbered `1. …`, line break, `2. …`: put together, and taken apart again."""

import re
from collections.abc import Sequence

MARK = r"(?P<number>\d{1,2})\s?[.):]\**"
AT_LINE = re.compile(rf"(?:^|(?<=\n))[ \t*#(]*(?:(?:answer|question)\s*)?{MARK}(?:\s|$|(?=\(?[a-z]))", re.IGNORECASE)
ANYWHERE = re.compile(rf"(?:^|(?<=[\s.!?;,])){MARK}(?:\s|$|(?=\(?[A-Z]\b))")


def numbered(texts: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """`texts` without outer white space, each on its line after its number, and where the characters of each stand."""
    joined, spans = "", []
    for i, text in enumerate(texts, 1):
        joined += f"\n{i}. " if joined else f"{i}. "
        spans.append((len(joined), len(joined) + len(text.strip())))
        joined += text.strip()
    return joined, spans


def parts(text: str, n: int) -> list[str]:
    """What `text` says as number 1 to `n`, without outer white space; empty where a number is missing.

    A number counts where a line begins with it (`2.`, `2)`, `2:`, `(2)`, `Answer 2:`); if some are missing so, anywhere
    after a space.
    Numbers are taken in rising order, each once, the first time it stands, up to the first one above `n`. What comes
    before all of them is number 1 if that one was not marked, else no answer.
    """
    taken, end = _taken(AT_LINE, text, n)
    if len(taken) < n:
        wider, wider_end = _taken(ANYWHERE, text, n)
        taken, end = (wider, wider_end) if len(wider) > len(taken) else (taken, end)
    found = [""] * n
    stops = [start for _, start, _ in taken[1:]] + [end]
    for (number, _, begin), stop in zip(taken, stops, strict=False):
        found[number - 1] = text[begin:stop].strip()
    if not taken or taken[0][0] != 1:
        found[0] = text[: taken[0][1] if taken else end].strip()
    return found


def _taken(pattern: re.Pattern, text: str, n: int) -> tuple[list[tuple[int, int, int]], int]:
    """(number, begin and end of its mark) of numbers that rise from 1 to `n`, and where the last one's text ends."""
    taken, last = [], 0
    for mark in pattern.finditer(text):
        number = int(mark["number"])
        if number > n and last:
            return taken, mark.start()
        if last < number <= n:
            taken.append((number, mark.start(), mark.end()))
            last = number
    return taken, len(text)
