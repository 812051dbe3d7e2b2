"""What one cell of someone's file says: a text, or a list of texts. CSV has no lists, so they come written out."""

import ast
import json
import re

_LITERAL = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# the repr of a list of strings, which is what pandas writes into a CSV; one literal between commas, so that NumPy's
# ['a' 'b'], which Python would read as the one text ab, is not taken for it
PYTHON_LIST = re.compile(rf"\[\s*(?:{_LITERAL}\s*(?:,\s*{_LITERAL}\s*)*,?\s*)?\]", re.DOTALL)


class CellError(ValueError):
    """A cell holds something else than is wanted; the message says what and how to mend it, not where."""


def one_text(cell: object) -> str | None:
    """A cell as text (numbers and dates as written); None when it is empty (null, NaN, blank).

    CellError for a list, an object or bytes, whose text would be Python's spelling of them.
    """
    if isinstance(cell, (list, tuple, dict, bytes)):
        kind = {dict: "an object", bytes: "bytes"}.get(type(cell), "a list")
        raise CellError(f"{kind} where one text is needed: {_short(cell)}; give one text in each row")
    return None if cell is None or cell != cell or not str(cell).strip() else str(cell)


def paraphrase_text(cell: object) -> str | None:
    """`one_text`, which refuses a list written out in a text too: an answer has one paraphrase."""
    text = one_text(cell)
    if text is not None and _written_list(text) is not None:
        raise CellError(f"a list where one text is needed: {_short(text)}; keep one paraphrase in each row")
    return text


def texts(cell: object) -> list[str]:
    """A cell's texts, the empty ones left out: a list, one text, or a list written out, by JSON or by Python (pandas).

    CellError for a text in brackets that is neither (NumPy's ['a' 'b'], say), and for lists in lists.
    """
    if isinstance(cell, str):
        found = _written_list(cell)
        if found is None and re.fullmatch(r"\s*\[.*\]\s*", cell, re.DOTALL):
            raise CellError(f"{_short(cell)} is no list that can be read; {_HOW}")
        cell = cell if found is None else found
    found = cell if isinstance(cell, list) else [cell]
    return [text for each in found if (text := one_text(each)) is not None]


_HOW = """write JSON, ["a", "b"], or Python's list of texts, ['a', 'b']; a single text in brackets as ["[a]"]"""


def _written_list(text: str) -> list | None:
    """The list that `text` is the spelling of, by JSON or Python, or None."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return ast.literal_eval(text.strip()) if PYTHON_LIST.fullmatch(text.strip()) else None


def _short(cell: object) -> str:
    shown = cell if isinstance(cell, str) else repr(cell)
    return shown if len(shown) <= 80 else shown[:79] + "…"
