"""Review sheets as CSV files that spreadsheets open, and as spreadsheets save them again."""

import csv
import io
import re
from pathlib import Path

import pandas as pd

from unlearning.review.rows import ReviewError, Row
from unlearning.tables.artifacts import replacing

# what a spreadsheet may take for a formula; an apostrophe in front of it, as people write it, makes it text
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def protected(text: str) -> str:
    """`text` so that a spreadsheet reads no formula: an apostrophe goes before = + - @, tab and carriage return."""
    return f"'{text}" if FORMULA.match(text) else text


def unprotected(text: str) -> str:
    """The text that `protected` was given: exact for every text; a formula sign without apostrophe stays as it is."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def write_csv(sheet: pd.DataFrame, path: Path | str) -> None:
    """Write `sheet` as CSV: UTF-8 with byte order mark (else Excel guesses another encoding), commas, formulas off."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(sheet.columns)
    writer.writerows([protected(cell) for cell in row] for row in sheet.itertuples(index=False))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(text.getvalue().encode("utf-8-sig"))


def read_csv(path: Path) -> list[Row]:
    """The rows of a CSV as Excel or LibreOffice saves it: comma, semicolon or tab; UTF-8, or UTF-16 with its mark.

    A file with a header only gives one row of empty cells. ReviewError: another encoding, no header, too many cells.
    """
    text = _decoded(path)
    skipped = int(text.startswith("sep="))  # Excel's own first line, which names the separator
    text = text.split("\n", 1)[-1] if skipped else text
    first = text.split("\n", 1)[0]
    header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count)) or [[]]
    rows = []
    for number, cells in enumerate(lines, start=2 + skipped):
        if any(cell.strip() for cell in cells[len(header) :]):
            raise ReviewError(
                f"{path}, row {number}: {len(cells)} cells, the header has {len(header)}; put texts that hold the "
                "separator into quotes"
            )
        if any(cell.strip() for cell in cells):
            padded = [unprotected(cell) for cell in cells] + [""] * (len(header) - len(cells))
            rows.append(Row(f"{path}, row {number}", dict(zip(header, padded, strict=False))))
    return rows or [Row(f"{path}, row 1", dict.fromkeys(header, ""))]


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReviewError(
            f"{path}: not UTF-8 text (byte {error.start}); in Excel save it as 'CSV UTF-8', in LibreOffice choose UTF-8"
        ) from None
    if not text.strip():
        raise ReviewError(f"{path}: empty; it should begin with the sheet's first row")
    return text
