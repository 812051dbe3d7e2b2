"""Review sheets as CSV and XLSX: formulas, encodings, what spreadsheet programs make of them."""

import codecs
import csv
import datetime

import openpyxl
import pandas as pd
import pytest

from review_data import Data, filled, saved_csv
from unlearning.review.csv_file import protected, unprotected, write_csv
from unlearning.review.decisions import RESULT, decisions
from unlearning.review.rows import COLUMNS, DECISIONS, TEXTS, ReviewError
from unlearning.review.xlsx import write_xlsx

FORMULAS = ["=1+1", "+49 30", "-5", "@home", "\tx", "'=1+1", "''@", "'tis", '=HYPERLINK("http://x";"y")', "a=b"]
NUMBERS = [
    "007",
    "3-4",
    "3/4",
    "1.50",
    "5",
    "10:30",
    "03-Apr",
    "1E5",
    "'007",
    "2024-04-03",
]  # or dates, to a spreadsheet


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("sources"))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text_in_the_csv_and_comes_back_exactly(text):
    shown = protected(text)
    assert shown[0] not in "=+-@\t\r"
    assert unprotected(shown) == text


@pytest.mark.parametrize("text", NUMBERS)
def test_what_a_spreadsheet_would_take_for_a_number_or_a_date_is_text_in_the_csv_and_comes_back_exactly(text):
    assert protected(text) == f"'{text}" and unprotected(f"'{text}") == text


@pytest.mark.parametrize("text", ["3 ducks", "Mai", "1월", "MiG 29", "a1", "3rd of May", "7-Up bottle", ""])
def test_other_texts_are_shown_as_they_are(text):
    assert protected(text) == text


def test_a_formula_sign_that_a_program_left_bare_is_read_as_it_is():
    assert unprotected("=1+1") == "=1+1"


@pytest.mark.parametrize("text", [*FORMULAS, *NUMBERS])
@pytest.mark.parametrize("write, end", [(write_csv, "csv"), (write_xlsx, "xlsx")])
def test_formulas_survive_the_round_trip_as_data(data, tmp_path, text, write, end):
    ident = data.kept["pair_id"].iloc[0]
    sheet = filled(data.sheet(), ident, decision="correct", corrected_answer=text, question=text)
    write(sheet, tmp_path / f"de.{end}")
    found = decisions(tmp_path / f"de.{end}").iloc[0]
    assert found["answer"] == text.strip() and found["question"] == text.strip()
    if end == "xlsx":
        cells = [cell for row in openpyxl.load_workbook(tmp_path / "de.xlsx")["review"].iter_rows() for cell in row]
        assert {cell.data_type for cell in cells if cell.value is not None} == {"s"}


def test_the_csv_opens_in_excel_with_every_letter(data, tmp_path):
    ident = data.kept["pair_id"].iloc[0]
    sheet = filled(data.sheet(), ident, comment='ไทย, "اردو"; ǩ\nnext line')
    write_csv(sheet, tmp_path / "de.csv")
    raw = (tmp_path / "de.csv").read_bytes()
    assert raw.startswith(codecs.BOM_UTF8) and b"\r\n" in raw
    assert pd.read_csv(tmp_path / "de.csv", dtype=str, keep_default_na=False).equals(sheet)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\r\n", "\n", "\r"])
def test_decisions_are_read_as_excel_and_libreoffice_save_them(data, tmp_path, separator, encoding, newline):
    ident = data.kept["pair_id"].iloc[0]
    text = "Ja, „gut“; sehr\u2028gut\tzwei\ndrei"
    sheet = filled(data.sheet(), ident, decision=" Correct ", corrected_answer=text, comment="a;b,c")
    path = saved_csv(sheet, tmp_path / "de.csv", separator, encoding, newline)
    found = decisions(path)
    assert list(found.columns) == list(RESULT) and len(found) == 1
    assert found.iloc[0]["answer"] == text and found.iloc[0]["decision"] == "correct"
    assert found.iloc[0]["question"] == data.row(ident)["question"] and found.iloc[0]["comment"] == "a;b,c"


