"""The table `matches`: one row of it from the facts that match, and all six matchers together."""

from collections.abc import Iterable, Iterator

import pandas as pd

from unlearning.data.leak.knowledge import Fact, Knowledge
from unlearning.score.tasks import MULTI
from unlearning.tables.built import MATCH

TYPES = tuple(MULTI)
COLUMNS = [column.name for column in MATCH]


def chains(knowledge: Knowledge) -> pd.DataFrame:
    """Pairs of facts of which the first's object is the second's subject: columns first and second (identifiers).

    Chains that lead back to where they start are left out: their answer would stand in the question.
    """
    facts = pd.DataFrame(knowledge.facts.values(), columns=Fact._fields)
    joined = facts.merge(facts, left_on="object_id", right_on="subject_id", suffixes=("", "_2"))
    joined = joined[joined["subject_id"] != joined["object_id_2"]]
    return joined[["fact_id", "fact_id_2"]].set_axis(["first", "second"], axis=1)


def row(
    knowledge: Knowledge, type_: str, facts: list[Fact], answer_id: str, why: str, *, ident: str = "",
    asked: list[Fact] | None = None, bridge_id: str | None = None, subjects: Iterable[str] = (),
    relations: Iterable[str] = (), candidates: Iterable[str] = (), denied_id: str | None = None,
    forbidden: Iterable[str] = (),
) -> dict:  # fmt: skip
    """A row of `matches`.

    `asked`: the facts of which one is to be forgotten for the match to count (default: all of `facts`); `ident` sets
    apart matches of the same facts; `forbidden`: further forbidden strings beside the names of the bridge.
    """
    asked, candidates, names = asked or facts, list(candidates), knowledge.names
    forgotten = [fact.fact_id for fact in facts if fact.forget]
    target = next((fact for fact in asked if fact.forget), asked[0])
    refused = [*(names[bridge_id] if bridge_id else ()), *forbidden]
    return {
        "match_id": f"{type_}|{'|'.join(fact.fact_id for fact in asked)}{ident}", "type": type_,
        "fact_ids": [fact.fact_id for fact in facts], "forget_fact_ids": forgotten, "target_fact_id": target.fact_id,
        "bridge_id": bridge_id, "bridge": names[bridge_id][0] if bridge_id else None, "subjects": list(subjects),
        "relations": list(relations), "candidate_ids": candidates,
        "candidates": [knowledge.label(entity) for entity in candidates], "denied_id": denied_id,
        "denied": knowledge.label(denied_id) if denied_id else None, "answer_id": answer_id,
        "answer": names[answer_id][0], "answer_aliases": list(names[answer_id][1:]),
        "forbidden": list(dict.fromkeys(refused)), "chance": 1 / len(candidates) if candidates else None, "why": why,
    }  # fmt: skip


def wanted(rows: Iterable[dict], knowledge: Knowledge, forget: bool | None) -> Iterator[dict]:
    """`rows` that use a fact to be forgotten where one counts (True), use none at all (False), or all (None)."""
    for match in rows:
        if forget is None or (
            knowledge.facts[match["target_fact_id"]].forget if forget else not match["forget_fact_ids"]
        ):
            yield match


def match_all(
    knowledge: Knowledge, rules: Iterable[tuple[str, str]], seed: int, *, candidates: int = 3,
    forget: bool | None = True, types: Iterable[str] = TYPES,
) -> pd.DataFrame:  # fmt: skip
    """Every match of `types` in `knowledge` as the table `matches`, by type and then by the facts' order.

    `rules`: the pairs of relations (first, second) that a general rule connects, for mp. `candidates`: entities named
    to choose from (mt, ds), 3 or more; which ones, and their order, follows from `seed` and the match. `forget`: True
    keeps matches that are asked through a fact to be forgotten; False those without any (to learn chaining from,
    best on an index of the retained facts alone); None all. ValueError: fewer than 3 candidates, an unknown type.
    """
    from unlearning.data.leak.chained import hypothetical_syllogism, modus_ponens, modus_tollens
    from unlearning.data.leak.unchained import conjunction, disjunctive_syllogism, leibniz

    if candidates < 3:
        raise ValueError(f"candidates {candidates}: should be 3 or more, so that a guess is seldom right")
    if unknown := set(types) - set(TYPES):
        raise ValueError(f"unknown types {', '.join(sorted(unknown))}; there are: {', '.join(TYPES)}")
    pairs = chains(knowledge)
    matchers = {
        "hs": lambda: hypothetical_syllogism(knowledge, pairs),
        "mp": lambda: modus_ponens(knowledge, pairs, set(rules)),
        "mt": lambda: modus_tollens(knowledge, pairs, candidates, seed),
        "ll": lambda: leibniz(knowledge),
        "cc": lambda: conjunction(knowledge),
        "ds": lambda: disjunctive_syllogism(knowledge, candidates, seed),
    }
    rows = [match for name in TYPES if name in set(types) for match in wanted(matchers[name](), knowledge, forget)]
    return pd.DataFrame(rows, columns=COLUMNS)
