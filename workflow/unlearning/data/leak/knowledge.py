"""A fact base, indexed: what is known of whom, and who is called what."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from unlearning.data.text import fold

COLUMNS = (
    "fact_id", "subject_id", "subject", "subject_aliases", "relation", "relation_label", "object_id", "object",
    "object_aliases", "question", "statement", "cloze", "group", "case_ids", "spans",
)  # fmt: skip


class Fact(NamedTuple):
    """What the matchers need of a row of `facts`."""

    fact_id: str
    subject_id: str
    relation: str
    object_id: str
    forget: bool


@dataclass(frozen=True)
class Knowledge:
    """A fact base with its indices; made by `index`."""

    facts: dict[str, Fact]
    objects: dict[tuple[str, str], tuple[str, ...]]  # (subject, relation) -> objects
    names: dict[str, tuple[str, ...]]  # entity -> its name, then its aliases
    called: dict[str, tuple[str, ...]]  # folded name or alias -> entities
    relations: dict[str, str]  # relation -> the relation in words

    def label(self, entity: str) -> str:
        """The name of `entity`."""
        return self.names[entity][0]

    def entities(self, name: str) -> tuple[str, ...]:
        """Every entity that is called `name`, case and accents aside."""
        return self.called.get(fold(name), ())

    def follow(self, entities: Iterable[str], relations: Iterable[str]) -> set[str]:
        """The entities reached from `entities` by one relation after the other."""
        reached = set(entities)
        for relation in relations:
            reached = {o for s in reached for o in self.objects.get((s, relation), ())}
        return reached

    def fact_of(self, subject: str, relation: str) -> Fact:
        """The first fact (by identifier) of `subject` and `relation`."""
        return self.facts[fact_id(subject, relation, min(self.objects[subject, relation]))]


def fact_id(subject_id: str, relation: str, object_id: str) -> str:
    """A fact's identifier: its three identifiers joined by colons."""
    return f"{subject_id}:{relation}:{object_id}"


def index(facts: pd.DataFrame) -> Knowledge:
    """Index the table `facts` in one pass. ValueError: two rows with one fact_id."""
    found: dict[str, Fact] = {}
    objects, called = defaultdict(list), defaultdict(dict)
    names: dict[str, dict[str, None]] = defaultdict(dict)
    relations: dict[str, str] = {}
    for row in facts[list(COLUMNS[:9]) + ["group"]].itertuples(index=False):
        if row.fact_id in found:
            raise ValueError(f"facts: {row.fact_id} occurs twice; each fact stands in one row")
        forget = row.group == "forget"
        found[row.fact_id] = Fact(row.fact_id, row.subject_id, row.relation, row.object_id, forget)
        objects[row.subject_id, row.relation].append(row.object_id)
        names[row.subject_id] |= dict.fromkeys((row.subject, *row.subject_aliases))
        names[row.object_id] |= dict.fromkeys((row.object, *row.object_aliases))
        relations.setdefault(row.relation, row.relation_label)
    for entity, its_names in names.items():
        for name in its_names:
            called[fold(name)][entity] = None
    return Knowledge(
        found,
        {key: tuple(ids) for key, ids in objects.items()},
        {entity: tuple(its_names) for entity, its_names in names.items()},
        {name: tuple(ids) for name, ids in called.items()},
        relations,
    )
