"""No template placeholder is left in the text."""

import re

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.text import PARTS, masked_parts, per_distinct

PLACEHOLDER = re.compile(
    r"[{}｛｝]|<\s*\w+\s*/?>|\[\s*\w+\s*\]|\b(?:NAME|VALUE|PERSON|PLACEHOLDER|TODO)\b|%[sd]\b|\$\w+|_{2,}"
)


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` one of whose PARTS shows a placeholder ({name}, <value>, [NAME] …), or None."""
    texts = masked_parts(pairs)
    return per_distinct(texts, list(PARTS), _reason)


def _reason(*texts: str) -> str | None:
    for part, text in zip(PARTS, texts, strict=True):
        if found := PLACEHOLDER.search(text):
            return f"the {part} holds the placeholder {found.group()!r}"
    return None
