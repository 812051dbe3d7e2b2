"""Composing multi-hop questions by language models, in rounds: composed, checked, composed again with what was wrong.

One attempt at a match is three wordings. It stands when one of them or more passes the checks of `verify`: it gives
nothing away (in code), an independent model's decomposition is that of the facts, the facts and a judge say that it has
one answer. Each check sees only what passed the one before.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from unlearning.data.checks.no_placeholder import PLACEHOLDER
from unlearning.data.leak.checks_llm import judge, split, wording_ids
from unlearning.data.leak.compose import answer_aliases
from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.leak.leaks import leak
from unlearning.data.leak.names import clean_aliases, is_short
from unlearning.data.leak.templates import VARIANTS
from unlearning.data.leak.unique import not_unique
from unlearning.data.leak.verify import verify
from unlearning.data.refused import refusal, rejected
from unlearning.data.rounds import Tools, accepted, asked, column, in_rounds, proposed, refused, rounds_table
from unlearning.data.text import fold

HIDDEN = "[hidden]"  # what the composer must not learn from why it was refused


class Built(NamedTuple):
    """Tables of the last attempt at each match, for `verify`; what never got that far (`rejected`); all `rounds`."""

    composed: pd.DataFrame
    decomposed: pd.DataFrame
    uniqueness: pd.DataFrame
    rejected: pd.DataFrame
    rounds: pd.DataFrame


class _Checked(NamedTuple):
    """What was found of one attempt: rows of the three tables, and (variant, question, check, why) of each wording."""

    composed: list[dict]
    decomposed: list[dict]
    uniqueness: list[dict]
    wordings: list[tuple[int, str, str | None, str | None]]
    aliases: list[tuple[str, str]]  # refused ones, with why


def build(matches: pd.DataFrame, knowledge: Knowledge, tools: Tools) -> Built:
    """Compose and check a question for every row of `matches`.

    A match to which the facts give several answers is refused beforehand, as no wording mends it. Of the others the
    attempt that stands, or the last, is in the tables, and `verify` says the same of it again.
    """
    lost = {match.match_id: why for match in matches.itertuples(index=False) if (why := not_unique(match, knowledge))}
    rows = matches[~matches["match_id"].isin(lost)]
    history = in_rounds(
        rows.assign(id=rows["match_id"]).reset_index(drop=True),
        lambda waiting, attempts: _propose(waiting, attempts, knowledge, tools),
        lambda tried, _: _examine(tried, knowledge, tools),
        tools.max_rounds,
    )
    gone = [refusal(ident, "uniqueness", why, 0, match_id=ident) for ident, why in lost.items()]
    if history.empty or "checked" not in history:
        history = history.assign(checked=None, failed=None)
    last = pd.concat([accepted(history), refused(history)]) if len(history) else history
    order = {ident: number for number, ident in enumerate(rows["match_id"])}
    last = last.sort_values("id", key=lambda ids: ids.map(order), kind="stable")
    found = [row for row in last["checked"] if isinstance(row, _Checked)]
    return Built(
        _table([row for checked in found for row in checked.composed], ["match_id", "variant", "question", "aliases"]),
        _table(
            [row for checked in found for row in checked.decomposed],
            ["match_id", "variant", "hops", "names", "failed"],
        ),
        _table([row for checked in found for row in checked.uniqueness], ["match_id", "variant", "unique", "reason"]),
        rejected([*gone, *(row for attempt in last.itertuples(index=False) for row in _not_verified(attempt))]),
        _rounds(history),
    )


def _table(rows: list[dict], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns, dtype=object).astype({"variant": "int32"})


def inputs_of(match, knowledge: Knowledge) -> dict:
    """What the composer's prompt for `match` is filled in with, but for its earlier attempts."""
    return INPUTS[match.type](match, [knowledge.relations[r] for r in match.relations]) | {"answer": match.answer}


def _chain(match, words: list[str]) -> dict:
    return {"subject": match.subjects[0], "first": words[0], "second": words[1]}


