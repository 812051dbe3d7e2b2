"""Folding, tokens and look-up of words in any of the scripts we ask in.

Shared by the rule judge and the text metrics, so that what one counts as a word the others do too.
"""

import functools
import re
import unicodedata

UNSPACED = frozenset({"zh", "th", "ja", "lo", "km", "my"})
"""Languages written without spaces: there is no word boundary to ask for, and characters are the tokens."""

SUFFIXED = frozenset({"ko"})
"""Languages whose particles are written onto the noun: a value starts a word and need not end it."""

_RUN_OR_CHARACTER = re.compile(r"[0-9a-z\u00df-\u024f]+|\S")


class _Fold(dict[int, str]):
    """A table for `str.translate`, filled as characters turn up.

    Punctuation and symbols become `punctuation`, separators and controls a space, invisible format characters nothing.
    Combining marks stay: Thai and Urdu vowels are marks, and `\\w` would split words at them.
    """

    def __init__(self, punctuation: str):
        super().__init__()
        self.punctuation = punctuation

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        if category == "Cf":
            folded = ""
        elif category[0] in "PS":
            folded = self.punctuation
        else:
            folded = " " if category[0] in "ZC" else chr(code)
        self[code] = folded
        return folded


def normalise(text: str, *, join_punctuation: bool = False) -> str:
    """`text` in NFKC, casefolded, with punctuation and runs of white space folded into single spaces.

    With `join_punctuation` punctuation is deleted instead ("well-known" → "wellknown"), as SQuAD's script does.
    """
    fold = _join_word if join_punctuation else _space_word
    return " ".join(filter(None, map(fold, text.split())))


def _fold_word(word: str, table: _Fold) -> str:
    return " ".join(unicodedata.normalize("NFKC", word).casefold().translate(table).split())


# Folding is slow beyond ASCII, and the answers to one benchmark share their words.
_space_word = functools.lru_cache(1 << 17)(functools.partial(_fold_word, table=_Fold(" ")))
_join_word = functools.lru_cache(1 << 17)(functools.partial(_fold_word, table=_Fold("")))


def contains(text: str, form: str, language: str) -> bool:
    """Whether `form` stands in `text` as whole words of `language`; both must be normalised.

    Substring in languages without spaces, start of a word in languages with particles. An empty form stands nowhere.
    """
    if not form:
        return False
    if language in UNSPACED:
        return form.replace(" ", "") in text.replace(" ", "")
    if form not in text:
        return False
    if language in SUFFIXED:
        return f" {form}" in f" {text}"
    return f" {form} " in f" {text} "


def without(text: str, form: str, language: str) -> str:
    """`text` with `form` struck out wherever `contains` would find it; a bar stands in its place, so nothing joins."""
    if language in UNSPACED:
        return text.replace(" ", "").replace(form.replace(" ", ""), "|")
    end = "" if language in SUFFIXED else "(?= )"
    return re.sub(f" {re.escape(form)}{end}", " |", f" {text} ").strip()


def tokens(normalised: str, language: str) -> list[str]:
    """Words of a normalised text; in languages without spaces its characters, runs of Latin letters kept whole."""
    return _RUN_OR_CHARACTER.findall(normalised) if language in UNSPACED else normalised.split()
