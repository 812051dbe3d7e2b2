"""Matchers on chains of two facts, o1 = s2: hypothetical syllogism, modus ponens, modus tollens."""

import random
from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from unlearning.data.leak.knowledge import Fact, Knowledge, fact_id
from unlearning.data.leak.matches import row
from unlearning.seeds import seed_for


def _facts(knowledge: Knowledge, pairs: pd.DataFrame) -> Iterator[tuple[Fact, Fact]]:
    for first, second in zip(pairs["first"], pairs["second"], strict=True):
        yield knowledge.facts[first], knowledge.facts[second]


def hypothetical_syllogism(knowledge: Knowledge, pairs: pd.DataFrame) -> Iterator[dict]:
    """HS: A→B, B→C ⊢ A→C, one match per chain. The answer is o2; bridge and answer are forbidden."""
    for first, second in _facts(knowledge, pairs):
        yield _forward(knowledge, "hs", first, second, f"the object of {first.fact_id} is the subject of {{}}")


def modus_ponens(knowledge: Knowledge, pairs: pd.DataFrame, rules: set[tuple[str, str]]) -> Iterator[dict]:
    """MP: a general rule on (r1, r2) and an instance ⊢ o2, one match per chain whose relations are in `rules`."""
    for first, second in _facts(knowledge, pairs):
        if (first.relation, second.relation) in rules:
            why = f"the rule on {first.relation} and {second.relation} applies to {first.fact_id} and {{}}"
            yield _forward(knowledge, "mp", first, second, why)


def _forward(knowledge: Knowledge, type_: str, first: Fact, second: Fact, why: str) -> dict:
    return row(
        knowledge, type_, [first, second], second.object_id, why.format(second.fact_id), bridge_id=first.object_id,
        subjects=[knowledge.label(first.subject_id)], relations=[first.relation, second.relation],
        forbidden=knowledge.names[second.object_id],
    )  # fmt: skip


def modus_tollens(knowledge: Knowledge, pairs: pd.DataFrame, candidates: int, seed: int) -> Iterator[dict]:
    """MT: were it A, the consequence would hold; the consequence is denied ⊢ it is not A; one match per chain.

    The answer is A, the only one of `candidates` entities whose r2 of r1 is o2; the others have another one each, by
    the facts. Chains without enough others do not match. The bridge is forbidden.
    """
    reached = _Consequences(knowledge, pairs)
    for first, second in _facts(knowledge, pairs):
        key = (first.relation, second.relation)
        has, without = first.subject_id, reached.without(*key, second.object_id)
        if len(without) < candidates - 1:
            continue
        draw = random.Random(seed_for(seed, "leak candidates", f"mt|{first.fact_id}|{second.fact_id}"))
        others = draw.sample(without, candidates - 1)
        listed = draw.sample([has, *others], candidates)
        steps = [fact for other in others for fact in _steps(knowledge, other, key)]
        yield row(
            knowledge, "mt", list(dict.fromkeys([first, second, *steps])), has,
            f"{first.fact_id} and {second.fact_id} give the consequence; it holds of no other candidate",
            asked=[first, second], bridge_id=first.object_id, relations=key, candidates=listed,
            denied_id=second.object_id,
        )  # fmt: skip


def _steps(knowledge: Knowledge, subject: str, relations: tuple[str, str]) -> list[Fact]:
    """The two facts of `subject`'s chain over `relations`."""
    firsts = knowledge.objects[subject, relations[0]]
    middle = min(entity for entity in firsts if (entity, relations[1]) in knowledge.objects)
    return [knowledge.facts[fact_id(subject, relations[0], middle)], knowledge.fact_of(middle, relations[1])]


class _Consequences:
    """By pair of relations: which subjects reach what, and who does not reach a given consequence."""

    def __init__(self, knowledge: Knowledge, pairs: pd.DataFrame):
        self.by_pair: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.known: dict[tuple[str, str, str], list[str]] = {}
        for first, second in _facts(knowledge, pairs):
            self.by_pair[first.relation, second.relation][first.subject_id].add(second.object_id)

    def without(self, first: str, second: str, consequence: str) -> list[str]:
        """The subjects that reach something over the two relations, but not `consequence`, sorted."""
        key = (first, second, consequence)
        if key not in self.known:
            reached = self.by_pair[first, second]
            self.known[key] = sorted(subject for subject, ends in reached.items() if consequence not in ends)
        return self.known[key]
