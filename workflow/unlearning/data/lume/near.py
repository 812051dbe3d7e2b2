"""Texts that are much alike: word 3-gram Jaccard against all kept texts, through an index of their 3-grams."""

import re
from collections import Counter, defaultdict

GRAM = 3  # words
_WORD = re.compile(r"\w+")


def grams(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of GRAM words of `text`, without case and punctuation; a shorter text is one run."""
    words = _WORD.findall(text.casefold())
    return frozenset(tuple(words[i : i + GRAM]) for i in range(max(1, len(words) - GRAM + 1)))


class Index:
    """Texts by their 3-grams: only texts that share one are compared, each by a count, so that it stays cheap."""

    def __init__(self):
        self._holders: dict[tuple, set[str]] = defaultdict(set)
        self._grams: dict[str, frozenset[tuple[str, ...]]] = {}

    def add(self, ident: str, text: str) -> None:
        """Keep `text` under the unique name `ident`."""
        self._grams[ident] = grams(text)
        for gram in self._grams[ident]:
            self._holders[gram].add(ident)

    def remove(self, ident: str) -> None:
        """Forget the text kept as `ident`."""
        for gram in self._grams.pop(ident):
            self._holders[gram].discard(ident)

    def nearest(self, text: str) -> tuple[float, str | None]:
        """(Jaccard |A∩B| / |A∪B| of `text` and the kept text most like it, that text's name); (0, None) where none is.

        0 (nothing shared) to 1 (the same 3-grams); the text itself counts too, if it was added.
        """
        own = grams(text)
        shared = Counter(ident for gram in own for ident in self._holders.get(gram, ()))
        alike = ((n / (len(own) + len(self._grams[ident]) - n), ident) for ident, n in shared.items())
        return max(alike, key=lambda found: (found[0], found[1]), default=(0.0, None))
