"""Biographies of invented people by a grammar of ours, with the questions that they answer."""

import random
from pathlib import Path
from typing import NamedTuple

from unlearning.data.lume.grammar import PRONOUNS, Line, Names, Words, person, read_lines, read_names, read_slots
from unlearning.data.lume.stories import Draft
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml

SHORTEST, LONGEST = 100, 200  # words
SHARED = ("start", "youth", "study", "award", "private", "later", "end")
OWN = ("early", "work")  # slots of each kind of person
BORN = (1850, 1930)


class Kind(NamedTuple):
    """A profession: its lists of words and its lines by slot."""

    words: dict[str, list[str]]
    slots: dict[str, list[Line]]


class Lives(NamedTuple):
    """The grammar of the biographies: professions, lines that all share, lists, titles, names."""

    kinds: dict[str, Kind]
    shared: dict[str, list[Line]]
    words: dict[str, list[str]]
    titles: list[str]
    names: Names


def read_lives(path: Path | str) -> Lives:
    """The grammar in the file `path` (biographies.yaml). ResourceError: a slot is missing."""
    content = read_yaml(path)
    kinds = {}
    for name, entry in mapping(content.get("kinds"), f"{path}, kinds").items():
        slots = {slot: read_lines(entry.get(slot), f"{path}, kinds, {name}, {slot}") for slot in OWN}
        kinds[name] = Kind(mapping(entry.get("words"), f"{path}, kinds, {name}, words"), slots)
    shared = read_slots(content.get("shared"), f"{path}, shared")
    if missing := [slot for slot in SHARED if slot not in shared]:
        raise ResourceError(f"{path}, shared: {', '.join(missing)} missing")
    titles = [f"{a} {noun}" for a in content["titles"]["adjectives"] for noun in content["titles"]["nouns"]]
    words = content["words"] | {"trade": content["trades"]}
    return Lives(kinds, shared, words, titles, read_names(content, str(path)))


def tell(lives: Lives, draw: random.Random, taken: set[str]) -> Draft:
    """A biography, of 100 to 200 words as a rule, and its questions in random order; the name is not in `taken`."""
    pronoun, first, surname = person(lives.names, draw, taken)
    full = f"{first} {surname}"
    others: list[str] = []
    for asked in (None, None, None, "he" if pronoun == "she" else "she"):
        others.append(" ".join(person(lives.names, draw, taken | {full, *others}, asked)[1:]))
    kind = draw.choice(tuple(lives.kinds))
    given = {
        "full": full, "name": surname, "kind": kind, **PRONOUNS[pronoun], **_years(draw),
        **dict(zip(("other", "other2", "other3", "spouse"), others, strict=True)),
        **dict(zip(("town", "town2", "town3"), draw.sample(lives.names.towns, 3), strict=True)),
        **dict(zip(("title", "title2"), draw.sample(lives.titles, 2), strict=True)),
    }  # fmt: skip
    own = lives.kinds[kind]
    words = Words(given, lives.words | own.words, draw)
    slots = [*SHARED[:3], *OWN, *SHARED[3:]]
    told = [words.tell(draw.choice((lives.shared | own.slots)[slot])) for slot in slots]
    questions = [pair for line in told for pair in line.questions]
    draw.shuffle(questions)
    text = " ".join(line.said for line in told)
    return Draft({"kind": kind, "characters": [full], "text": text}, questions)


def _years(draw: random.Random) -> dict[str, str]:
    """The years of a life, in order; nobody is over 90."""
    born = draw.randint(*BORN)
    studied = born + draw.randint(18, 21)
    began = studied + draw.randint(5, 8)
    peak = began + draw.randint(4, 14)
    honored = peak + draw.randint(2, 9)
    retired = max(honored + 1, born + draw.randint(58, 68))
    died = min(born + 90, retired + draw.randint(3, 18))
    found = {
        "born": born, "studied": studied, "graduated": studied + 4, "began": began, "peak": peak, "honored": honored,
        "retired": retired, "died": died,
    }  # fmt: skip
    return {name: str(year) for name, year in found.items()}
