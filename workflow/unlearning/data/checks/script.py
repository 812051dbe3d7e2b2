"""The text is written in the language's script."""

import functools

import pandas as pd
import regex

from unlearning.data.context import Context
from unlearning.data.languages import Language
from unlearning.data.text import PARTS, masked_parts, per_distinct

LARGEST_SHARE = 0.1  # loan words such as "DVD" stay below; an untranslated value does not


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` one of whose PARTS has over LARGEST_SHARE of other scripts' letters, or None.

    Name, digits and punctuation do not count.
    """
    texts = masked_parts(pairs)
    return per_distinct(texts, list(PARTS), functools.partial(_reason, language=context.language))


def foreign_letters(text: str, language: Language) -> str:
    """The letters of `text` that are of no script of `language`, if they are over LARGEST_SHARE of all; else ''."""
    letters = _letters(text)
    own = regex.compile("[" + "".join(rf"\p{{Script={script}}}" for script in language.unicode_scripts) + "]")
    foreign = "".join(letter for letter in letters if not own.match(letter))
    return foreign if len(foreign) > LARGEST_SHARE * len(letters) else ""


def _letters(text: str) -> list[str]:
    return regex.findall(r"\p{L}", regex.sub(r"\{[^{}]*\}", "", text))  # placeholders have their own check


def _reason(*texts: str, language: Language) -> str | None:
    for part, text in zip(PARTS, texts, strict=True):
        if foreign := foreign_letters(text, language):
            scripts = ", ".join(language.unicode_scripts)
            return f"{len(foreign)} of the {part}'s {len(_letters(text))} letters are not {scripts}: {foreign[:20]!r}"
    return None
