"""Multi-hop questions by language models, from the matches to what passed every check."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.leak import select
from unlearning.data.leak.compose_llm import build
from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.leak.matches import TYPES
from unlearning.data.leak.verify import verify
from unlearning.data.rounds import Tools


class Asked(NamedTuple):
    """The tables of these names; `matches` are those drawn, `questions` the rows of `multihop` that passed."""

    matches: pd.DataFrame
    composed: pd.DataFrame
    decomposed: pd.DataFrame
    uniqueness: pd.DataFrame
    rounds: pd.DataFrame
    questions: pd.DataFrame
    rejected: pd.DataFrame
    funnel: pd.DataFrame


def ask(matches: pd.DataFrame, knowledge: Knowledge, tools: Tools, per_type: int, seed: int) -> Asked:
    """Compose and check `per_type` of each type of `matches`, drawn by `select.draw`, or as many as there are."""
    drawn = select.draw(matches, per_type, seed)
    built = build(drawn, knowledge, tools)
    checked = verify(drawn, built.composed, built.decomposed, knowledge, built.uniqueness)
    last = built.rounds.groupby("id")["round"].max()
    refused = checked.rejected.assign(round=checked.rejected["id"].map(last).astype("int32"))
    return Asked(
        drawn, built.composed, built.decomposed, built.uniqueness, built.rounds, checked.questions,
        pd.concat([built.rejected, refused], ignore_index=True), _with_drawn(checked.funnel, matches),
    )  # fmt: skip


def _with_drawn(funnel: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """`funnel` of the drawn matches, with the number of all before it."""
    there = matches["type"].value_counts()
    counts = pd.DataFrame([(name, "matched", int(there.get(name, 0))) for name in TYPES], columns=funnel.columns)
    both = pd.concat([counts, funnel.replace({"step": {"matched": "drawn"}})], ignore_index=True)
    return both.sort_values("type", key=lambda names: names.map(TYPES.index), kind="stable", ignore_index=True)
