"""Cutting a text into chunks of whole sentences, each with its place in the text."""

import re
from pathlib import Path

import pandas as pd

from unlearning.data.sentences import sentences

_WORD = re.compile(r"\S+")


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
