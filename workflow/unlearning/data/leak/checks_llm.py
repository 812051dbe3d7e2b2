"""Two language models that check a composed question: one takes it apart, one judges whether it has one answer.

Neither sees the match, its facts or its answer: the decomposer sees the question and all words for relations, so that
it can say a relation as the facts do; the judge sees the question.
"""

import re
from collections.abc import Iterator

import pandas as pd

from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.rounds import Tools, asked
from unlearning.data.text import fold

_STEP = re.compile(r"#\s*(\d+)")


def split(composed: pd.DataFrame, knowledge: Knowledge, tools: Tools) -> pd.DataFrame:
    """Table `decomposed`: each question of `composed` split by the decomposer; `failed` says why one was not.

    A hop that goes on from an earlier one asks of what that one found. A hop to which the model knows no answer is
    answered by the facts, if they know its subject and relation.
    """
    words = sorted(set(knowledge.relations.values()))
    inputs = [{"question": question, "relations": words} for question in composed["question"]]
    replies = asked(tools, "decomposer", "decomposer", wording_ids(composed), inputs)
    rows = []
    for row, (said, failed) in zip(composed.itertuples(index=False), replies.itertuples(index=False), strict=True):
        hops, names, why = [], [], failed and f"no decomposition ({failed})"
        if said is not None:
            try:
                hops, names = list(_resolved(said["hops"], knowledge)), said["names"]
            except LookupError as error:
                why = str(error)
        rows.append((row.match_id, row.variant, hops if why is None else [], names, why))
    return pd.DataFrame(rows, columns=["match_id", "variant", "hops", "names", "failed"])


def judge(composed: pd.DataFrame, tools: Tools) -> pd.DataFrame:
    """Table `uniqueness`: whether each question of `composed` has one right answer; null where there is no verdict."""
    inputs = [{"question": question} for question in composed["question"]]
    replies = asked(tools, "uniqueness", "uniqueness", wording_ids(composed), inputs)
    rows = [
        (row.match_id, row.variant, *(_verdict(said) if said is not None else (None, failed)))
        for row, (said, failed) in zip(composed.itertuples(index=False), replies.itertuples(index=False), strict=True)
    ]
    return pd.DataFrame(rows, columns=["match_id", "variant", "unique", "reason"]).astype({"unique": object})


def wording_ids(composed: pd.DataFrame) -> list[str]:
    """An identifier for each row of `composed`, as the table `rejected` has it."""
    return [f"{row.match_id}#{row.variant}" for row in composed.itertuples(index=False)]


def _verdict(said: dict) -> tuple[bool, str | None]:
    return said["unique"], None if said["unique"] else said["reason"] or "judged not to have one answer"


def _resolved(hops: list[dict], knowledge: Knowledge) -> Iterator[dict]:
    """The hops with their subjects by name. LookupError: one goes on from what no earlier hop finds."""
    found: list[list[str]] = []
    for number, hop in enumerate(hops, start=1):
        subject = hop["subject"]
        if step := _STEP.fullmatch(subject):
            before = int(step[1])
            if not 1 <= before < number:
                raise LookupError(f"step {number} goes on from step {before}, which is none before it")
            if not found[before - 1]:
                raise LookupError(f"step {number} goes on from step {before}, to which no answer is known")
            subject = found[before - 1][0]
        found.append(hop["answers"] or _by_facts(subject, hop["relation"], knowledge))
        yield {"subject": subject, "relation": hop["relation"], "answers": found[-1]}


def _by_facts(subject: str, relation: str, knowledge: Knowledge) -> list[str]:
    meant = [name for name, words in knowledge.relations.items() if fold(relation) in (fold(name), fold(words))]
    entities = knowledge.entities(subject)
    return sorted({knowledge.label(found) for name in meant for found in knowledge.follow(entities, [name])})