def test_excels_separator_line_quotes_everywhere_and_short_rows_are_read(data, tmp_path):
    sheet = filled(data.sheet(), data.bad[0], decision="reject", comment="no toy")
    path = saved_csv(sheet, tmp_path / "a.csv", ";", "utf-8", quoting=csv.QUOTE_ALL)
    path.write_text("sep=;\r\n" + path.read_text("utf-8"), "utf-8")
    (tmp_path / "b.csv").write_text("ID;Decision;Comment\nx/toy/de;approve\n;;\n", "utf-8")  # no texts, short, blank
    assert decisions(path)["comment"].tolist() == ["no toy"]
    by_hand = decisions(tmp_path / "b.csv").iloc[0]
    assert by_hand["decision"] == "approve" and by_hand["answer"] is None and by_hand["reviewer"] is None


def test_the_workbook_offers_the_decisions_freezes_its_header_and_wraps_its_texts(data, tmp_path):
    write_xlsx(data.sheet(), tmp_path / "de.xlsx")
    page = openpyxl.load_workbook(tmp_path / "de.xlsx")["review"]
    header = [cell.value for cell in page[1]]
    assert header == list(COLUMNS) and page.freeze_panes == "B2"
    (choice,) = page.data_validations.dataValidation
    assert choice.formula1 == f'"{",".join(DECISIONS)}"' and choice.type == "list"
    column = openpyxl.utils.get_column_letter(header.index("decision") + 1)
    assert str(choice.sqref) == f"{column}2:{column}{len(data.sheet()) + 1}"
    texts = [cell for row in page.iter_rows(min_row=2) for cell in row]
    assert all(cell.alignment.wrap_text and cell.number_format == "@" for cell in texts)
    assert not any(cell.alignment.readingOrder for cell in texts)


def test_texts_of_a_right_to_left_language_run_from_the_right_and_english_does_not(data, tmp_path):
    write_xlsx(data.sheet(), tmp_path / "ur.xlsx", right_to_left=True)
    page = openpyxl.load_workbook(tmp_path / "ur.xlsx")["review"]
    turned = {
        page.cell(1, cell.column).value
        for row in page.iter_rows(min_row=2)
        for cell in row
        if cell.alignment.readingOrder == 2 and cell.alignment.horizontal == "right"
    }
    assert turned == {*TEXTS, *(f"corrected_{part}" for part in TEXTS)}