def _candidates(match, words: list[str]) -> dict:
    return {"candidates": list(match.candidates), "first": words[0], "second": words[1], "denied": match.denied}


def _alias(match, words: list[str]) -> dict:
    return {"subject": match.subjects[0], "first": words[0]}


def _two(match, words: list[str]) -> dict:
    one, two = match.subjects
    return {"one": one, "two": two, "first": words[0], "other_1": words[1], "other_2": words[2]}


def _excluding(match, words: list[str]) -> dict:
    excluded = [name for name in match.candidates if name != match.answer]
    return {**_alias(match, words), "candidates": list(match.candidates), "excluded": excluded}


INPUTS: dict[str, Callable[..., dict]] = {
    "hs": _chain, "mp": _chain, "mt": _candidates, "ll": _alias, "cc": _two, "ds": _excluding,
}  # fmt: skip


def _propose(rows: pd.DataFrame, attempts: list[list[dict]], knowledge: Knowledge, tools: Tools) -> pd.DataFrame:
    inputs = [
        {**inputs_of(match, knowledge), "attempts": tries}
        for match, tries in zip(rows.itertuples(index=False), attempts, strict=True)
    ]
    replies = asked(tools, "composer", [f"composer_{name}" for name in rows["type"]], list(rows["id"]), inputs)
    replies["parsed"] = column(map(_read, replies["parsed"]), replies)
    return proposed(rows, replies, ["questions", "aliases"])


def _read(said: dict | None) -> dict | None:
    if said is None:
        return None
    questions = [" ".join(said[f"question_{number}"].split()) for number in range(1, VARIANTS + 1)]
    return {"questions": questions, "aliases": said["aliases"]}


def _examine(tried: pd.DataFrame, knowledge: Knowledge, tools: Tools) -> pd.DataFrame:
    """`tried` with `checked` (`_Checked`) and the `reasons` that the composer is told: none where a wording passes."""
    known = {match.match_id: match for match in tried.itertuples(index=False)}
    aliases = {ident: _aliases(match, knowledge) for ident, match in known.items()}
    composed = pd.DataFrame(
        [(ident, number, question, aliases[ident][0])
         for ident, match in known.items() for number, question in _distinct(match.questions)],
        columns=["match_id", "variant", "question", "aliases"],
    )  # fmt: skip
    told = [
        ident
        for ident, row in zip(wording_ids(composed), composed.itertuples(index=False), strict=True)
        if leak(row.question, known[row.match_id], row.aliases)
    ]
    safe = _without(composed, told)
    splits = split(safe, knowledge, tools)
    judged = judge(_without(safe, verify(tried, safe, splits, knowledge).rejected["id"]), tools)
    refusals = verify(tried, composed, splits, knowledge, judged).rejected.set_index("id")
    tables = [_by_match(table) for table in (composed, splits, judged)]
    checked = [
        _Checked(*(table.get(ident, []) for table in tables), _wordings(match, refusals), aliases[ident][1])
        for ident, match in known.items()
    ]
    return tried.assign(
        checked=column(checked, tried),
        reasons=column((_told(c, match, knowledge) for c, match in zip(checked, known.values(), strict=True)), tried),
    )


def _without(composed: pd.DataFrame, gone: Iterable[str]) -> pd.DataFrame:
    return composed[~pd.Series(wording_ids(composed), index=composed.index, dtype=object).isin(set(gone))]


def _by_match(table: pd.DataFrame) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for row in table.to_dict("records"):
        found.setdefault(row["match_id"], []).append(row)
    return found


def _form(questions: list[str]) -> list[tuple[str, str] | None]:
    """What is wrong with each wording by itself: a placeholder left in it, or the words of one before it."""
    found, seen = [], set()
    for question in questions:
        hit = PLACEHOLDER.search(question)
        if hit:
            found.append(("no_placeholder", f"holds the placeholder {hit.group()!r}"))
        else:
            found.append(("repeated", "is the same as another wording") if fold(question) in seen else None)
        seen.add(fold(question))
    return found


