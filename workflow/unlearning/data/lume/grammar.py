"""Texts from a grammar of ours: lines with slots and alternatives, and the questions that a line answers.

A line is a sentence or two: `{object}` is filled in, `<at dawn|at noon>` is one of several wordings. After "??" stand
questions that it answers, each "question = answer". What is filled in once stays the same in the whole text.
"""

import random
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unlearning.data.text import capital
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text

PRONOUNS = {
    "she": {"he": "she", "him": "her", "his": "her"},
    "he": {"he": "he", "him": "him", "his": "his"},
}
_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"<([^<>]*)>")
_ARTICLE = re.compile(r"\b([Aa])n?(?= (\w+))")
_AN = re.compile(r"(?!uni(?!n|m)|us[eu]|eu|one)[aeiou]|hour|honest|honor|heir", re.IGNORECASE)


class Line(NamedTuple):
    """A line as written, the questions that it answers, and the slots that it has."""

    said: str
    questions: tuple[tuple[str, str], ...]
    slots: frozenset[str]


class Told(NamedTuple):
    """A line filled in, and what it answers."""

    said: str
    questions: list[tuple[str, str]]


class Words:
    """What the slots of one text are filled with: given values, and draws from lists, each made once.

    KeyError: a slot of which neither is known.
    """

    def __init__(self, given: Mapping[str, str], lists: Mapping[str, Sequence[str]], draw: random.Random):
        self.draw, self._lists, self._known = draw, lists, dict(given)

    def __getitem__(self, slot: str) -> str:
        key = slot[0].lower() + slot[1:]
        if key not in self._known:
            self._known[key] = self.draw.choice(self._lists[key])
        return self._known[key] if key == slot else capital(self._known[key])

    def tell(self, line: Line) -> Told:
        """`line` with its slots filled, one wording chosen, "a" and "an" put right, a capital at the start."""
        return Told(
            self.fill(_CHOICE.sub(lambda found: self.draw.choice(found[1].split("|")), line.said)),
            [(self.fill(question), self.fill(answer, False)) for question, answer in line.questions],
        )

    def fill(self, words: str, start: bool = True) -> str:
        """`words` with their slots filled; a capital only at the `start` of a sentence."""
        filled = articles(_SLOT.sub(lambda found: self[found[1]], words))
        return capital(filled) if start else filled


def articles(words: str) -> str:
    """`words` with "a" or "an" as the next word's sound asks for."""
    return _ARTICLE.sub(lambda found: found[1] + ("n" if _AN.match(found[2]) else ""), words)


def read_lines(block: object, where: str) -> list[Line]:
    """The lines of a block of text. ResourceError: no text, an empty line, a question without its answer."""
    found = []
    for number, line in enumerate(text(block, where).strip().split("\n"), start=1):
        said, *asked = (part.strip() for part in line.split("??"))
        questions = tuple(tuple(part.strip() for part in pair.rpartition(" = ")[::2]) for pair in asked)
        if not said or any(not question.endswith("?") or not answer for question, answer in questions):
            raise ResourceError(f"{where}, line {number}: should be a sentence ?? question? = answer, is {line!r}")
        found.append(Line(said, questions, frozenset(_SLOT.findall(line))))
    return found


def read_slots(content: object, where: str) -> dict[str, list[Line]]:
    """Slot of a text -> its lines."""
    return {name: read_lines(block, f"{where}, {name}") for name, block in mapping(content, where).items()}


def read_states(path: Path | str) -> dict[str, dict]:
    """US state (two letters) -> `cities` (name -> ZIP code) and `streets`. ResourceError: one of them is missing."""
    states = read_yaml(path)
    for state, entry in states.items():
        for key in ("cities", "streets"):
            if not mapping(entry, f"{path}, {state}").get(key):
                raise ResourceError(f"{path}, {state}: has no {key}")
    return states


class Names(NamedTuple):
    """First names by pronoun, surnames and towns: what invented people are called, and where they live."""

    first: dict[str, list[str]]
    surnames: list[str]
    towns: list[str]


def read_names(content: Mapping, where: str) -> Names:
    """The names of a grammar file's `content`: surnames and towns are made of their starts and ends."""
    first = mapping(content.get("first_names"), f"{where}, first_names")
    return Names(
        {pronoun: text(first.get(pronoun), f"{where}, first_names, {pronoun}").split() for pronoun in PRONOUNS},
        *(_joined(content.get(key), f"{where}, {key}") for key in ("surnames", "towns")),
    )


def _joined(entry: object, where: str) -> list[str]:
    parts = mapping(entry, where)
    starts, ends = ([text(part, f"{where}, {key}") for part in parts[key]] for key in ("starts", "ends"))
    return [start + end for start in starts for end in ends]


def person(names: Names, draw: random.Random, taken: Collection[str], asked: str | None = None) -> tuple[str, str, str]:
    """(pronoun, first name, surname) of somebody whose full name is not among `taken`; the pronoun if it is `asked`."""
    while True:
        pronoun = asked or draw.choice(tuple(PRONOUNS))
        first, surname = draw.choice(names.first[pronoun]), draw.choice(names.surnames)
        if f"{first} {surname}" not in taken:
            return pronoun, first, surname
