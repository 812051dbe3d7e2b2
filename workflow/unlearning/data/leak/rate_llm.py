"""How good questions are, by several language models (roles rater_1 to rater_3)."""

import pandas as pd

from unlearning.data.rounds import Tools, asked

RATERS = ("rater_1", "rater_2", "rater_3")
ASPECTS = ("logic", "clarity", "naturalness")
COLUMNS = ["match_id", "rater", *ASPECTS, "failed"]


def rate(questions: pd.DataFrame, facts: pd.DataFrame, tools: Tools, raters: tuple[str, ...] = RATERS) -> pd.DataFrame:
    """Table `ratings`: what each of `raters` says of each of `questions` (table `multihop`), 0–100 for each aspect.

    A rater sees the question, its expected answer and the statements of its facts (table `facts`). Without a reply that
    can be used the three figures are null and `failed` says why.
    """
    said = dict(zip(facts["fact_id"], facts["statement"], strict=True))
    inputs = [
        {"question": row.question, "answer": row.answer, "facts": [said[ident] for ident in row.fact_ids]}
        for row in questions.itertuples(index=False)
    ]
    rows = []
    for rater in raters:
        replies = asked(tools, rater, "rater", list(questions["match_id"]), inputs)
        for ident, (given, failed) in zip(questions["match_id"], replies.itertuples(index=False), strict=True):
            rows.append((ident, rater, *((given or {}).get(aspect) for aspect in ASPECTS), failed))
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(ASPECTS, "Int32"))
