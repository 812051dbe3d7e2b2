"""Harmless multiple-choice questions at school level by language models, in rounds: written, checked in code, answered.

A question is kept where both verifiers, who are not told, choose the option that the writer calls right.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from unlearning.data.files_spec import SCHOOL_ROLES
from unlearning.data.lume.near import Index
from unlearning.data.reasons import reason
from unlearning.data.rounds import (
    Tools,
    accepted,
    asked,
    column,
    in_rounds,
    proposed,
    rejected_table,
    rounds_table,
)
from unlearning.data.school import Draft, Topic, shuffled, table, terms, wrong
from unlearning.seeds import seed_for
from unlearning.text.choices import LETTERS, lettered

WRITER, *VERIFIERS = SCHOOL_ROLES
ANGLES = ("what it is, or which thing fits a description of it", "what it is for or what it does",
          "an example of it, or what belongs to it", "how it differs from something alike")  # fmt: skip
ALIKE = 0.6  # Jaccard of the word 3-grams of question and right option from which two questions are too much alike
PARTS = ("question", "options", "correct")


class Written(NamedTuple):
    """Tables `choices`, `rejected` (every refused attempt) and `rounds` (every attempt)."""

    choices: pd.DataFrame
    rejected: pd.DataFrame
    rounds: pd.DataFrame


def write(subject: str, topics: Sequence[Topic], n: int, tools: Tools, seed: int) -> Written:
    """`n` questions of `subject`, each about another term of `topics`, or another side of it.

    One that does not stand after `max_rounds` is left out. ValueError: too few terms.
    """
    given = assigned(subject, topics, n, seed)
    index = Index()

    def propose(waiting: pd.DataFrame, attempts: list[list[dict]]) -> pd.DataFrame:
        ids = list(waiting["id"])
        inputs = [given[ident] | {"attempts": tries} for ident, tries in zip(ids, attempts, strict=True)]
        replies = asked(tools, WRITER, "writer_school", ids, inputs)
        replies["parsed"] = column(
            [said and _mixed(ident, said, seed) for ident, said in replies["parsed"].items()], replies
        )
        return proposed(waiting, replies, PARTS)

    def examine(tried: pd.DataFrame, _: pd.DataFrame) -> pd.DataFrame:
        drafts = {row.id: Draft(row.question, tuple(row.options), row.correct) for row in tried.itertuples()}
        refused = {}
        for ident, draft in drafts.items():
            if why := wrong(draft) or _repeated(draft, index):
                refused[ident] = why
            else:
                index.add(ident, _key(draft))
        refused |= _unsure({ident: d for ident, d in drafts.items() if ident not in refused}, index, tools)
        return tried.assign(reasons=column(([refused[i]] if i in refused else [] for i in tried["id"]), tried))

    history = in_rounds(pd.DataFrame({"id": list(given)}), propose, examine, tools.max_rounds)
    stand = {row.id: Draft(row.question, tuple(row.options), row.correct) for row in accepted(history).itertuples()}
    told = history.assign(answer=_of(history, lambda d: d.answer), value=_of(history, lambda d: "\n".join(d.options)))
    return Written(
        table(subject, [stand[ident] for ident in given if ident in stand]),
        rejected_table(told[told["reasons"].map(len) > 0], "en", ("question", "value", "answer")),
        rounds_table(told, "en"),
    )


def assigned(subject: str, topics: Sequence[Topic], n: int, seed: int) -> dict[str, dict[str, str]]:
    """question_id -> subject, term and angle: every term once from one side before any from a second one."""
    known = sorted(terms(topics), key=lambda term: seed_for(seed, "school term", f"{subject}/{term}"))
    if n > len(known) * len(ANGLES):
        raise ValueError(f"school: {n} questions of {subject}, but {len(known)} terms; lower per_subject")
    found = {}
    for i in range(n):
        turn, place = divmod(i, len(known))
        angle = ANGLES[(turn + place) % len(ANGLES)]
        found[f"{subject}/{i:03d}"] = {"subject": subject, "term": known[place], "angle": angle}
    return found


def _mixed(ident: str, said: dict, seed: int) -> dict:
    """The reply with its options in another order; as it is where the right one is none of them."""
    if not 0 <= said["correct"] < len(said["options"]):
        return said
    draw = random.Random(seed_for(seed, "school options", f"{ident}/{said['question']}"))
    return shuffled(said["question"].strip(), [o.strip() for o in said["options"]], said["correct"], draw)._asdict()


def _key(draft: Draft) -> str:
    return f"{draft.question} {draft.answer}"


def _repeated(draft: Draft, index: Index) -> tuple[str, str] | None:
    alike, other = index.nearest(_key(draft))
    return (
        reason("choice_duplicate", f"shares {alike:.2f} of its word 3-grams with {other}") if alike >= ALIKE else None
    )


def _unsure(drafts: dict[str, Draft], index: Index, tools: Tools) -> dict[str, tuple[str, str]]:
    """Those of `drafts` on which a verifier does not agree, taken out of `index`.

    The second verifier sees what the first let pass.
    """
    refused = {}
    for verifier in VERIFIERS:
        ids = [ident for ident in drafts if ident not in refused]
        inputs = [
            {"question": d.question, "options": [lettered(d.options, i) for i in range(len(d.options))]}
            for d in (drafts[ident] for ident in ids)
        ]
        replies = asked(tools, verifier, "verifier_school", ids, inputs)
        for ident, (said, failed) in zip(ids, replies.itertuples(index=False), strict=True):
            right = LETTERS[drafts[ident].correct]
            if said is None:
                refused[ident] = reason("choice_verifiers", f"{verifier} gives no reply that can be used: {failed}")
            elif said["letter"] != right:
                refused[ident] = reason("choice_verifiers", f"{verifier} says {said['letter']}, the writer {right}")
    for ident in refused:
        index.remove(ident)
    return refused


def _of(history: pd.DataFrame, what) -> pd.Series:
    """A text of each attempt's draft, None where there is none."""
    drafts = zip(history["question"], history["options"], history["correct"], strict=True)
    return column(
        [what(Draft(q, tuple(o), int(c))) if isinstance(o, (list, tuple)) else None for q, o, c in drafts], history
    )