def test_equal_sheets_give_equal_workbooks(data, tmp_path):
    write_xlsx(data.sheet(), tmp_path / "a.xlsx")
    write_xlsx(data.sheet(), tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_a_workbook_edited_in_a_spreadsheet_gives_its_decisions(data, tmp_path):
    path, ident = tmp_path / "de.xlsx", data.bad[0]
    write_xlsx(data.sheet(), path)
    book = openpyxl.load_workbook(path)
    page = book["review"]
    header = [cell.value for cell in page[1]]
    row = next(r for r in page.iter_rows(min_row=2) if r[0].value == ident)
    row[header.index("decision")].value = "correct"
    row[header.index("corrected_value")].value = "Ball"
    row[header.index("comment")].value = 5.0
    book.create_sheet("notes", 0)["A1"] = "mine"
    book.active = 0
    book.save(path)
    found = decisions(path)
    assert found["id"].tolist() == [ident] and found.iloc[0]["comment"] == "5"
    assert "Spielzeug Ball" in found.iloc[0]["answer"] and "Kreisel" not in found.iloc[0]["paraphrase"]


def in_workbook(path, data, change):
    """The review's workbook after `change(book, sheet)`."""
    write_xlsx(filled(data.sheet(), data.bad[0], decision="reject"), path)
    book = openpyxl.load_workbook(path)
    change(book, book["review"])
    book.save(path)
    return path


@pytest.mark.parametrize("cell", [datetime.datetime(2026, 5, 1), datetime.time(3, 4), 1.23e15])
def test_a_date_or_number_that_a_workbook_holds_for_a_text_is_refused_but_not_in_a_comment(data, tmp_path, cell):
    def put(name):
        at = list(COLUMNS).index(name) + 1
        return in_workbook(tmp_path / "de.xlsx", data, lambda _, page: setattr(page.cell(3, at), "value", cell))

    with pytest.raises(ReviewError, match="de.xlsx, row 3, column corrected_value: the spreadsheet made a date"):
        decisions(put("corrected_value"))
    assert len(decisions(put("comment"))) == 1


@pytest.mark.parametrize("cell", ["03-Apr", "03. Apr", "3-avr", "Apr-24", "3-Apr-24", "3/4/2024", "03.04.2024",
                                  "2024-04-03 00:00:00", "03:04", "3:04 PM", "1.23E+15", "1,23E+15"])  # fmt: skip
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_date_or_number_that_a_csv_holds_for_a_text_is_refused_but_not_in_a_comment(data, tmp_path, separator, cell):
    sheet = filled(data.sheet(), data.bad[0], decision="correct", corrected_value=cell)
    path = saved_csv(sheet, tmp_path / "de.csv", separator)
    with pytest.raises(ReviewError, match="de.csv, row 2, column corrected_value: the spreadsheet made a date"):
        decisions(path)
    saved_csv(filled(sheet, data.bad[0], corrected_value=f"'{cell}"), path, separator)
    assert decisions(path)["value"].tolist() == [cell]
    saved_csv(filled(sheet, data.bad[0], decision="reject", corrected_value="", comment=cell), path, separator)
    assert decisions(path)["comment"].tolist() == [cell]


def test_a_shown_text_that_a_csv_turned_into_a_date_is_refused_too(data, tmp_path):
    path = saved_csv(filled(data.sheet(), data.bad[0], decision="reject", value="03-Apr"), tmp_path / "de.csv")
    with pytest.raises(ReviewError, match="row 2, column value: the spreadsheet made a date"):
        decisions(path)


def test_the_sheet_is_found_by_its_columns_wherever_it_stands_and_whatever_it_is_called(data, tmp_path):
    def change(book, page):
        page.title = "Tabelle1"
        book.create_sheet("notes", 0)["A1"] = "mine"
        page.insert_cols(1)
        page["A1"], page["A2"] = "my own", "x"

    assert decisions(in_workbook(tmp_path / "de.xlsx", data, change))["id"].tolist() == [data.bad[0]]


def test_two_sheets_with_decisions_are_refused_and_so_is_a_book_without_any(data, tmp_path):
    two = in_workbook(tmp_path / "de.xlsx", data, lambda book, page: book.copy_worksheet(page))
    with pytest.raises(ReviewError, match="de.xlsx: sheets review, review Copy all have columns id and decision"):
        decisions(two)
    none = in_workbook(tmp_path / "th.xlsx", data, lambda _, page: page.delete_rows(1))
    with pytest.raises(ReviewError, match="th.xlsx, row 1: no column 'id'"):
        decisions(none)


@pytest.mark.parametrize("text, words", [
    ("id,decision,value\na/toy/de,approve,???? ??\n", "its letters became question marks when it was saved"),
    ('id,decision,value\na,approve,"x\nb,reject,y\n', "row 2: not a row of a CSV .*ends with one, and writes its own"),
    ('id,decision,value\na,approve,x\nb,reject,"y"z\n', "row 3: not a row of a CSV"),
    ("sep=;\n", "row 1: no column 'id'"),
])  # fmt: skip
def test_a_csv_that_lost_something_is_refused(tmp_path, text, words):
    (tmp_path / "de.csv").write_text(text)
    with pytest.raises(ReviewError, match=words):
        decisions(tmp_path / "de.csv")


def test_control_characters_do_not_break_the_workbook(data, tmp_path):
    write_xlsx(filled(data.sheet(), data.bad[0], comment="a\x0bb\x00"), tmp_path / "de.xlsx")
    page = openpyxl.load_workbook(tmp_path / "de.xlsx")["review"]
    assert "a\ufffdb\ufffd" in {cell.value for row in page.iter_rows() for cell in row}
