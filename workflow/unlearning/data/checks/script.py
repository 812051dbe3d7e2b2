"""The text is written in the language's script."""

import functools

import pandas as pd
import regex

from unlearning.data.context import Context
from unlearning.data.text import PARTS, masked_parts, per_distinct

LARGEST_SHARE = 0.1  # loan words such as "DVD" stay below; an untranslated value does not


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` one of whose PARTS has over LARGEST_SHARE of other scripts' letters, or None.

    Name, digits and punctuation do not count.
    """
    texts = masked_parts(pairs)
    scripts = context.language.unicode_scripts
    own = regex.compile("[" + "".join(rf"\p{{Script={script}}}" for script in scripts) + "]")
    return per_distinct(texts, list(PARTS), functools.partial(_reason, own=own, scripts=", ".join(scripts)))


def _reason(*texts: str, own: regex.Pattern, scripts: str) -> str | None:
    for part, text in zip(PARTS, texts, strict=True):
        letters = regex.findall(r"\p{L}", regex.sub(r"\{[^{}]*\}", "", text))  # placeholders have their own check
        foreign = [letter for letter in letters if not own.match(letter)]
        if len(foreign) > LARGEST_SHARE * len(letters):
            return f"{len(foreign)} of the {part}'s {len(letters)} letters are not {scripts}: {''.join(foreign)[:20]!r}"
    return None
