"""The person's name stays as written, in question, answer and paraphrase."""

import re

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.text import NAME_MASK, PARTS, masked_parts, per_distinct

# a Latin letter grown onto the name changes it (Smith -> Smiths, Smitha); a particle in another script does not
GROWN = re.compile(rf"[^\W\d_]{NAME_MASK}|{NAME_MASK}[A-Za-zÀ-ɏ]")


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` one of whose PARTS lacks the name as written (case, accents, script), or None."""
    texts = masked_parts(pairs)
    return per_distinct(texts, list(PARTS), _reason)


def _reason(*texts: str) -> str | None:
    for part, text in zip(PARTS, texts, strict=True):
        if NAME_MASK not in text:
            return f"the {part} does not hold the name as written"
        if found := GROWN.search(text):
            return (
                f"the {part} writes the name with letters grown onto it: {found.group().replace(NAME_MASK, '(name)')!r}"
            )
    return None
