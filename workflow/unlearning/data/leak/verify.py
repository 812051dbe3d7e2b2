"""The checks of composed questions, in their order, and what passes them."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.leak.consistent import inconsistency
from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.leak.leaks import leak
from unlearning.data.leak.matches import COLUMNS, TYPES
from unlearning.data.leak.unique import not_unique
from unlearning.data.refused import refusal, rejected
from unlearning.seeds import seed_for

STEPS = ("matched", "composed", "decomposed", "unique")
CHECKS = ("leak", "decomposition", "uniqueness")  # CHECKS[i] leads from STEPS[i] to STEPS[i + 1]


class Verified(NamedTuple):
    """The questions that passed, one per match (`multihop`), the refused wordings (`rejected`), and the `funnel`."""

    questions: pd.DataFrame
    rejected: pd.DataFrame
    funnel: pd.DataFrame


def verify(
    matches: pd.DataFrame, composed: pd.DataFrame, decomposed: pd.DataFrame, knowledge: Knowledge,
    judged: pd.DataFrame | None = None,
) -> Verified:  # fmt: skip
    """Check every wording of `composed`; keep one question per match, its other passing wordings as paraphrases.

    Which of a match's passing wordings is its question follows from a hash of match_id, so that all are used.

    A wording passes when it gives nothing away (`leaks.leak`), its row of `decomposed` agrees with the facts
    (`consistent.inconsistency`), the facts give one answer (`unique.not_unique`), and, with `judged` (table
    `uniqueness`), that says so too. It is refused by the first check it fails. ValueError: a row of `composed` of no
    match.
    """
    known = {match.match_id: match for match in matches.itertuples(index=False)}
    if unknown := set(composed["match_id"]) - set(known):
        raise ValueError(f"composed: {min(unknown)} is the match_id of no match")
    splits = {(row.match_id, row.variant): row for row in decomposed.itertuples(index=False)}
    verdicts = {} if judged is None else {(row.match_id, row.variant): row for row in judged.itertuples(index=False)}
    unique = {}
    passed, refused, steps = {}, [], dict.fromkeys(known, 0)
    for row in composed.itertuples(index=False):
        match, key = known[row.match_id], (row.match_id, row.variant)
        if row.match_id not in unique:
            unique[row.match_id] = not_unique(match, knowledge)
        tests = (
            lambda m=match, r=row: leak(r.question, m, r.aliases),
            lambda m=match, k=key: _inconsistent(m, splits.get(k), knowledge),
            lambda m=match, k=key: unique[m.match_id] or (None if judged is None else _doubted(verdicts.get(k))),
        )
        why = None
        for step, (check, test) in enumerate(zip(CHECKS, tests, strict=True)):
            steps[row.match_id] = max(steps[row.match_id], step)
            if why := test():
                refused.append(_refused(row, check, why))
                break
        if why is None:
            steps[row.match_id] = len(CHECKS)
            passed.setdefault(row.match_id, []).append(row)
    return Verified(_questions(matches, passed), rejected(refused), _funnel(matches, steps))


def _inconsistent(match, split, knowledge: Knowledge) -> str | None:
    if split is None:
        return "no decomposition"
    if isinstance(split.failed, str):  # a table read from a file says NaN for null
        return split.failed
    return inconsistency(match, split.hops, split.names, knowledge)


def _doubted(verdict) -> str | None:
    if verdict is None:
        return "no verdict"
    if pd.isna(verdict.unique):
        return f"no verdict: {verdict.reason}"
    return None if verdict.unique else f"judged ambiguous: {verdict.reason}"


def _refused(row, check: str, why: str) -> tuple:
    return refusal(f"{row.match_id}#{row.variant}", check, why, 0, match_id=row.match_id, question=row.question)


def _questions(matches: pd.DataFrame, passed: dict[str, list]) -> pd.DataFrame:
    kept = matches[matches["match_id"].isin(passed)].reset_index(drop=True)
    rows = [_turned(passed[ident], ident) for ident in kept["match_id"]]
    return kept[COLUMNS].assign(
        question=[wordings[0].question for wordings in rows],
        paraphrases=pd.Series([[w.question for w in wordings[1:]] for wordings in rows], dtype=object),
        aliases=pd.Series([list(wordings[0].aliases) for wordings in rows], dtype=object),
    )


def _turned(wordings: list, ident: str) -> list:
    """`wordings` from another one on for each match: were it always the first, all questions would sound alike."""
    start = seed_for(0, "leak wording", ident) % len(wordings)
    return wordings[start:] + wordings[:start]


def _funnel(matches: pd.DataFrame, steps: dict[str, int]) -> pd.DataFrame:
    """Matches of each type that got as far as each step: steps[i] counts the checks that some wording passed."""
    reached = matches["match_id"].map(steps)
    rows = [
        (name, step, int(((matches["type"] == name) & (reached >= number)).sum()))
        for name in TYPES
        for number, step in enumerate(STEPS)
    ]
    return pd.DataFrame(rows, columns=["type", "step", "n"])
