"""LUME's documents without any language model: stories, people with sensitive data, biographies of invented people."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from unlearning.data.lume import biographies, fields, people, stories
from unlearning.data.lume.made import TASKS, Check, Kept, Made, draw_all, good_question, made, near_duplicate
from unlearning.data.lume.near import Index
from unlearning.data.lume.stories import Draft
from unlearning.data.lume.texts import holds, no_cut, wrong_length
from unlearning.data.text import fold
from unlearning.seeds import seed_for

PAPER = {"task1": (199, 194), "task2": (203, 202), "task3": (295, 294)}  # documents to forget, to retain
QUESTIONS = {"task1": 1, "task2": 5, "task3": 1}  # of each document


class Grammars(NamedTuple):
    """What the texts are made of."""

    stories: stories.Stories
    people: people.Biographies
    lives: biographies.Lives


def read_grammars(folder: Path | str) -> Grammars:
    """The grammars in `folder`: stories, people, biographies and states (.yaml). ResourceError: one is wrong."""
    folder = Path(folder)
    states = folder / "states.yaml"
    return Grammars(
        stories.read_stories(folder / "stories.yaml", states), people.read_people(folder / "people.yaml", states),
        biographies.read_lives(folder / "biographies.yaml"),
    )  # fmt: skip


def prompts(documents: Mapping[str, int]) -> int:
    """Prompts of so many documents of each task: a completion each, one question (tasks 1 and 3), five (task 2)."""
    return sum(n * (1 + QUESTIONS[task]) for task, n in documents.items())


def offline(
    grammars: Grammars, sizes: Mapping[str, tuple[int, int]], nonmembers: int, seed: int,
    background: Mapping[str, int] | None = None,
) -> Made:  # fmt: skip
    """Documents and questions; `sizes`: task -> (to forget, to retain), as PAPER; all by `seed`.

    `nonmembers` biographies like those of task 3 are in no training set. `background` (task -> number) are further
    documents, taught but neither forgotten nor asked about. No name occurs twice, nor does a text much like another of
    its task. A document's seed is its own, so that more of them leave the others as they were, unless they are alike.
    ValueError: unknown tasks, a size below 1, or the grammar has not so many different texts.
    """
    background = background or {}
    _check_sizes(sizes, nonmembers, background)
    groups = assign(sizes, nonmembers, seed, background)
    others = [ident for ident, (_, role, _) in groups.items() if role == "nonmember"]
    idents = {task: [i for i, (own, *_) in groups.items() if own == task and i not in others] for task in sizes}
    names: set[str] = set()
    parts: dict[str, Kept] = {}
    if "task1" in sizes:
        parts["task1"] = _stories(idents["task1"], grammars.stories, names, seed)
    if "task2" in sizes:
        parts["task2"] = _people(idents["task2"], grammars.people, names, seed)
    index = Index()
    if "task3" in sizes:
        parts["task3"] = _lives(idents["task3"], grammars.lives, names, index, seed)
    if others:
        parts["nonmember"] = _lives(others, grammars.lives, names, index, seed)
    return made(parts, groups)


def _check_sizes(sizes: Mapping[str, tuple[int, int]], nonmembers: int, background: Mapping[str, int]) -> None:
    wrong = {task: n for task, n in sizes.items() if task not in TASKS or len(n) != 2 or min(n) < 1}
    if wrong or not sizes:
        raise ValueError(
            f"sizes {dict(sizes)}: should give (to forget, to retain), 1 or more each, of {', '.join(TASKS)}"
        )
    if nonmembers < 0 or set(background) - set(sizes) or any(n < 0 for n in background.values()):
        raise ValueError(
            f"nonmembers {nonmembers}, background {dict(background)}: should be 0 or more, of tasks in sizes"
        )


def assign(
    sizes: Mapping[str, tuple[int, int]], nonmembers: int, seed: int, background: Mapping[str, int]
) -> dict[str, tuple[str, str, str | None]]:
    """Document -> (task, role, group): which are memorised, and by a seeded order which of them are to be forgotten."""
    found: dict[str, tuple[str, str, str | None]] = {}
    for task, (forget, retain) in sizes.items():
        idents = [f"{task}-{n:04d}" for n in range(forget + retain)]
        order = sorted(idents, key=lambda ident: seed_for(seed, "lume forget", ident))
        gone = set(order[:forget])
        found |= {ident: (task, "memorised", "forget" if ident in gone else "retain") for ident in idents}
        found |= {f"{task}-background-{n:04d}": (task, "background", None) for n in range(background.get(task, 0))}
    return found | {f"task3-nonmember-{n:04d}": ("task3", "nonmember", None) for n in range(nonmembers)}


def _draw(seed: int, ident: str, attempt: int) -> random.Random:
    return random.Random(seed_for(seed, "lume document", f"{ident}/{attempt}"))


def _one_question(draft: Draft) -> str | None:
    return None if good_question(draft) else "no question that it answers has one short answer in it"


def names_all(draft: Draft) -> str | None:
    """Why a story does not name all of its characters, the first by full name, and its city."""
    missing = [name for name in (*draft.row["characters"], draft.row["city"]) if not holds(draft.row["text"], name)]
    return f"does not name {', '.join(missing)}" if missing else None


def story_checks(index: Index) -> dict[str, Check]:
    """What a story has to pass, but for its question."""
    return {
        "length": lambda draft: wrong_length(draft.row["text"], stories.SHORTEST, stories.LONGEST),
        "characters": names_all,
        "cut": lambda draft: no_cut(draft.row["text"]),
        "near_duplicate": near_duplicate(index),
    }


def _stories(idents: list[str], grammar: stories.Stories, names: set[str], seed: int) -> Kept:
    index, towns = Index(), set()

    def draft(ident: str, attempt: int) -> Draft:
        draw = _draw(seed, ident, attempt)
        return stories.tell(grammar, stories.cast(grammar, draw, names | towns), draw)

    def keep(ident: str, drawn: Draft) -> list[tuple[str, str]]:
        index.add(ident, drawn.row["text"])
        names.add(drawn.row["characters"][0])
        if drawn.row["kind"] == "Fantasy":
            towns.add(drawn.row["city"])
        return [good_question(drawn)]

    return draw_all(idents, draft, story_checks(index) | {"question": _one_question}, keep)


def has_fields(draft: Draft) -> str | None:
    """Why a biography of task 2 does not hold every field of its person."""
    lost = fields.missing(draft.row["text"], people.of(draft.row))
    return f"does not hold {', '.join(lost)}" if lost else None


PERSON_CHECKS: dict[str, Check] = {"fields": has_fields, "cut": lambda draft: no_cut(draft.row["text"])}


def _people(idents: list[str], grammar: people.Biographies, names: set[str], seed: int) -> Kept:
    taken = {field: set() for field in people.UNIQUE}
    taken["name"] |= {fold(name) for name in names}

    def draft(ident: str, attempt: int) -> Draft:
        person = people.draw_person(grammar.states, seed_for(seed, "lume person", f"{ident}/{attempt}"), taken)
        return people.tell(grammar, person, _draw(seed, ident, attempt))

    def keep(ident: str, drawn: Draft) -> list[tuple[str, str]]:
        person = people.of(drawn.row)
        people.take(person, taken)
        names.add(person.name)
        return drawn.questions

    return draw_all(idents, draft, PERSON_CHECKS, keep)


def _lives(idents: list[str], grammar: biographies.Lives, names: set[str], index: Index, seed: int) -> Kept:
    checks = {
        "length": lambda draft: wrong_length(draft.row["text"], biographies.SHORTEST, biographies.LONGEST),
        "cut": lambda draft: no_cut(draft.row["text"]),
        "near_duplicate": near_duplicate(index),
        "question": _one_question,
    }

    def keep(ident: str, drawn: Draft) -> list[tuple[str, str]]:
        index.add(ident, drawn.row["text"])
        names.add(drawn.row["characters"][0])
        return [] if "nonmember" in ident else [good_question(drawn)]

    return draw_all(idents, lambda i, attempt: biographies.tell(grammar, _draw(seed, i, attempt), names), checks, keep)
