"""Steps 3 to 6 of the translation route: the pairs, translated, translated back, judged and checked, in rounds."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.checking import run_checks
from unlearning.data.context import Context
from unlearning.data.languages import Language
from unlearning.data.phrasebook import Pools
from unlearning.data.reasons import reason
from unlearning.data.reviewed import Reviewed, reject, reviewed
from unlearning.data.rounds import (
    Tools,
    accepted,
    asked,
    column,
    in_rounds,
    proposed,
    refused,
    rejected_table,
    rounds_table,
)
from unlearning.data.text import PARTS
from unlearning.data.values_llm import judged
from unlearning.review.apply import with_values

PAIR = (
    "pair_id", "knowledge_id", "person_id", "role", "attribute", "language", "name", *PARTS, "value", "english_value",
)  # fmt: skip
BACK = tuple(f"back_{part}" for part in PARTS)


class Built(NamedTuple):
    """Tables `pairs`, `rejected` and `rounds` of one language."""

    pairs: pd.DataFrame
    rejected: pd.DataFrame
    rounds: pd.DataFrame


def translate_pairs(
    english: pd.DataFrame, pools: Pools, values: pd.DataFrame, value_rounds: pd.DataFrame, context: Context,
    tools: Tools, decided: pd.DataFrame | None = None,
) -> Built:  # fmt: skip
    """The pairs of `english` (table `pairs`) in `context.language`, each in `pairs` or, with every reason, `rejected`.

    `values` are the accepted translations, `value_rounds` (table `rounds`) tells why another was not: pairs that need
    it are rejected by check value_translation. The texts that people approved or corrected (`decided`,
    `unlearning.review.decisions`) are taken as they are: an approved one goes through the mechanical checks, a
    corrected one is translated back and judged too. What people rejected is rejected by check review.
    """
    rows = source_rows(english, pools, context.language)
    by_people = reviewed(rows, decided)
    rest = by_people.open.merge(
        values[["attribute", "english_value", "value"]], on=["attribute", "english_value"], how="left"
    ).astype({"value": object})
    lost = rest["value"].isna()
    history = in_rounds(
        rest[~lost],
        lambda open_rows, attempts: _propose(open_rows, attempts, context.language, tools),
        lambda tried, _: examine(tried, context, tools),
        tools.max_rounds,
    )
    history = pd.concat([_theirs(by_people, context, tools), reject(history, by_people.rejections)])
    return assemble(rows, history, _without_value(rest[lost], value_rounds), context.language)


def source_rows(english: pd.DataFrame, pools: Pools, language: Language) -> pd.DataFrame:
    """`english` laid out for `language`: the English texts as `en_question` …, the value's definition, column `id`."""
    rows = english.rename(columns={part: f"en_{part}" for part in PARTS}).drop(columns=["value"])
    pair_id = rows["knowledge_id"] + "/" + language.code
    meant = [pools[a][v] for a, v in zip(rows["attribute"], rows["english_value"], strict=True)]
    return rows.assign(pair_id=pair_id, id=pair_id, language=language.code, definition=meant)


