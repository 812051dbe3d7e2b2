"""The answer carries its value as written, and no other value of the pool."""

import functools

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.languages import Language
from unlearning.data.matching import as_word
from unlearning.data.text import fold, mask_name, per_distinct


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose answer lacks its own value as a word, or carries another of the pool, or None.

    The own value is looked for exactly as written (scoring finds its tokens that way); others without case and accents.
    """
    pools = context.values.groupby("attribute")["value"].agg(list).to_dict()
    texts = pairs[["attribute", "value"]].assign(answer=mask_name(pairs["answer"], pairs["name"]))
    reason = functools.partial(_reason, pools=pools, language=context.language)
    return per_distinct(texts, ["attribute", "value", "answer"], reason)


def _reason(attribute: str, value: str, answer: str, pools: dict[str, list[str]], language: Language) -> str | None:
    rest, found = as_word(value, language).subn(" ", answer)
    texts = {True: fold(answer), False: fold(rest)}  # a value around the own one is looked for before that is cut out
    around = as_word(fold(value), language)
    others = [
        other
        for other in pools.get(attribute, [])
        if fold(other) != fold(value) and as_word(fold(other), language).search(texts[bool(around.search(fold(other)))])
    ]
    if not found:
        instead = f"; it carries {others[0]!r}, another value of the pool" if others else ""
        return f"the answer does not hold its value {value!r}{instead}"
    return f"the answer holds {others[0]!r}, another value of the pool, beside its own" if others else None
