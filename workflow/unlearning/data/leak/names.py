"""The names of an entity: cleaning a list of aliases, and which aliases are too short to be told from common words."""

import re
from collections.abc import Iterable

from unlearning.data.text import fold

SHORT = 2  # characters: "US" must not refuse "us", nor "IT" refuse "it"
_WORD = re.compile(r"\w")


def clean_aliases(label: str, aliases: Iterable[str]) -> tuple[str, ...]:
    """`aliases` in their order, without those that say nothing new.

    Dropped: empty ones, those without a letter or digit (emoji, flags), those that equal `label` or an earlier alias
    but for case, accents and spaces.
    """
    seen, kept = {fold(label)}, []
    for alias in aliases:
        folded = fold(alias)
        if folded not in seen and _WORD.search(alias):
            seen.add(folded)
            kept.append(alias.strip())
    return tuple(kept)


def is_short(name: str) -> bool:
    """Whether `name` has at most two characters, so that only its case tells it from a common word."""
    return len(fold(name)) <= SHORT
