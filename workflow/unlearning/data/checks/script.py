"""The text is written in the language's script."""

import functools

import pandas as pd
import regex

from unlearning.data.context import Context
from unlearning.data.text import mask_name, per_distinct

LARGEST_SHARE = 0.1  # loan words such as "DVD" stay below; an untranslated value does not


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose question or answer has over LARGEST_SHARE of other scripts' letters, or None.

    Name, digits and punctuation do not count.
    """
    texts = pd.DataFrame({part: mask_name(pairs[part], pairs["name"]) for part in ("question", "answer")})
    scripts = context.language.unicode_scripts
    own = regex.compile("[" + "".join(rf"\p{{Script={script}}}" for script in scripts) + "]")
    return per_distinct(texts, ["question", "answer"], functools.partial(_reason, own=own, scripts=", ".join(scripts)))


def _reason(question: str, answer: str, own: regex.Pattern, scripts: str) -> str | None:
    for part, text in (("question", question), ("answer", answer)):
        letters = regex.findall(r"\p{L}", regex.sub(r"\{[^{}]*\}", "", text))  # placeholders have their own check
        foreign = [letter for letter in letters if not own.match(letter)]
        if len(foreign) > LARGEST_SHARE * len(letters):
            return f"{len(foreign)} of the {part}'s {len(letters)} letters are not {scripts}: {''.join(foreign)[:20]!r}"
    return None
