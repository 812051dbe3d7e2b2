"""UMU-Bench's rules of what an answer says: the option it is most like, and what fills the blank.

Every answer is graded, a refusal too; whether it is one, `unlearning.text.abstaining` says.
"""

from collections.abc import Sequence

from rapidfuzz.fuzz import ratio


def most_similar(text: str, options: Sequence[str]) -> int:
    """Index of the option that `text` is most like, of several the first: so an empty text chooses the first one.

    Likeness: normalised Indel similarity, 0–100, of the stripped, casefolded texts. ValueError without options.
    """
    said = _folded(text)
    return max(range(len(options)), key=lambda i: ratio(said, _folded(options[i])))


def fills(text: str, value: str) -> bool:
    """Whether the first sentence of `text`, all up to the first period, holds `value`, both in lower case."""
    return value.strip().lower() in text.lower().partition(".")[0]


def _folded(text: str) -> str:
    return text.strip().casefold()
