"""Spellings without what does not tell them apart."""

import functools
import re
import unicodedata

_MARKS = re.compile("[\u0300-\u036f]")  # accents of Latin, Greek and Cyrillic; Thai and Urdu marks stay


@functools.lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """`text` without case, accents, full-width forms and repeated spaces, to compare spellings."""
    return without_accents(text.casefold())


def without_accents(text: str) -> str:
    """`text` as `fold` leaves it, but in its own case."""
    decomposed = unicodedata.normalize("NFKD", text)
    return " ".join(unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).split())
