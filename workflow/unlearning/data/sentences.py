"""Where the sentences of a text begin and end."""

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|\n[ \t]*(?=\n)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|vs|etc|e\.g|i\.e|Lt|Col|Gen|Capt|Rev|Sen|Rep|Gov|Mt|Ft|b|d|c|ca"
    r"|(?:[A-Z]\.){0,3}[A-Z])\.$"
)
_LOWER = re.compile(r"\s+[a-z]")


def sentences(text: str) -> list[tuple[int, int]]:
    """The character spans (start, end exclusive) of the sentences of `text`, without white space around them.

    A sentence ends with a full stop, an exclamation or question mark or an ellipsis (and closing quotes) before white
    space, or at an empty line; not after a common abbreviation or initials, nor where a small letter goes on.
    """
    spans, start = [], 0
    for end in [*_ends(text), len(text)]:
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        paragraph = found.group().startswith("\n")
        before = text[max(0, found.start() - 8) : found.start() + 1]
        if paragraph or not (_ABBREVIATION.search(before) or _LOWER.match(text, found.end())):
            yield found.end()
