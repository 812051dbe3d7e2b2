"""Composing multi-hop questions from templates: the offline route."""

from collections.abc import Callable

import pandas as pd

from unlearning.data.leak.names import is_short
from unlearning.data.leak.templates import VARIANTS, Phrases, fill
from unlearning.data.text import capital

ALIASES = 3
SEPARATOR = "; "  # names hold commas and "and"


def compose(matches: pd.DataFrame, phrases: Phrases) -> pd.DataFrame:
    """Table `composed`: three wordings of each match, with up to three aliases of its answer.

    KeyError: a relation without wordings (`templates.with_generic` gives plain ones).
    """
    rows = [
        (
            match.match_id,
            variant,
            capital(ASK[match.type](match, phrases, variant)),
            answer_aliases(match.answer_aliases),
        )
        for match in matches.itertuples(index=False)
        for variant in range(VARIANTS)
    ]
    return pd.DataFrame(rows, columns=["match_id", "variant", "question", "aliases"])


def answer_aliases(aliases: list[str]) -> list[str]:
    """The first three of `aliases` that are longer than two characters."""
    return [alias for alias in aliases if not is_short(alias)][:ALIASES]


def _chain(match, phrases: Phrases, variant: int) -> str:
    first, second = match.relations
    inner = fill(phrases.relations[first].nouns[variant], s=match.subjects[0])
    return fill(phrases.relations[second].questions[variant], s=inner)


def _rule(match, phrases: Phrases, variant: int) -> str:
    rule = phrases.rules[tuple(match.relations)]
    return fill(phrases.frames["mp"][variant], rule=rule.rule, property=rule.property, subject=match.subjects[0])


def _backwards(match, phrases: Phrases, variant: int) -> str:
    first, second = match.relations
    inner = fill(phrases.relations[first].nouns[variant], s=phrases.frames["sought"][variant])
    denial = fill(phrases.relations[second].denials[variant], s=inner, o=match.denied)
    return fill(phrases.frames["mt"][variant], candidates=SEPARATOR.join(match.candidates), denial=denial)


def _by_alias(match, phrases: Phrases, variant: int) -> str:
    return fill(phrases.relations[match.relations[0]].questions[variant], s=match.subjects[0])


def _shared(match, phrases: Phrases, variant: int) -> str:
    one, two = match.subjects
    nouns = [phrases.relations[relation].nouns[variant] for relation in match.relations]
    return fill(
        phrases.frames["cc"][variant], shared_1=fill(nouns[0], s=one), shared_2=fill(nouns[0], s=two),
        other_1=fill(nouns[1], s=one), other_2=fill(nouns[2], s=two),
    )  # fmt: skip


def _excluding(match, phrases: Phrases, variant: int) -> str:
    excluded = [name for name in match.candidates if name != match.answer]
    return fill(
        phrases.frames["ds"][variant], candidates=SEPARATOR.join(match.candidates), excluded=SEPARATOR.join(excluded),
        value=fill(phrases.relations[match.relations[0]].nouns[variant], s=match.subjects[0]),
    )  # fmt: skip


ASK: dict[str, Callable[..., str]] = {
    "hs": _chain, "mp": _rule, "mt": _backwards, "ll": _by_alias, "cc": _shared, "ds": _excluding,
}  # fmt: skip
