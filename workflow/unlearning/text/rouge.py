"""ROUGE-L on token lists (Lin 2004), for every script we ask in.

rouge-score's default tokenizer keeps only [a-z0-9], so that Greek or Thai score 0; its longest common subsequence is a
Python table of half a millisecond a pair. Tokens and subsequence are ours, English tokens are the library's own.
"""

import functools
from collections.abc import Callable, Sequence

from unlearning.importing import leaving_out
from unlearning.text.words import normalise, tokens


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, by bit-parallel dynamic programming (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for position, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << position
    everywhere = (1 << len(first)) - 1
    unmatched = everywhere
    for token in second:
        met = unmatched & places.get(token, 0)
        unmatched = ((unmatched + met) | (unmatched - met)) & everywhere
    return len(first) - unmatched.bit_count()


def rouge_l(reference: Sequence[str], answer: Sequence[str]) -> tuple[float, float]:
    """(recall, F-measure), each 0–1: R = LCS/|reference|, P = LCS/|answer|, F = 2PR/(P+R); 0 where a side is empty."""
    if not reference or not answer:
        return 0.0, 0.0
    common = len(reference) if reference == answer else lcs_length(reference, answer)
    if not common:
        return 0.0, 0.0
    return common / len(reference), 2 * common / (len(reference) + len(answer))


def tokenizer(language: str, stems: bool = True) -> Callable[[str], list[str]]:
    """The tokenizer for `language`: rouge-score's for "en", with Porter stems or without, ours for all others."""
    if language == "en":
        return _english(stems)
    return lambda text: tokens(normalise(text), language)


@functools.cache
def _english(stems: bool) -> Callable[[str], list[str]]:
    with leaving_out("scipy", "sklearn"):  # nltk imports both for parts that are not used here: 2 s a job
        from nltk.stem import porter
        from rouge_score import tokenize

    class Stemmer:
        """Porter's stemmer with a memory: answers repeat their words."""

        stem = staticmethod(functools.lru_cache(maxsize=100_000)(porter.PorterStemmer().stem))

    return lambda text: tokenize.tokenize(text, Stemmer if stems else None)
