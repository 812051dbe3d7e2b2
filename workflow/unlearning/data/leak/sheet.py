"""The sheet on which people judge whether a question asks for its hops."""

import pandas as pd

from unlearning.data.leak.select import draw
from unlearning.review.rows import FILLED

COLUMNS = ("id", "type", "question", "answer", "aliases", "hops", "decision", "comment", "reviewer")


def sheet(questions: pd.DataFrame, facts: pd.DataFrame, per_type: int, seed: int) -> pd.DataFrame:
    """At most `per_type` of `questions` (table `multihop`) of each type, all text, with what a person fills in.

    `hops`: the sentences of the facts (table `facts`) that the question should take; approve says that it does.
    """
    said = facts.set_index("fact_id")["statement"]
    rows = draw(questions, per_type, seed).rename(columns={"match_id": "id"})
    rows = rows.assign(
        aliases=rows["aliases"].map("; ".join), hops=rows["fact_ids"].map(lambda ids: " ".join(said[i] for i in ids))
    )
    return rows.assign(**dict.fromkeys(FILLED, "")).reindex(columns=list(COLUMNS)).astype("str")
