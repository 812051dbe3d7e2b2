"""Multi-hop questions by templates, from the facts to what passed every check: the route without a language model."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.leak import select
from unlearning.data.leak.compose import compose
from unlearning.data.leak.decompose import decompose
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import match_all
from unlearning.data.leak.templates import Phrases, with_generic
from unlearning.data.leak.verify import Verified, verify


class Composed(NamedTuple):
    """The tables of these names, and what passed every check."""

    matches: pd.DataFrame
    composed: pd.DataFrame
    decomposed: pd.DataFrame
    verified: Verified


def to_ask(facts: pd.DataFrame, phrases: Phrases, seed: int, candidates: int) -> pd.DataFrame:
    """Table `matches`: those through a fact to be forgotten."""
    return match_all(index(facts), phrases.rules, seed, candidates=candidates)


def to_practise(facts: pd.DataFrame, phrases: Phrases, seed: int, candidates: int, most: int) -> pd.DataFrame:
    """Table `matches`: those all of whose facts stay, at most `most` of each type."""
    own = index(facts[facts["group"] == "retain"])
    return select.draw(match_all(own, phrases.rules, seed, candidates=candidates, forget=False), most, seed)


def ask(matches: pd.DataFrame, facts: pd.DataFrame, phrases: Phrases) -> Composed:
    """Compose `matches` by templates, split the questions and check them against all `facts`."""
    knowledge = index(facts)
    phrases = with_generic(phrases, knowledge)
    composed = compose(matches, phrases)
    decomposed = decompose(composed, phrases, knowledge)
    return Composed(matches, composed, decomposed, verify(matches, composed, decomposed, knowledge))
