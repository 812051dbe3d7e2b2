"""Multiple-choice questions: how one is put in a single text, and which option an answer chooses."""

import functools
import re
from collections.abc import Sequence
from string import ascii_uppercase as LETTERS

from unlearning.text.words import contains, normalise, without

ASK = "Answer with the letter of the right option."


def asked(question: str, options: Sequence[str]) -> str:
    """`question`, a line for each option with its letter, and the request for a letter."""
    return "\n".join([question, *(lettered(options, i) for i in range(len(options))), ASK])


def lettered(options: Sequence[str], index: int) -> str:
    """An option as it stands in the question, which is also its answer: "B. Oslo"."""
    return f"{LETTERS[index]}. {options[index]}"


def chosen(text: str, options: Sequence[str], language: str) -> tuple[int | None, str]:
    """(index of the option that `text` chooses, None where it chooses none or several; the rule that says so).

    The first letter mark counts: a letter that stands alone at the start ("B", "B.", "(b)", "B because"), after words
    such as "the answer is" or "option", or in brackets. An article is none ("A cat"), nor is one letter of several
    ("A or B"), nor a letter in an option's own text that the answer begins with ("C. elegans"). Without a mark the
    options are looked for as words, longer ones first, so that "New York" is not found inside "New York City".
    """
    words = normalise(text)
    forms = [normalise(option) for option in options]
    if not any(len(form) > 1 and f"{words} ".startswith(f"{form} ") for form in forms):
        mark = _mark(len(options)).search(text)
        if mark:
            letter = next(filter(None, mark.groups())).upper()
            return LETTERS.index(letter), f"gives the letter {letter}"
    named = []
    for form in sorted(filter(None, dict.fromkeys(forms)), key=len, reverse=True):
        if contains(words, form, language):
            words = without(words, form, language)
            named.append(form)
    if len(named) == 1:
        return forms.index(named[0]), f"names {named[0]}"
    return None, f"names {' and '.join(sorted(named))}" if named else "gives no letter and names no option"


@functools.cache
def _mark(n: int) -> re.Pattern:
    """A letter mark of one of the first `n` letters."""
    letter = f"[{LETTERS[:n]}]"
    another = rf"\s*(?:(?:or|and)\s+)?\(?{letter}\b"
    alone = rf"(?=[\"']?\s*(?:$|[.):;*\]\n]|,(?!{another})|[-–—]\s|(?:because|since|as|is)\b))"
    said = r"\b(?:answer|choose|pick|select|it\s+is|it's)\b[\s:*]*(?:is|would\s+be|must\s+be)?[\s:*(\[\"']*"
    return re.compile(
        rf"\A\W*({letter}){alone}|{said}({letter}){alone}"
        rf"|\b(?:option|choice|letter)\s+[(\"'*]*(?-i:({letter}))\b|\((?-i:({letter}))\)",
        re.IGNORECASE,
    )
