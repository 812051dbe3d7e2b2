"""Steps 1 and 2 of the translation route: the pools' values, translated, translated back and judged, in rounds."""

import re
from collections.abc import Sequence

import pandas as pd

from unlearning.data.checks.no_placeholder import PLACEHOLDER
from unlearning.data.checks.script import foreign_letters
from unlearning.data.languages import Language
from unlearning.data.phrasebook import Pools
from unlearning.data.reasons import reason
from unlearning.data.rounds import Tools, accepted, asked, column, in_rounds, proposed
from unlearning.data.text import fold

# brackets and slashes hold a second translation or a remark; a line break and a full stop make a sentence
NOT_ONE_VALUE = re.compile(r"[()（）\[\]/\n。;；]|\.$")


def value_rows(pools: Pools) -> pd.DataFrame:
    """One row for each value of `pools`, used or not: `id` is attribute/English value."""
    rows = [(f"{a}/{v}", a, v, d) for a, pool in pools.items() for v, d in pool.items()]
    return pd.DataFrame(rows, columns=["id", "attribute", "english_value", "definition"], dtype="str")


def translate_values(pools: Pools, language: Language, tools: Tools) -> pd.DataFrame:
    """Every attempt (`rounds.in_rounds`) at every value of `pools`, with columns value and back_value.

    An attempt stands when it is one value in the language's script, comes back, is judged to mean the same, and
    neither it nor what it comes back as is shared within the pool. Of two that share, one of an earlier round stands.
    """
    rows = value_rows(pools)
    return in_rounds(
        rows,
        lambda open_rows, attempts: _propose(open_rows, attempts, pools, language, tools),
        lambda tried, stand: _examine(tried, stand, pools, language, tools),
        tools.max_rounds,
    )


def english_values(pools: Pools) -> pd.DataFrame:
    """The same for English, in which a value is its own translation: nothing is asked."""
    rows = value_rows(pools)
    own = rows["english_value"]
    return rows.assign(value=own, back_value=own, round=0, reasons=[[] for _ in range(len(rows))])


def values_of(history: pd.DataFrame, language: str) -> pd.DataFrame:
    """Table `values` of what stands, in the pools' order; a value that never did is not in it."""
    stand = accepted(history).assign(language=language).set_index("id")
    order = history["id"].drop_duplicates()
    stand = stand.loc[order[order.isin(stand.index)]]
    return stand[["attribute", "language", "english_value", "value"]].reset_index(drop=True).astype("str")


def words(attribute: str) -> str:
    """An attribute's name as people write it."""
    return attribute.replace("_", " ")


def _propose(
    rows: pd.DataFrame, attempts: list[list[dict]], pools: Pools, language: Language, tools: Tools
) -> pd.DataFrame:
    inputs = [
        {
            "language": language.name, "language_code": language.code, "attribute": words(row.attribute),
            "english_value": row.english_value, "definition": row.definition,
            "others": [other for other in pools[row.attribute] if other != row.english_value],
            "attempts": [{"translation": a["value"], "reasons": a["reasons"]} for a in tries],
        }
        for row, tries in zip(rows.itertuples(), attempts, strict=True)
    ]  # fmt: skip
    replies = asked(tools, "translator", "translator_value", list(rows["id"]), inputs)
    replies["parsed"] = column((r and {"value": r["translation"]} for r in replies["parsed"]), replies)
    return proposed(rows, replies, ["value"])


def _examine(tried: pd.DataFrame, stand: pd.DataFrame, pools: Pools, language: Language, tools: Tools) -> pd.DataFrame:
    tried = tried.assign(back_value=column(tools.back(list(tried["value"])), tried))
    reasons = [
        [*_form(row.value, language), *_back(row.back_value, row.english_value, pools[row.attribute])]
        for row in tried.itertuples()
    ]
    for found, verdict in zip(reasons, judge_values(tried, tools), strict=True):
        found.extend(verdict)
    # what is wrong anyway is translated again, so that only what is right so far can share with another
    right = tried[[not found for found in reasons]]
    both = pd.concat([stand, right])
    for at, found in zip(tried.index, reasons, strict=True):
        if not found:
            found.extend(_shared(tried.loc[at], both))
    return tried.assign(reasons=column(reasons, tried))


def _form(value: str, language: Language) -> list[tuple[str, str]]:
    found = []
    if hit := PLACEHOLDER.search(value):
        found.append(reason("no_placeholder", f"{value!r} holds the placeholder {hit.group()!r}"))
    if NOT_ONE_VALUE.search(value):
        found.append(reason("one_value", f"{value!r} is not one word or phrase alone"))
    if foreign := foreign_letters(value, language):
        scripts = ", ".join(language.unicode_scripts)
        found.append(reason("script", f"{value!r} is not written in {scripts}: {foreign[:20]!r}"))
    return found


def _back(back: str | None, english_value: str, pool: Sequence[str]) -> list[tuple[str, str]]:
    if back is None:
        return [reason("back_translation", "nothing came back when it was translated back")]
    other = next((v for v in pool if fold(v) == fold(back) != fold(english_value)), None)
    found = other and reason("unique_back_translation", f"it comes back as {other!r}, another value of the list")
    return [found] if found else []


def judge_values(tried: pd.DataFrame, tools: Tools) -> list[list[tuple[str, str]]]:
    """For each row ([] or one reason): whether what came back is judged to mean the English value."""
    rows = tried[tried["back_value"].notna()]
    inputs = [
        {
            "attribute": words(row.attribute),
            "english_value": row.english_value,
            "definition": row.definition,
            "back": row.back_value,
        }
        for row in rows.itertuples()
    ]
    replies = asked(tools, "equivalence", "equivalence_value", list(rows["id"]), inputs)
    said = dict(zip(rows["id"], (judged(*reply) for reply in replies.itertuples(index=False)), strict=True))
    backs = dict(zip(rows["id"], rows["back_value"], strict=True))
    return [
        [reason("equivalence", f"it comes back as {backs[ident]!r}: {said[ident]}")] if said.get(ident) else []
        for ident in tried["id"]
    ]


def judged(parsed: dict | None, failed: str | None) -> str | None:
    """Why a reply of kind `equivalence` does not accept, or None."""
    if parsed is None:
        return f"no verdict ({failed})"
    return None if parsed["equivalent"] else parsed["reason"] or "judged not to mean the same"


def _shared(row: pd.Series, both: pd.DataFrame) -> list[tuple[str, str]]:
    others = both[(both["attribute"] == row["attribute"]) & (both["id"] != row["id"])]
    found = []
    for text, check, what in (
        ("value", "unique_translation", "the translation"),
        ("back_value", "unique_back_translation", "the back-translation"),
    ):
        same = others[others[text].map(fold) == fold(row[text])]
        if len(same):
            meant = ", ".join(repr(v) for v in same["english_value"])
            found.append(reason(check, f"{what} {row[text]!r} stands for {meant} too"))
    return found
