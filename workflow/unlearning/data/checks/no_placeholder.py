"""No template placeholder is left in the text."""

import re

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.text import mask_name, per_distinct

PLACEHOLDER = re.compile(
    r"[{}｛｝]|<\s*\w+\s*/?>|\[\s*\w+\s*\]|\b(?:NAME|VALUE|PERSON|PLACEHOLDER|TODO)\b|%[sd]\b|\$\w+|_{2,}"
)


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose question or answer shows a placeholder ({name}, <value>, [NAME] …), or None."""
    texts = pd.DataFrame({part: mask_name(pairs[part], pairs["name"]) for part in ("question", "answer")})
    return per_distinct(texts, ["question", "answer"], _reason)


def _reason(question: str, answer: str) -> str | None:
    for part, text in (("question", question), ("answer", answer)):
        if found := PLACEHOLDER.search(text):
            return f"the {part} holds the placeholder {found.group()!r}"
    return None
