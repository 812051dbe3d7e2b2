"""Finding a value in a text: what counts as the same word depends on how the language writes words."""

import functools
import re

from unlearning.data.languages import Language
from unlearning.data.text import fold

# a value's article changes with its case or is dropped, so it does not count as part of the value (folded spellings)
ARTICLES = frozenset(  # as `fold` writes them
    "the a an der die das den dem des ein eine einen einem einer el la los las un una unos unas n "
    "ο η το οι τα τον την του τησ των τουσ τισ ενασ μια ενα".split()
)

# Thai writes no spaces, but some letters cannot start a word or must go on: a vowel sign in front binds what follows
# it; a vowel sign, a tone mark or a silenced letter (ล์) behind belongs to what is before it
THAI_BEFORE = "(?<![เแโใไ])"
THAI_AFTER = "(?![ะาำๅ\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]|[ก-ฮ][\u0e34\u0e38]?\u0e4c)"
NOMINALISERS = re.compile("^(?:การ|ความ)(?=.{4})")  # Thai: การว่ายน้ำ, swimming, is ว่ายน้ำ, to swim
VERB_MAY = re.compile(r"(?<!\w)(?<!in )may(?!\w)")


def comparable(text: str, language: Language) -> str:
    """`text` folded, but for what only its capital tells from a value: the English verb "may" is not the month May."""
    return fold(VERB_MAY.sub(" ", text) if language.code == "en" else text)


@functools.lru_cache(maxsize=100_000)
def as_word(value: str, language: Language) -> re.Pattern:
    """A pattern for `value` as written, as a word of its own.

    Where words are not written apart that is any occurrence, in Thai one that no vowel sign or tone mark ties to a
    letter outside; in Korean a particle may follow (1월에).
    """
    before, after = boundaries(language)
    return re.compile(before + re.escape(value) + after)


def boundaries(language: Language) -> tuple[str, str]:
    """What must hold before and after a word."""
    if not language.spaces:
        return (THAI_BEFORE, THAI_AFTER) if "Thai" in language.unicode_scripts else ("", "")
    return r"(?<!\w)", "" if _glues(language) else r"(?!\w)"


def _glues(language: Language) -> bool:
    """Whether particles are written onto a word, so that its end cannot be seen."""
    return "Hangul" in language.unicode_scripts


@functools.lru_cache(maxsize=100_000)
def word_forms(value: str, language: Language) -> tuple[re.Pattern, ...]:
    """One pattern for each word of `value` that carries meaning, in any of its forms, for folded text.

    Articles and words under three letters do not count where longer ones are left. Where words are not written apart,
    or particles are glued on, the value is one piece; in Thai without the syllable that makes a verb a noun.
    """
    folded = fold(value)
    if not language.spaces or _glues(language):
        before, after = boundaries(language)
        return (re.compile(before + re.escape(NOMINALISERS.sub("", folded)) + after),)
    words = re.findall(r"\w+", folded)
    telling = [w for w in words if w not in ARTICLES and len(w) > 2]
    return tuple(re.compile(rf"(?<!\w){_inflected(word)}(?!\w)") for word in telling or words)


def _inflected(word: str) -> str:
    """`word` with any ending: the longer it is, the more of its end may change (janvāris, janvārī; Fuchs, Füchse).

    Three letters or fewer stand as they are, or a short word would be found in every longer one (col, color).
    """
    if len(word) < 4:
        return re.escape(word)
    if len(word) == 4:
        return re.escape(word) + r"\w{0,2}"
    return re.escape(word[:-1] if len(word) == 5 else word[:-2]) + r"\w*"
