"""How good questions are, by several language models (roles rater_1 to rater_3)."""

import itertools

import pandas as pd

from unlearning.data.leak.matches import TYPES
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


def figures(ratings: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Rows of table `quality`: what the raters say of `questions` (table `multihop`), all and of each type, 0–100.

    - llm_rating_<rater>: mean over the questions of what the rater says, itself the mean of the three aspects.
    - llm_rating: the mean of those means; llm_rating_<aspect>: the same of one aspect.
    - llm_rating_gap: how far apart two raters are on a question: mean over pairs, and questions that two rated.

    Null with a note where nobody rated; `n` is the number of questions behind a figure.
    """
    kinds = dict(zip(questions["match_id"], questions["type"], strict=True))
    rated = ratings[list(ASPECTS)].astype("float64")
    rated = ratings[["match_id", "rater"]].assign(**rated, llm_rating=rated.mean(axis="columns", skipna=False))
    types = rated["match_id"].map(kinds)
    rows = []
    for name in ("all", *TYPES):
        own = rated if name == "all" else rated[types == name]
        columns = {"llm_rating": "llm_rating", **{f"llm_rating_{aspect}": aspect for aspect in ASPECTS}}
        found = {measure: _mean_of_means(own, column) for measure, column in columns.items()}
        for rater in dict.fromkeys(ratings["rater"]):
            found[f"llm_rating_{rater}"] = _mean_of_means(own[own["rater"] == rater], "llm_rating")
        found["llm_rating_gap"] = _gap(own)
        rows += [(name, measure, *figure) for measure, figure in found.items()]
    return pd.DataFrame(rows, columns=["type", "measure", "value", "n", "note"]).astype({"value": "float64"})


def _mean_of_means(rated: pd.DataFrame, column: str) -> tuple[float | None, int, str | None]:
    known = rated[rated[column].notna()]
    if known.empty:
        return None, 0, "no question was rated"
    return float(known.groupby("rater")[column].mean().mean()), known["match_id"].nunique(), None


def _gap(rated: pd.DataFrame) -> tuple[float | None, int, str | None]:
    said = rated[rated["llm_rating"].notna()].groupby("match_id")["llm_rating"].agg(list)
    gaps = [
        sum(abs(a - b) for a, b in itertools.combinations(found, 2)) / (len(found) * (len(found) - 1) / 2)
        for found in said
        if len(found) > 1
    ]
    return (sum(gaps) / len(gaps), len(gaps), None) if gaps else (None, 0, "no question was rated by two")