def _distinct(questions: list[str]) -> list[tuple[int, str]]:
    wrong = _form(questions)
    return [(number, question) for number, question in enumerate(questions) if wrong[number] is None]


def _wordings(match, refusals: pd.DataFrame) -> list[tuple[int, str, str | None, str | None]]:
    found = []
    for number, (question, wrong) in enumerate(zip(match.questions, _form(match.questions), strict=True)):
        ident = f"{match.match_id}#{number}"
        if wrong is None and ident in refusals.index:
            wrong = tuple(refusals.loc[ident, ["check", "reason"]])
        found.append((number, question, *(wrong or (None, None))))
    return found


def _aliases(match, knowledge: Knowledge) -> tuple[list[str], list[tuple[str, str]]]:
    """The further forms of the answer that can be used, and those that cannot, with why."""
    given = clean_aliases(match.answer, match.aliases)
    wrong = {name: why for name in given if (why := _not_it(name, match, knowledge))}
    return answer_aliases([name for name in given if name not in wrong]), list(wrong.items())


def _not_it(alias: str, match, knowledge: Knowledge) -> str | None:
    if is_short(alias):
        return f"{alias!r} is too short to be told from a common word"
    meant = knowledge.entities(alias)
    if meant and match.answer_id not in meant:
        return f"{alias!r} is a name of {knowledge.label(meant[0])!r}"
    return None


def _told(checked: _Checked, match, knowledge: Knowledge) -> list[tuple[str, str]]:
    """Why no wording passes, in words that give nothing away to the composer; nothing where one does."""
    if any(check is None for _, _, check, _ in checked.wordings):
        return []
    return [
        (check, f"question {number + 1} {_masked(check, why, match, knowledge)}")
        for number, _, check, why in checked.wordings
    ]


def _masked(check: str, why: str, match, knowledge: Knowledge) -> str:
    """`why` without what the composer does not know; what a leak names, it wrote itself."""
    if check == "leak":
        return why
    facts = [knowledge.facts[ident] for ident in match.fact_ids]
    for fact in facts:
        why = why.replace(
            fact.fact_id, f"the {knowledge.relations[fact.relation]} of {knowledge.label(fact.subject_id)}"
        )
    shown = {*match.subjects, *match.candidates, match.denied, match.answer}
    ends = {entity for fact in facts for entity in (fact.subject_id, fact.object_id)}
    names = {name for entity in ends if knowledge.label(entity) not in shown for name in knowledge.names[entity]}
    for name in sorted(names - shown, key=len, reverse=True):
        case = 0 if is_short(name) else re.IGNORECASE
        why = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", HIDDEN, why, flags=case)
    return why


def _not_verified(attempt) -> Iterator[tuple]:
    """Refusals that `verify` does not see: no reply, wordings that are none, wrong forms of the answer."""
    ident = attempt.id
    if not isinstance(attempt.checked, _Checked):
        yield refusal(ident, "no_reply", attempt.failed, attempt.round, match_id=ident)
        return
    for number, question, check, why in attempt.checked.wordings:
        if check in ("no_placeholder", "repeated"):
            yield refusal(f"{ident}#{number}", check, why, attempt.round, match_id=ident, question=question)
    for alias, why in attempt.checked.aliases:
        yield refusal(f"{ident}#{alias}", "aliases", why, attempt.round, match_id=ident, alias=alias)


def _rounds(history: pd.DataFrame) -> pd.DataFrame:
    """Table `rounds`: every wording of every attempt, by the identifier that `rejected` has it by."""
    rows = []
    for attempt in history.itertuples(index=False):
        if isinstance(attempt.checked, _Checked):
            rows += [
                (f"{attempt.id}#{number}", attempt.round, question, [(check, why)] if check else [])
                for number, question, check, why in attempt.checked.wordings
            ]
        elif attempt.round:
            rows.append((attempt.id, attempt.round, None, attempt.reasons))
    return rounds_table(pd.DataFrame(rows, columns=["id", "round", "question", "reasons"]), "en")
