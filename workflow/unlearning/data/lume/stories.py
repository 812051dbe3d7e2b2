"""Short stories by a grammar of ours, with the questions that they answer."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unlearning.data.lume.grammar import (
    PRONOUNS,
    Line,
    Names,
    Told,
    Words,
    person,
    read_names,
    read_slots,
    read_states,
)  # fmt: skip
from unlearning.data.lume.texts import n_words
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml

GENRES = ("Action", "Fantasy", "Thriller", "Comedy", "Mystery", "Science Fiction", "Young Adult", "Romance")
SHORTEST, LONGEST = 150, 200  # words
SLOTS = ("start", "trouble", "turn", "climax", "end")  # of a plot
OTHERS = {"two": "kin", "three": "role", "four": "tie"}  # further characters, and what says who they are


class Plot(NamedTuple):
    """A plot: jobs of the first character, who the others can be, lists of words, lines by slot."""

    jobs: list[str]
    others: dict[str, dict[str, list[str]]]
    words: dict[str, list[str]]
    slots: dict[str, list[Line]]


class Stories(NamedTuple):
    """The grammar of the stories: plots, lines that all of them share, lists, names, real cities."""

    plots: dict[str, list[Plot]]
    shared: dict[str, list[Line]]
    words: dict[str, list[str]]
    names: Names
    cities: list[str]


class Draft(NamedTuple):
    """A text that is to be checked: columns of table `documents`, and its (question, answer) pairs, the first best."""

    row: dict
    questions: list[tuple[str, str]]


def read_stories(path: Path | str, states: Path | str) -> Stories:
    """The grammar in the files `path` (stories.yaml) and `states`. ResourceError: a genre or a slot is missing."""
    content = read_yaml(path)
    genres = mapping(content.get("genres"), f"{path}, genres")
    if missing := [genre for genre in GENRES if genre not in genres]:
        raise ResourceError(f"{path}, genres: {', '.join(missing)} missing")
    others = mapping(content.get("others"), f"{path}, others")
    plots = {genre: list(_plots(genres[genre], others, f"{path}, {genre}")) for genre in GENRES}
    cities = sorted({city for entry in read_states(states).values() for city in entry["cities"]})
    return Stories(
        plots, read_slots(content.get("shared"), f"{path}, shared"), mapping(content.get("words"), f"{path}, words"),
        read_names(content, str(path)), cities,
    )  # fmt: skip


def _plots(entry: dict, others: dict, where: str) -> Iterator[Plot]:
    for name, plot in mapping(entry.get("plots"), where).items():
        slots = read_slots({slot: plot.get(slot) for slot in SLOTS}, f"{where}, {name}")
        yield Plot(entry["jobs"], others | entry.get("others", {}), plot["words"], slots)


class Cast(NamedTuple):
    """What a story is to be about: what a writer is given."""

    genre: str
    characters: list[str]  # the first by full name
    city: str
    pronouns: list[str]


def cast(stories: Stories, draw: random.Random, taken: set[str]) -> Cast:
    """Genre, one to four characters with different first names, and a city: a US one, for Fantasy an invented town.

    The first one's full name, and an invented town, is not among `taken`. ValueError: all towns are.
    """
    genre = draw.choice(GENRES)
    pronoun, first, surname = person(stories.names, draw, taken)
    characters, pronouns = [f"{first} {surname}"], [pronoun]
    for _ in range(draw.randint(0, 3)):
        pronouns.append(draw.choice(tuple(PRONOUNS)))
        free = [name for name in stories.names.first[pronouns[-1]] if name not in (first, *characters)]
        characters.append(draw.choice(free))
    cities = [town for town in stories.names.towns if town not in taken] if genre == "Fantasy" else stories.cities
    if not cities:
        raise ValueError(f"all {len(stories.names.towns)} invented towns are taken; give towns more starts or ends")
    return Cast(genre, characters, draw.choice(cities), pronouns)


def tell(stories: Stories, given: Cast, draw: random.Random) -> Draft:
    """A story of `given`, of 150 to 200 words as a rule, with the questions that it answers in random order."""
    plot = draw.choice(stories.plots[given.genre])
    words = Words(_given(given, plot, draw), stories.words | plot.words, draw)
    here = dict(zip(OTHERS, given.characters[1:], strict=False))
    unknown = set(OTHERS)  # characters whom no line may name yet
    used: list[Line] = []
    parts: list[tuple[bool, Told]] = []

    def take(lines: list[Line], extra: bool = False) -> None:
        fitting = [line for line in lines if not line.slots & unknown and line not in used]
        if fitting:
            used.append(draw.choice(fitting))
            parts.append((extra, words.tell(used[-1])))

    scenes, details = stories.shared["scene"], stories.shared["detail"]
    take(stories.shared["opening"])
    take(scenes, extra=True)
    for slot, who in zip(SLOTS, (*OTHERS, None, None), strict=True):
        if who in here:
            unknown.discard(who)
            take(stories.shared[f"meet_{who}"])
        take(plot.slots[slot])
        if slot != "end":
            take(scenes if slot == "climax" else scenes + details, extra=True)
    take(stories.shared["closing"])
    text, questions = _fitted(parts, draw)
    draw.shuffle(questions)
    return Draft({"kind": given.genre, "characters": given.characters, "city": given.city, "text": text}, questions)


def _given(given: Cast, plot: Plot, draw: random.Random) -> dict[str, str]:
    full, *others = given.characters
    known = {"full": full, "name": full.split()[0], "city": given.city, "job": draw.choice(plot.jobs)}
    for (slot, kind), name, pronoun in zip(OTHERS.items(), others, given.pronouns[1:], strict=False):
        known |= {slot: name, kind: draw.choice(plot.others[kind][pronoun])}
    return known | PRONOUNS[given.pronouns[0]]


def _fitted(parts: list[tuple[bool, Told]], draw: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """The text of `parts` and its questions; parts that may be left out are, at random, while it is too long."""
    parts = list(parts)
    wanted = draw.randint(SHORTEST + 8, LONGEST - 5)
    while n_words(_joined(parts)) > wanted and (extra := [part for part in parts if part[0]]):
        parts.remove(draw.choice(extra))
    return _joined(parts), [pair for _, told in parts for pair in told.questions]


def _joined(parts: list[tuple[bool, Told]]) -> str:
    return " ".join(told.said for _, told in parts)
