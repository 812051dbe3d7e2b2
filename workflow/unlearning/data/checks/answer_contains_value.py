"""The answer, and its paraphrase, carry their value as written, and no other value of the pool."""

import functools

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.languages import Language
from unlearning.data.matching import as_word, comparable
from unlearning.data.text import fold, masked_parts, per_distinct


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose answer or paraphrase lacks its value as a word or carries another one, or None.

    The own value is looked for exactly as written (scoring finds its tokens that way); others without case and accents.
    """
    pools = context.values.groupby("attribute")["value"].agg(list).to_dict()
    texts = masked_parts(pairs).assign(attribute=pairs["attribute"], value=pairs["value"])
    answer, paraphrase = (
        per_distinct(texts, ["attribute", "value", part], functools.partial(_reason, part, pools, context.language))
        for part in ("answer", "paraphrase")
    )
    return answer.where(answer.notna(), paraphrase)


def _reason(
    part: str, pools: dict[str, list[str]], language: Language, attribute: str, value: str, text: str
) -> str | None:
    rest, found = as_word(value, language).subn(" ", text)
    texts = {
        True: comparable(text, language),
        False: comparable(rest, language),
    }  # a value around the own one is looked for before that is cut out
    around = as_word(fold(value), language)
    others = [
        other
        for other in pools.get(attribute, [])
        if fold(other) != fold(value) and as_word(fold(other), language).search(texts[bool(around.search(fold(other)))])
    ]
    if not found:
        instead = f"; it carries {others[0]!r}, another value of the pool" if others else ""
        return f"the {part} does not hold its value {value!r}{instead}"
    return f"the {part} holds {others[0]!r}, another value of the pool, beside its own" if others else None
