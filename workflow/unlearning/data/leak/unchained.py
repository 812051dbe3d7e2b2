"""Matchers on facts that do not chain: Leibniz's law, conjunctive composition, disjunctive syllogism."""

import random
from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from unlearning.data.leak.knowledge import Fact, Knowledge
from unlearning.data.leak.matches import row
from unlearning.data.text import fold
from unlearning.seeds import seed_for


def leibniz(knowledge: Knowledge) -> Iterator[dict]:
    """LL: x = y, A(x) ⊢ A(y), one match per fact and alias of its subject; asked with the alias.

    The answer is the object; the subject's name, the object and the object's aliases are forbidden.
    """
    for fact in knowledge.facts.values():
        name, *aliases = knowledge.names[fact.subject_id]
        for alias in aliases:
            yield row(
                knowledge, "ll", [fact], fact.object_id, f"{alias} is another name of the subject of {fact.fact_id}",
                ident=f"|{fold(alias)}", subjects=[alias], relations=[fact.relation],
                forbidden=[name, *knowledge.names[fact.object_id]],
            ) | {"bridge_id": fact.subject_id, "bridge": name}  # fmt: skip


def conjunction(knowledge: Knowledge) -> Iterator[dict]:
    """CC: two subjects share (relation, object), each has a fact the other lacks; one match per pair and shared fact.

    The answer is the shared object, which is the bridge too and forbidden. Of the facts the other lacks the first
    counts, one to be forgotten before one that is not; only its relation is asked with, so that it is not told either.
    """
    own = _by_subject(knowledge)
    facts = pd.DataFrame(knowledge.facts.values(), columns=Fact._fields)
    facts = facts[facts["subject_id"].map(lambda subject: len(own[subject]) > 1)]
    pairs = facts.merge(facts, on=["relation", "object_id"], suffixes=("_1", "_2"))
    pairs = pairs[pairs["subject_id_1"] < pairs["subject_id_2"]]
    for one, two in zip(pairs["fact_id_1"], pairs["fact_id_2"], strict=True):
        shared_1, shared_2 = knowledge.facts[one], knowledge.facts[two]
        lacks_2 = _lacking(own, shared_1, shared_2)
        lacks_1 = _lacking(own, shared_2, shared_1)
        if lacks_1 and lacks_2:
            yield row(
                knowledge, "cc", [shared_1, shared_2, lacks_2, lacks_1], shared_1.object_id,
                f"{one} and {two} share relation and object; only the first subject has {lacks_2.fact_id}, "
                f"only the second {lacks_1.fact_id}",
                bridge_id=shared_1.object_id,
                subjects=[knowledge.label(shared_1.subject_id), knowledge.label(shared_2.subject_id)],
                relations=[shared_1.relation, lacks_2.relation, lacks_1.relation],
            )  # fmt: skip


def _by_subject(knowledge: Knowledge) -> dict[str, dict[tuple[str, str], Fact]]:
    own: dict[str, dict[tuple[str, str], Fact]] = defaultdict(dict)
    for fact in knowledge.facts.values():
        own[fact.subject_id][fact.relation, fact.object_id] = fact
    return own


def _lacking(own: dict[str, dict[tuple[str, str], Fact]], has: Fact, lacks: Fact) -> Fact | None:
    """A fact of `has`'s subject whose relation and object `lacks`'s subject does not share, of another relation."""
    left = [
        fact
        for key, fact in own[has.subject_id].items()
        if key not in own[lacks.subject_id] and fact.relation != has.relation
    ]
    return min(left, key=lambda fact: (not fact.forget, fact.fact_id), default=None)


def disjunctive_syllogism(knowledge: Knowledge, candidates: int, seed: int) -> Iterator[dict]:
    """DS: A ∨ B, ¬A ⊢ B, one match per fact whose relation has `candidates` values or more.

    The candidates are the object and others from the relation's range that are not true of the subject; all but the
    object are excluded in the question. Nothing is forbidden but what singles the answer out (`leaks`).
    """
    ranges: dict[str, set[str]] = defaultdict(set)
    for (_, relation), objects in knowledge.objects.items():
        ranges[relation].update(objects)
    values = {relation: sorted(objects) for relation, objects in ranges.items()}
    for fact in knowledge.facts.values():
        true = knowledge.objects[fact.subject_id, fact.relation]
        draw = random.Random(seed_for(seed, "leak candidates", f"ds|{fact.fact_id}"))
        others = _others(values[fact.relation], true, candidates - 1, draw)
        if others is None:
            continue
        listed = draw.sample([fact.object_id, *others], candidates)
        yield row(
            knowledge, "ds", [fact], fact.object_id,
            f"{len(values[fact.relation])} values are known of {fact.relation}; all candidates but one are excluded",
            subjects=[knowledge.label(fact.subject_id)], relations=[fact.relation], candidates=listed,
        )  # fmt: skip


def _others(values: list[str], true: tuple[str, ...], n: int, draw: random.Random) -> list[str] | None:
    """`n` of `values` that are not `true`, drawn without replacement; None where there are too few."""
    if len(values) - len(true) < n:
        return None
    drawn = draw.sample(values, min(len(values), n + len(true)))
    return [value for value in drawn if value not in true][:n]
