"""Review sheets as Excel workbooks: written with a list of decisions to choose from, and read back."""

import datetime
import io
import re
import zipfile
from pathlib import Path

import pandas as pd

from unlearning.review.rows import CORRECTED, DECISIONS, FREE, NEEDED, TEXTS, ReviewError, Row, as_rows, column
from unlearning.tables.artifacts import replacing

NAME = "review"
WIDTHS = {"id": 24, "cut": 8, "language": 9, "decision": 11, "reviewer": 14, "why": 36}  # others 32, in characters
TRANSLATED = (*TEXTS, *CORRECTED)
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # XML has no way to write them
EXACT = 1e15  # a spreadsheet keeps 15 digits of a number
STAMP = (1980, 1, 1, 0, 0, 0)


def write_xlsx(sheet: pd.DataFrame, path: Path | str, right_to_left: bool = False) -> None:
    """Write `sheet` (`sheets.review_sheet`) as a workbook; equal sheets give equal files.

    Header frozen, text wrapped, `decision` chosen from a list; every cell is text, so nothing becomes a formula, a
    number or a date. `right_to_left`: the language's texts are aligned and read from the right. Control characters are
    shown as the replacement character.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    page = book.active
    page.title = NAME
    page.append(list(sheet.columns))
    for cell in page[1]:
        cell.font = Font(bold=True)
    page.freeze_panes = "B2"
    page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.columns))}{len(sheet) + 1}"
    for number, name in enumerate(sheet.columns, start=1):
        letter = get_column_letter(number)
        page.column_dimensions[letter].width = WIDTHS.get(name, 32)
        _fill(page, number, sheet[name], right_to_left and name in TRANSLATED)
        if name == "decision":
            _offer(page, f"{letter}2:{letter}{len(sheet) + 1}")
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(_same_bytes(book))


def _fill(page, number: int, texts: pd.Series, right_to_left: bool) -> None:
    from openpyxl.styles import Alignment

    direction = {"horizontal": "right", "readingOrder": 2} if right_to_left else {}
    alignment = Alignment(wrap_text=True, vertical="top", **direction)
    for row, text in enumerate(texts, start=2):
        cell = page.cell(row, number, UNWRITABLE.sub("\ufffd", text) or None)
        if text:
            cell.data_type = "s"  # openpyxl takes a leading = for a formula
        cell.number_format, cell.alignment, cell.quotePrefix = "@", alignment, True


def _offer(page, cells: str) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    choice = DataValidation(type="list", formula1=f'"{",".join(DECISIONS)}"', allow_blank=True, showErrorMessage=True)
    choice.errorTitle, choice.error = "Decision", f"Choose one of {', '.join(DECISIONS)}, or leave it empty."
    choice.add(cells)
    page.add_data_validation(choice)


def _same_bytes(book) -> bytes:
    """The workbook's file without the time of writing, which stands in its properties and in the archive's entries."""
    first, second = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in sorted(old.namelist()):
            content = old.read(entry)
            if entry == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"1980-01-01T00:00:00Z", content)
            kept = zipfile.ZipInfo(entry, STAMP)
            kept.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(kept, content)
    return second.getvalue()


def read_xlsx(path: Path) -> list[Row]:
    """The rows of the sheet that has columns id and decision, wherever it stands and whatever it is called.

    Formulas count as what they came to. ReviewError: no workbook, none or several of such sheets, a cell that Excel
    turned into a date.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path, data_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, OSError) as error:
        raise ReviewError(f"{path}: not a readable XLSX workbook ({error}); save it again as .xlsx") from None
    pages = {page.title: list(page.iter_rows(values_only=True)) for page in book.worksheets}
    headers = {title: [str(name or "") for name in (lines or [()])[0]] for title, lines in pages.items()}
    found = [title for title, header in headers.items() if set(NEEDED) <= set(map(column, header))]
    if len(found) > 1:
        raise ReviewError(
            f"{path}: sheets {', '.join(found)} all have columns id and decision; put the rows that you want into one "
            "of them and delete the others"
        )
    title = found[0] if found else NAME if NAME in pages else book.worksheets[0].title
    header = headers[title]
    filled = [(n, cells) for n, cells in enumerate(pages[title][1:], start=2) if any(c is not None for c in cells)]
    return as_rows(
        path, header,
        [(n, [_text(cell, path, n, name) for name, cell in zip(header, cells, strict=True)]) for n, cells in filled],
    )  # fmt: skip


def _text(cell: object, path: Path, number: int, name: str) -> str:
    made = isinstance(cell, (datetime.date, datetime.time, datetime.timedelta))
    if column(name) not in FREE and (made or isinstance(cell, (int, float)) and abs(cell) >= EXACT):
        raise ReviewError(
            f"{path}, row {number}, column {name}: the spreadsheet made a date or a number of the text ({cell}); "
            "format the cell as text and type it again"
        )
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else str(cell)
