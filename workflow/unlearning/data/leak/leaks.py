"""Whether a question names what would give it away."""

import functools
import re
from collections.abc import Iterable

from unlearning.data.leak.names import is_short
from unlearning.data.text import fold, without_accents

_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})


def occurrences(name: str, text: str) -> int:
    """How often `name` stands in `text` as whole words: without accents, and without case unless `name` is short."""
    short = is_short(name)
    name, text = _comparable(name, short), _comparable(text, short)
    if not name or name not in text:
        return 0
    before, after = (r"(?<!\w)" if re.match(r"\w", name) else ""), (r"(?!\w)" if re.search(r"\w$", name) else "")
    return len(re.findall(before + re.escape(name) + after, text))


@functools.lru_cache(maxsize=100_000)
def _comparable(text: str, own_case: bool) -> str:
    return (without_accents if own_case else fold)(text.translate(_QUOTES))


def leak(question: str, match, aliases: Iterable[str] = ()) -> str | None:
    """What in `question` gives the match (a row of `matches`) away, or None.

    That is a forbidden string of the match; in a disjunctive syllogism whatever singles the answer out: it stands in
    the question once, among the candidates, and each excluded candidate twice. `aliases`, further forms of the answer,
    give it away too, but for mt, where the answer may stand in the question.
    """
    if found := next((name for name in match.forbidden if occurrences(name, question)), None):
        return f"names {found!r}"
    singled = _singled_out(question, match) if match.type == "ds" else None
    return singled or (None if match.type == "mt" else _alias_told(question, match.answer, aliases))


def _singled_out(question: str, match) -> str | None:
    excluded = [name for name in match.candidates if name != match.answer]
    if missing := [name for name in match.candidates if not occurrences(name, question)]:
        return f"does not name the candidates {', '.join(missing)}"
    if once := [name for name in excluded if occurrences(name, question) < 2]:
        return f"does not exclude {', '.join(once)}"
    if occurrences(match.answer, question) > 1:
        return f"names the answer {match.answer!r} outside the candidates"
    return _alias_told(question, match.answer, match.answer_aliases)


def _alias_told(question: str, answer: str, aliases: Iterable[str]) -> str | None:
    """An alias of the answer that stands outside the answer itself, which may be in the question."""
    own = occurrences(answer, question)
    for alias in aliases:
        if occurrences(alias, question) > own * occurrences(alias, answer):
            return f"names {alias!r}, another name of the answer"
    return None
