"""Cutting a text into chunks of whole sentences, each with its place in the text."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

_WORD = re.compile(r"\S+")
_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|\n[ \t]*(?=\n)")
_ABBREVIATION = re.compile(r"(?:^|[\s(\"“])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|vs|etc|e\.g|i\.e|[A-Z])\.$")
_LOWER = re.compile(r"\s+[a-z]")


def sentences(text: str) -> list[tuple[int, int]]:
    """The character spans (start, end exclusive) of the sentences of `text`, without white space around them.

    A sentence ends with a full stop, an exclamation or question mark or an ellipsis (and closing quotes) before white
    space, or at an empty line; not after a common abbreviation or an initial, nor where a small letter goes on.
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


def read_text(path: Path | str) -> str:
    """The text of the file at `path`. ValueError: it is not UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from None


def chunk(text: str, document: str, words: int) -> pd.DataFrame:
    """Table `chunks` of one text: whole sentences, as many as fit into `words` words; text[start:end] is the chunk.

    A sentence of more words is a chunk of its own, longer than asked. ValueError: words under 1.
    """
    if words < 1:
        raise ValueError(f"words {words}: a chunk should have 1 word or more")
    groups: list[list[tuple[int, int]]] = []
    length = 0
    for start, end in sentences(text):
        n = len(_WORD.findall(text[start:end]))
        if not groups or length + n > words:
            groups.append([])
            length = 0
        groups[-1].append((start, end))
        length += n
    spans = [(group[0][0], group[-1][1]) for group in groups]
    rows = [
        (document, number, start, end, len(_WORD.findall(text[start:end])), text[start:end])
        for number, (start, end) in enumerate(spans)
    ]
    return pd.DataFrame(rows, columns=["document", "chunk", "start", "end", "n_words", "text"])
