"""Review sheets as CSV files that spreadsheets open, and as spreadsheets save them again."""

import csv
import io
import re
from pathlib import Path

import pandas as pd

from unlearning.review.rows import FREE, ReviewError, Row, as_rows, column
from unlearning.tables.artifacts import replacing

# what a spreadsheet writes for a text that it took for a date, a time, or a number too long to show
MADE = (
    r"\d{1,2}(?:-|\. )[^\W\d_]{3,4}\.?(?:[- ]\d{2,4})?"  # 03-Apr, 03. Apr, 3-Apr-24
    r"|[^\W\d_]{3,4}\.?-\d{2}"  # Apr-24
    r"|\d{1,4}([./-])\d{1,2}\1 ?\d{1,4}(?: \d{1,2}:\d{2}(?::\d{2})?)?"  # 3/4/2024, 2024-04-03 00:00
    r"|\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?"  # 03:04
    r"|\d(?:[.,]\d+)?E[+-]?\d+"  # 1.23E+15
)
# what it may take for a formula, a date or a number; an apostrophe in front, as people write it, makes it a text
TAKEN = re.compile(rf"'*(?:[=+\-@\t\r]|(?:{MADE}|\d[\d\s.,:/-]*)\Z)")


def protected(text: str) -> str:
    """`text` so that a spreadsheet leaves it as it is: an apostrophe goes before a formula, a number or a date.

    A formula begins with = + - @, a tab or a carriage return.
    """
    return f"'{text}" if TAKEN.match(text) else text


def unprotected(text: str) -> str:
    """The text that `protected` was given: exact for every text; one without apostrophe stays as it is."""
    return text[1:] if text.startswith("'") and TAKEN.match(text) else text


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

    A file with a header only gives one row of empty cells. ReviewError: another encoding, no header, too many cells, a
    quotation mark without its second, a text that the program turned into a date.
    """
    text = _decoded(path)
    skipped = int(text.startswith("sep="))  # Excel's own first line, which names the separator
    lines = list(io.StringIO(text, newline=""))[skipped:]
    reader = csv.reader(lines, delimiter=max(",;\t", key="".join(lines[:1]).count), strict=True)
    numbered = []
    try:
        for number, cells in enumerate(reader, start=1 + skipped):
            numbered.append((number, cells))
    except csv.Error as error:
        raise ReviewError(
            f"{path}, row {len(numbered) + 1 + skipped}: not a row of a CSV ({error}); a text in quotation marks ends "
            'with one, and writes its own twice (""); save the sheet from the spreadsheet again'
        ) from None
    header = numbered[0][1] if numbered else []
    filled = [(number, cells) for number, cells in numbered[1:] if any(cell.strip() for cell in cells)]
    return as_rows(path, header, [(number, _cells(path, number, header, cells)) for number, cells in filled])


def _cells(path: Path, number: int, header: list[str], cells: list[str]) -> list[str]:
    if any(cell.strip() for cell in cells[len(header) :]):
        raise ReviewError(
            f"{path}, row {number}: {len(cells)} cells, the header has {len(header)}; put texts that hold the "
            "separator into quotes"
        )
    for name, cell in zip(header, cells, strict=False):
        if column(name) not in FREE and re.fullmatch(MADE, cell.strip()):
            raise ReviewError(
                f"{path}, row {number}, column {name}: the spreadsheet made a date or a number of the text "
                f"({cell.strip()}); type the text again with ' in front of it"
            )
    padded = [unprotected(cell) for cell in cells[: len(header)]]
    return padded + [""] * (len(header) - len(padded))


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
    if text.isascii() and "???" in text:
        raise ReviewError(
            f"{path}: its letters became question marks when it was saved; in Excel save it as 'CSV UTF-8', in "
            "LibreOffice choose UTF-8"
        )
    return text
