"""The default fact base: invented entities and relations, drawn from small lists."""

import random
from collections import defaultdict
from pathlib import Path

import pandas as pd

from unlearning.data.leak.knowledge import COLUMNS, fact_id
from unlearning.data.leak.templates import Relation, fill, sentence
from unlearning.data.text import capital, fold
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml
from unlearning.seeds import seed_for


def invent(world: Path | str, relations: dict[str, Relation], seed: int, forget_share: float) -> pd.DataFrame:
    """A table `facts` of invented entities: the classes, names and relations of the file `world`, drawn by `seed`.

    Each entity of a relation's domain (a class, its subclasses included) gets one object of its range; the objects are
    dealt so that each occurs about as often. round(`forget_share` · n) facts of each relation are to be forgotten, one
    at least. Wordings come from `relations`; the first statement ends with the object, so that it makes the cloze.
    ValueError: a share outside 0 to 1. ResourceError: a class without enough names, a relation without wordings.
    """
    if not 0 < forget_share < 1:
        raise ValueError(f"forget_share {forget_share}: should be above 0 and below 1")
    content = read_yaml(world)
    classes = mapping(content.get("classes"), f"{world}, classes")
    entities = _entities(classes, seed, str(world))
    rows = []
    for name, ends in mapping(content.get("relations"), f"{world}, relations").items():
        if name not in relations:
            raise ResourceError(f"{world}, relations, {name}: has no wordings; give it an entry in the templates")
        subjects, objects = (members(entities, classes, ends[key], f"{world}, {name}") for key in ("domain", "range"))
        rows += _facts(name, relations[name], subjects, objects, seed, forget_share)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def members(entities: dict[str, list], classes: dict, name: str, where: str) -> list[tuple[str, list[str]]]:
    """The entities (identifier, names) of class `name` and the classes below it."""
    if name not in classes:
        raise ResourceError(f"{where}: unknown class {name}; there are: {', '.join(classes)}")
    below = [child for child, entry in classes.items() if entry.get("is") == name]
    return entities.get(name, []) + [e for child in below for e in members(entities, classes, child, where)]


def _entities(classes: dict, seed: int, where: str) -> dict[str, list[tuple[str, list[str]]]]:
    """By class, its entities with their names: starts and ends joined, no name twice in the whole world."""
    taken: set[str] = set()
    found: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for name, entry in classes.items():
        possible = [start + end for start in entry.get("starts", []) for end in entry.get("ends", [])]
        random.Random(seed_for(seed, "leak names", name)).shuffle(possible)
        free = iter([word for word in possible if fold(word) not in taken])
        for number in range(entry.get("count", 0)):
            words = [word for _ in range(1 + entry.get("aliases", 0)) for word in [next(free, None)]]
            if None in words:
                raise ResourceError(f"{where}, classes, {name}: {len(possible)} names are too few; add starts or ends")
            taken.update(fold(word) for word in words)
            found[name].append((f"{name}{number:03d}", [entry.get("article", "") + word for word in words]))
    return found


def _facts(name: str, relation: Relation, subjects: list, objects: list, seed: int, forget_share: float) -> list[dict]:
    draw = random.Random(seed_for(seed, "leak facts", name))
    dealt = [objects[i % len(objects)] for i in range(len(subjects))]
    draw.shuffle(dealt)
    forgotten = set(draw.sample(range(len(subjects)), max(1, round(forget_share * len(subjects)))))
    return [
        _row(name, relation, subject, object_, "forget" if number in forgotten else "retain")
        for number, (subject, object_) in enumerate(zip(subjects, dealt, strict=True))
    ]


def _row(name: str, relation: Relation, subject: tuple, object_: tuple, group: str) -> dict:
    (subject_id, (label, *aliases)), (object_id, (value, *other)) = subject, object_
    said = relation.statements[0]
    if not said.endswith(" {o}"):
        raise ResourceError(
            f"{name}: the first statement should end with the object, as the cloze is made of it: {said}"
        )
    return {
        "fact_id": fact_id(subject_id, name, object_id), "subject_id": subject_id, "subject": label,
        "subject_aliases": aliases, "relation": name, "relation_label": relation.label, "object_id": object_id,
        "object": value, "object_aliases": other, "question": capital(fill(relation.questions[0], s=label)),
        "statement": sentence(fill(said, s=label, o=value)),
        "cloze": capital(fill(said.removesuffix(" {o}"), s=label)), "group": group, "case_ids": [], "spans": [],
    }  # fmt: skip