def assemble(rows: pd.DataFrame, history: pd.DataFrame, lost: pd.DataFrame, language: Language) -> Built:
    """The tables, in the order of `rows`, from all attempts and from the rows `lost` before the first."""
    order = {ident: i for i, ident in enumerate(rows["id"])}

    def ordered(table: pd.DataFrame) -> pd.DataFrame:
        return table.sort_values("id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)

    return Built(
        ordered(accepted(history)).reindex(columns=list(PAIR)).astype("str"),
        rejected_table(ordered(pd.concat([refused(history), lost])), language.code, [*PAIR, *BACK]),
        rounds_table(ordered(history), language.code),
    )


def _propose(rows: pd.DataFrame, attempts: list[list[dict]], language: Language, tools: Tools) -> pd.DataFrame:
    inputs = [
        {
            "language": language.name, "language_code": language.code, "name": row.name, "attribute": row.attribute,
            "question": row.en_question, "answer": row.en_answer, "paraphrase": row.en_paraphrase,
            "english_value": row.english_value, "value": row.value, "definition": row.definition, "attempts": tries,
        }
        for row, tries in zip(rows.itertuples(index=False), attempts, strict=True)
    ]  # fmt: skip
    replies = asked(tools, "translator", "translator_pair", list(rows["id"]), inputs)
    return proposed(rows, replies, PARTS)


def examine(tried: pd.DataFrame, context: Context, tools: Tools, judge: bool = True) -> pd.DataFrame:
    """`tried` with column `reasons` and, with `judge`, what its texts came back as.

    All mechanical checks; with `judge` also whether every text came back, and as what it was.
    """
    if tried.empty:
        return tried.assign(reasons=pd.Series(dtype=object))
    reasons = {ident: [] for ident in tried["id"]}
    if judge:
        tried = tried.assign(**translated_back(tried, tools))
        for row in tried.itertuples(index=False):
            if gone := [part for part in PARTS if getattr(row, f"back_{part}") is None]:
                reasons[row.id].append(reason("back_translation", f"nothing came back of the {', the '.join(gone)}"))
        for ident, said in judge_pairs(tried[tried[list(BACK)].notna().all(axis="columns")], tools).items():
            reasons[ident].append(reason("equivalence", said))
    _, rejected = run_checks(tried.reindex(columns=list(PAIR)).astype("str"), context)
    for row in rejected.itertuples(index=False):
        reasons[row.id].append(reason(row.check, row.reason))
    return tried.assign(reasons=column((reasons[ident] for ident in tried["id"]), tried))


def translated_back(tried: pd.DataFrame, tools: Tools) -> dict[str, pd.Series]:
    """Columns back_question, back_answer and back_paraphrase; all texts go to the back-translator at once."""
    texts = [text for part in PARTS for text in tried[part]]
    back, n = tools.back(texts), len(tried)
    return {name: column(back[i * n : (i + 1) * n], tried) for i, name in enumerate(BACK)}


def judge_pairs(tried: pd.DataFrame, tools: Tools, backs: tuple[str, ...] = BACK) -> dict[str, str]:
    """id -> why a row is judged not to say in its `backs` what the English says; accepted rows are not in it."""
    inputs = [
        {
            "name": row["name"], "english_value": row["english_value"], "definition": row["definition"],
            "texts": [_versions(row, back) for back in backs],
        }
        for row in tried.to_dict("records")
    ]  # fmt: skip
    replies = asked(tools, "equivalence", "equivalence_pair", list(tried["id"]), inputs)
    said = {ident: judged(*reply) for ident, reply in zip(tried["id"], replies.itertuples(index=False), strict=True)}
    return {ident: why for ident, why in said.items() if why}


def _versions(row: dict, back: str) -> dict[str, str]:
    part = back.removeprefix("back_")
    name = {"paraphrase": "Answer in other words"}.get(part, part.capitalize())
    return {"part": name, "first": row[f"en_{part}"], "second": row[back]}


def _without_value(rows: pd.DataFrame, value_rounds: pd.DataFrame) -> pd.DataFrame:
    """The rows whose value was never accepted, with the reasons of its last attempt."""
    last = value_rounds.sort_values("round").drop_duplicates("id", keep="last").set_index("id")
    reasons, rounds = [], []
    for row in rows.itertuples(index=False):
        ident = f"{row.attribute}/{row.english_value}"
        known = ident in last.index
        why = "; ".join(last.at[ident, "reasons"]) if known else "it was not translated"
        rounds.append(int(last.at[ident, "round"]) if known else 0)
        value = f"the value {row.english_value!r} ({row.attribute}) has no accepted translation"
        reasons.append([reason("value_translation", f"{value}: {why}")])
    return rows.assign(reasons=column(reasons, rows), round=rounds)


def _theirs(by_people: Reviewed, context: Context, tools: Tools) -> pd.DataFrame:
    """What people approved or corrected, examined; round 0, as no model wrote it."""
    corrected, approved = by_people.corrected, by_people.approved
    found = [
        examine(corrected, with_values(context, corrected), tools),
        examine(approved, with_values(context, approved), tools, judge=False),
    ]
    return pd.concat(found).assign(round=0)
