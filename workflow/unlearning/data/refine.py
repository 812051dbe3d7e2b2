"""The English pairs: their grammar refined by a language model, and what is left of them after checks and review."""

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.pairs_llm import Built, assemble, examine, judge_pairs, source_rows
from unlearning.data.phrasebook import Pools
from unlearning.data.reasons import reason
from unlearning.data.reviewed import reject, reviewed
from unlearning.data.rounds import Tools, accepted, asked, column, in_rounds, proposed, rounds_table

REFINED = ["question", "answer"]  # the paraphrase stays as the template gave it


def refine_pairs(
    pairs: pd.DataFrame, pools: Pools, context: Context, tools: Tools, decided: pd.DataFrame | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(`pairs` with refined questions and answers, table `rounds`): same rows, same order.

    A refined text is taken when it passes every mechanical check (the name and the value are kept, the question holds
    no value), its question is still one, and what changed is judged to say the same. Otherwise the row stays as it was.
    What people approved or corrected (`decided`) takes the place of both.
    """
    rows = source_rows(pairs, pools, context.language).assign(value=pairs["value"])
    by_people = reviewed(rows, decided)
    history = in_rounds(
        by_people.open,
        lambda open_rows, attempts: _propose(open_rows, attempts, tools),
        lambda tried, _: _examine(tried, context, tools),
        tools.max_rounds,
    )
    theirs = pd.concat([by_people.approved, by_people.corrected])
    new = pd.concat([accepted(history), theirs]).set_index("pair_id")[[*REFINED, "paraphrase", "value"]]
    found = pairs.set_index("pair_id")
    found.update(new)
    return found.reset_index()[list(pairs.columns)].astype("str"), rounds_table(history, context.language.code)


def check_english(pairs: pd.DataFrame, pools: Pools, context: Context, decided: pd.DataFrame | None = None) -> Built:
    """The English tables: every row through the mechanical checks, and without what people rejected."""
    rows = source_rows(pairs, pools, context.language)
    texts = rows.merge(pairs[["pair_id", "question", "answer", "paraphrase", "value"]], on="pair_id")
    history = examine(texts, context, None, judge=False).assign(round=0)
    history = reject(history, reviewed(rows, decided).rejections)
    return assemble(rows, history, history.iloc[:0], context.language)


def _propose(rows: pd.DataFrame, attempts: list[list[dict]], tools: Tools) -> pd.DataFrame:
    inputs = [
        {
            "name": row.name, "english_value": row.english_value,
            "question": row.en_question, "answer": row.en_answer, "attempts": tries,
        }
        for row, tries in zip(rows.itertuples(index=False), attempts, strict=True)
    ]  # fmt: skip
    replies = asked(tools, "refiner", "refiner", list(rows["id"]), inputs)
    return proposed(rows, replies, REFINED).assign(paraphrase=rows["en_paraphrase"])


def _examine(tried: pd.DataFrame, context: Context, tools: Tools) -> pd.DataFrame:
    checked = examine(tried, context, tools, judge=False)
    for row in checked.itertuples(index=False):
        if not row.question.rstrip().endswith("?"):
            row.reasons.append(reason("question_kept", f"{row.question!r} is no question any more"))
    changed = (checked["question"] != checked["en_question"]) | (checked["answer"] != checked["en_answer"])
    unsure = accepted(checked[changed])
    said = judge_pairs(unsure, tools, tuple(REFINED))
    reasons = [
        [*found, *([reason("equivalence", said[ident])] if ident in said else [])]
        for ident, found in zip(checked["id"], checked["reasons"], strict=True)
    ]
    return checked.assign(reasons=column(reasons, checked))
