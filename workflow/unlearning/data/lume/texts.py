"""What every document and question of LUME has to be, checked in code: length, a place to cut, a short sure answer.

Each check gives why a text is refused, or None.
"""

import random
import re

from unlearning.data.sentences import sentences
from unlearning.data.text import fold
from unlearning.seeds import seed_for

ANSWER_WORDS = 6  # of an answer that counts as short
_WORD = re.compile(r"\S+")


def n_words(text: str) -> int:
    """Words of `text`: what stands between white space."""
    return len(_WORD.findall(text))


def wrong_length(text: str, shortest: int, longest: int) -> str | None:
    """Why `text` does not have `shortest` to `longest` words."""
    n = n_words(text)
    return None if shortest <= n <= longest else f"{n} words, should be {shortest} to {longest}"


def cuts(text: str) -> list[int]:
    """Where `text` can be cut: the starts of sentences with half of the words or more before them, and one behind."""
    total = n_words(text)
    return [start for start, _ in sentences(text)[1:] if 2 * n_words(text[:start]) >= total]


def no_cut(text: str) -> str | None:
    """Why `text` cannot be cut into a prompt and its completion."""
    return None if cuts(text) else "no sentence begins in its second half"


def completion(text: str, seed: int, document_id: str) -> tuple[str, str]:
    """(what stands before, what stands after) a random place of `cuts`, drawn by `seed` and document.

    White space at the cut belongs to neither. ValueError: there is no such place.
    """
    possible = cuts(text)
    if not possible:
        raise ValueError(f"{document_id}: {no_cut(text)}")
    at = random.Random(seed_for(seed, "lume cut", document_id)).choice(possible)
    return text[:at].rstrip(), text[at:].strip()


def holds(text: str, words: str) -> bool:
    """Whether `words` stand in `text` as whole words, whatever their case, accents and spacing."""
    return re.search(rf"(?<!\w){re.escape(fold(words))}(?!\w)", fold(text)) is not None


def wrong_question(question: str, answer: str, text: str) -> str | None:
    """Why `question` does not ask `text` for one short `answer` that stands in it and is not given away."""
    if not question.endswith("?"):
        return f"{question!r} is no question"
    if n_words(answer) > ANSWER_WORDS:
        return f"the answer has {n_words(answer)} words, at most {ANSWER_WORDS} are short"
    if not holds(text, answer):
        return f"the answer {answer!r} does not stand in the text"
    if holds(question, answer):
        return f"the question holds its answer {answer!r}"
    return None
