"""Human review: sheets for spreadsheets and Label Studio, decisions read back, and what they do to the data."""

import codecs
import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import openpyxl
import pandas as pd
import pytest

from mu2_sources import POOLS, ROOT, SOURCES, WORDS, break_file, pairs_of, write_sources
from unlearning.data.checking import run_checks
from unlearning.data.context import offline_context
from unlearning.data.languages import read_languages
from unlearning.data.phrasebook import read_phrasebook, values_table
from unlearning.review import label_studio
from unlearning.review.apply import check_reviewed
from unlearning.review.csv_file import protected, unprotected, write_csv
from unlearning.review.decisions import RESULT, decisions
from unlearning.review.rows import COLUMNS, DECISIONS, TEXTS, ReviewError
from unlearning.review.sheets import attempted, looked_up, review_sheet
from unlearning.review.xlsx import write_xlsx
from unlearning.tables.artifacts import to_table

FORMULAS = ["=1+1", "+49 30", "-5", "@home", "\tx", "'=1+1", "''@", "'tis", '=HYPERLINK("http://x";"y")', "a=b"]


class Data:
    """German rows of the small mu2-Bench, one of them (a toy) refused by the checks, and their review sheet."""

    def __init__(self, folder):
        sources = write_sources(folder)
        break_file(sources / "de.yaml", "ball: Ball", "ball: Kreisel")  # two toys with one German word
        both = pairs_of(sources)
        self.english = both[both["language"] == "en"].reset_index(drop=True)
        self.pairs = both[both["language"] == "de"].reset_index(drop=True)
        self.values = values_table(POOLS, read_phrasebook(sources / "de.yaml", POOLS), "de")
        languages = read_languages(SOURCES / "languages.yaml")
        self.context = offline_context(languages["de"], tuple(languages), self.values)
        self.kept, self.rejected = run_checks(self.pairs, self.context)
        self.bad = self.rejected["id"].unique()

    def sheet(self, share=1.0, seed=0, decided=None, kept=None, rejected=None):
        kept = self.kept if kept is None else kept
        rejected = self.rejected if rejected is None else rejected
        back = looked_up(kept, rejected, self.values)
        return review_sheet(kept, rejected, self.english, "small", share, seed, decided, back)

    def row(self, ident):
        return self.pairs.set_index("pair_id").loc[ident]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("sources"))


def filled(sheet, ident, **cells):
    """`sheet` with what a person wrote into one row."""
    sheet = sheet.copy()
    for column, text in cells.items():
        sheet.loc[sheet["id"] == ident, column] = text
    return sheet


def saved_csv(sheet, path, separator=",", encoding="utf-8-sig", newline="\r\n", quoting=csv.QUOTE_MINIMAL):
    """`sheet` as another program saves it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=newline, quoting=quoting)
    writer.writerows([list(sheet.columns), *sheet.itertuples(index=False)])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


# --- the sheet


def test_the_sheet_holds_what_failed_first_and_says_why(data):
    sheet = data.sheet(share=0.0)
    assert list(sheet.columns) == list(COLUMNS)
    assert list(sheet["id"]) == sorted(data.bad) and len(sheet) > 0
    assert sheet["why"].str.contains("unique_translation: the translation Kreisel stands for ball, top").all()
    first = sheet.iloc[0]
    assert first["english_question"].startswith("Which toy did") and first["english_value"] in ("ball", "top")
    assert first["back_value"] == "ball, top" and first["value"] == "Kreisel" and first["cut"] == "small"
    assert (sheet[["decision", "corrected_question", "corrected_value", "comment"]] == "").all(axis=None)
    assert (sheet.dtypes == "str").all()


def test_of_what_passed_a_seeded_share_is_shown_and_a_larger_share_shows_the_same_rows_and_more(data):
    small, same, large, all_ = (data.sheet(share=s) for s in (0.25, 0.25, 0.5, 1.0))
    assert small.equals(same)
    chosen = [set(sheet.loc[sheet["why"] == "sample", "id"]) for sheet in (small, large, all_)]
    n = len(data.kept)
    assert [len(ids) for ids in chosen] == [-(-n // 4), -(-n // 2), n]
    assert chosen[0] < chosen[1] < chosen[2] == set(data.kept["pair_id"])
    assert chosen[0] != set(data.sheet(share=0.25, seed=1).query("why == 'sample'")["id"])


def test_a_share_outside_0_to_1_is_refused(data):
    with pytest.raises(ValueError, match="review share 2"):
        data.sheet(share=2)


def test_of_several_rounds_the_last_is_shown_and_a_row_that_passed_later_is_none_that_failed(data):
    again = data.rejected.assign(round=1, reason="seen in round 1")
    passed = data.kept["pair_id"].iloc[0]
    early = pd.DataFrame([{**data.rejected.iloc[0].to_dict(), "id": passed}])
    sheet = data.sheet(share=0.0, rejected=pd.concat([data.rejected, again, early], ignore_index=True))
    assert list(sheet["id"]) == sorted(data.bad)
    assert sheet["why"].str.contains("seen in round 1").all() and not sheet["why"].str.contains("stands for").any()


def test_a_language_without_refused_rows_gives_a_sheet_of_samples_only(data):
    sheet = data.sheet(share=1.0, rejected=data.rejected.iloc[:0])
    assert set(sheet["why"]) == {"sample"} and len(sheet) == len(data.kept)
    assert data.sheet(share=0.0, rejected=data.rejected.iloc[:0]).empty


def test_back_translations_are_those_of_the_accepted_attempt_or_the_last(data):
    one, two = data.kept["pair_id"].iloc[:2]
    tried = [(one, 0, "accepted", "a person's"), (one, 1, "refused", "first"), (two, 1, "refused", "first"),
             (two, 2, "refused", "second")]  # fmt: skip
    rounds = pd.DataFrame([
        {"id": ident, "round": r, "verdict": verdict, **{f"back_{part}": f"{said} {part}" for part in TEXTS}}
        for ident, r, verdict, said in tried
    ])  # fmt: skip
    sheet = review_sheet(data.kept, data.rejected, data.english, "small", 1.0, 0, back=attempted(rounds)).set_index(
        "id"
    )
    assert sheet.loc[one, "back_question"] == "a person's question" and sheet.loc[two, "back_answer"] == "second answer"
    assert sheet.loc[data.bad[0], "back_question"] == ""


# --- CSV


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text_in_the_csv_and_comes_back_exactly(text):
    shown = protected(text)
    assert shown[0] not in "=+-@\t\r"
    assert unprotected(shown) == text


def test_a_formula_sign_that_a_program_left_bare_is_read_as_it_is():
    assert unprotected("=1+1") == "=1+1"


@pytest.mark.parametrize("text", FORMULAS)
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
@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_decisions_are_read_as_excel_and_libreoffice_save_them(data, tmp_path, separator, encoding, newline):
    ident = data.kept["pair_id"].iloc[0]
    text = "Ja, „gut“; sehr\tgut\nzwei"
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


# --- XLSX


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


def test_a_date_that_the_spreadsheet_made_of_a_text_is_refused(data, tmp_path):
    import datetime

    write_xlsx(data.sheet(), tmp_path / "de.xlsx")
    book = openpyxl.load_workbook(tmp_path / "de.xlsx")
    column = list(COLUMNS).index("corrected_value") + 1
    book["review"].cell(3, column).value = datetime.datetime(2026, 5, 1)
    book.save(tmp_path / "de.xlsx")
    with pytest.raises(ReviewError, match="de.xlsx, row 3, column corrected_value: the spreadsheet made a date"):
        decisions(tmp_path / "de.xlsx")


def test_control_characters_do_not_break_the_workbook(data, tmp_path):
    write_xlsx(filled(data.sheet(), data.bad[0], comment="a\x0bb\x00"), tmp_path / "de.xlsx")
    page = openpyxl.load_workbook(tmp_path / "de.xlsx")["review"]
    assert "a\ufffdb\ufffd" in {cell.value for row in page.iter_rows() for cell in row}


# --- Label Studio


def annotation(who, when, decision=None, cancelled=False, **texts):
    """One annotation as Label Studio exports it."""
    result = [
        {"id": f"r{name}", "from_name": name, "to_name": "question", "type": "textarea", "origin": "manual",
         "value": {"text": [text]}}
        for name, text in texts.items()
    ]  # fmt: skip
    if decision:
        value = {"choices": [decision]}
        result.append({"id": "d", "from_name": "decision", "to_name": "question", "type": "choices", "value": value})
    return {"id": 41, "completed_by": who, "was_cancelled": cancelled, "ground_truth": False,
            "created_at": "2026-01-01T00:00:00.0Z", "updated_at": when, "result": result}  # fmt: skip


def export(tasks, path, annotations):
    """The export of a project into which `tasks` were imported: {pair_id: its annotations}."""
    content = [
        {"id": number, "project": 4, "data": task["data"], "meta": task["meta"], "drafts": [], "predictions": [],
         "annotations": annotations.get(task["data"]["pair_id"], [])}
        for number, task in enumerate(tasks, start=1)
    ]  # fmt: skip
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_form_has_every_control_and_shows_only_what_the_tasks_hold(data):
    (task, *_) = label_studio.tasks(data.sheet())
    form = ET.parse(ROOT / "resources/review/label_studio.xml").getroot()
    controls = {e.get("name"): e.get("toName") for e in form.iter() if e.get("toName")}
    shown = {e.get("name") for e in form.iter("Text")}
    assert set(controls) == set(label_studio.FIELDS) and set(controls.values()) <= shown
    assert [c.get("value") for c in form.iter("Choice")] == list(DECISIONS)
    variables = {name for e in form.iter() for name in re.findall(r"\$(\w+)", e.get("value") or "")}
    assert variables and variables <= set(task["data"])
    assert all(isinstance(text, str) for text in task["data"].values())
    made = {
        r["from_name"]: r["to_name"]
        for r in label_studio._prediction(dict.fromkeys(label_studio.FIELDS, "x"))[0]["result"]
    }
    assert made == controls


def test_tasks_say_what_failed_and_carry_earlier_decisions_as_predictions(data):
    sheet = filled(data.sheet(), data.bad[0], decision="reject", comment="both")
    tasks = {t["data"]["pair_id"]: t for t in label_studio.tasks(sheet)}
    assert "unique_translation" in tasks[data.bad[0]]["meta"]["why"]
    assert tasks[data.kept["pair_id"].iloc[0]]["meta"]["why"] == "sample"
    values = {r["from_name"]: r["value"] for r in tasks[data.bad[0]]["predictions"][0]["result"]}
    assert values == {"decision": {"choices": ["reject"]}, "comment": {"text": ["both"]}}
    assert tasks[data.kept["pair_id"].iloc[0]]["predictions"] == []


def test_an_export_gives_its_decisions_without_skipped_ones(data, tmp_path):
    tasks = label_studio.tasks(data.sheet())
    one, two, three, four = data.kept["pair_id"].iloc[:4]
    path = export(tasks, tmp_path / "de.json", {
        one: [annotation(3, "2026-02-01T10:00:00Z", "correct", corrected_answer="Neu.")],
        two: [annotation({"id": 7, "email": "b@x.org"}, "2026-02-01T10:00:00Z", "reject", comment="odd")],
        three: [annotation(3, "2026-02-01T10:00:00Z", "approve", cancelled=True)],
        four: [annotation(3, "2026-02-01T10:00:00Z")],
    })  # fmt: skip
    found = decisions(path, ids=set(data.pairs["pair_id"]), cut="small").set_index("id")
    assert set(found.index) == {one, two}
    assert found.loc[one, ["decision", "answer", "reviewer"]].tolist() == ["correct", "Neu.", "3"]
    assert found.loc[one, "question"] == data.row(one)["question"]
    assert found.loc[two, ["decision", "comment", "reviewer"]].tolist() == ["reject", "odd", "b@x.org"]


def test_of_several_annotators_the_newest_counts_and_disagreement_is_told(data, tmp_path):
    tasks = label_studio.tasks(data.sheet())
    one, two, three = data.kept["pair_id"].iloc[:3]
    path = export(tasks, tmp_path / "de.json", {
        one: [annotation(1, "2026-02-03T09:00:00+00:00", "reject"), annotation(2, "2026-02-02T23:00:00Z", "approve")],
        two: [annotation(1, "2026-02-03T09:00:00Z", "approve"), annotation(2, "2026-02-02T23:00:00Z", "approve")],
        three: [annotation(1, "2026-02-01T09:00:00Z", "reject"), annotation(1, "2026-02-02T23:00:00Z", "approve")],
    })  # fmt: skip
    found = decisions(path).set_index("id")
    assert found["decision"].to_dict() == {one: "reject", two: "approve", three: "approve"}
    assert found.loc[one, "note"] == "annotators disagree (2: approve; 1: reject); the newest counts, 1's"
    assert not found.loc[two, "note"] and not found.loc[three, "note"]  # 1 only changed their mind


@pytest.mark.parametrize("content, words", [
    ("{}", "not Label Studio's JSON export"), ("[", "not JSON"), ('[{"id": 1, "decision": "approve"}]', "not JSON-MIN"),
    ('[{"id": 9, "data": {}, "annotations": []}]', "task 9: no pair_id"),
])  # fmt: skip
def test_another_json_is_refused(tmp_path, content, words):
    (tmp_path / "de.json").write_text(content)
    with pytest.raises(ReviewError, match=words):
        decisions(tmp_path / "de.json")


# --- what is refused


@pytest.mark.parametrize("cells, words", [
    ({"decision": "approved"}, r"row 2, column decision: no decision 'approved'. Did you mean 'approve'\? There"),
    ({"decision": "ok"}, "row 2, column decision: no decision 'ok'. There are: approve, correct, reject; leave it"),
    ({"decision": "correct"}, "row 2, column decision: 'correct' without a correction; fill at least one of"),
    ({"decision": "approve", "corrected_value": "x"}, "row 2, column corrected_value: a correction, but .* 'approve'"),
    ({"corrected_answer": "x"}, "row 2, column corrected_answer: a correction, but the decision is 'empty'"),
    ({"decision": "reject", "id": ""}, "row 2, column id: empty"),
    ({"decision": "reject", "id": "memorised0000/toys/de"}, "row 2, column id: no row 'memorised0000/toys/de'. Did"),
    ({"decision": "correct", "corrected_value": "#NAME?"}, "row 2, column corrected_value: #NAME\\? comes from a"),
])  # fmt: skip
@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_a_wrong_row_is_refused_with_file_row_column_and_fix(data, tmp_path, cells, words, end):
    sheet = data.sheet()
    sheet.loc[0, list(cells)] = list(cells.values())
    (write_csv if end == "csv" else write_xlsx)(sheet, tmp_path / f"de.{end}")
    with pytest.raises(ReviewError, match=rf"de.{end}, {words}"):
        decisions(tmp_path / f"de.{end}", ids=set(data.pairs["pair_id"]))


def test_rows_that_disagree_are_refused_within_and_across_files_and_equal_ones_are_not(data, tmp_path):
    ident, a, b = data.bad[0], tmp_path / "a.csv", tmp_path / "b.xlsx"
    write_csv(filled(data.sheet(), ident, decision="reject"), a)
    write_xlsx(filled(data.sheet(), ident, decision="reject"), b)
    assert decisions([a, b])["id"].tolist() == [ident]
    write_xlsx(filled(data.sheet(), ident, decision="approve"), b)
    with pytest.raises(
        ReviewError, match=rf"b.xlsx, row 2: approve for '{ident}', but .*a.csv, row 2 says reject; keep"
    ):
        decisions([a, b])
    write_csv(pd.concat([filled(data.sheet(), ident, decision="correct", corrected_value=v) for v in "xy"]), a)
    with pytest.raises(ReviewError, match="says correct with another text"):
        decisions(a)


def test_many_mistakes_are_told_at_once_but_not_all(data, tmp_path):
    write_csv(data.sheet().assign(decision="maybe"), tmp_path / "de.csv")
    with pytest.raises(ReviewError) as told:
        decisions(tmp_path / "de.csv")
    assert str(told.value).count("no decision 'maybe'") == 10 and str(told.value).endswith("… and more")


@pytest.mark.parametrize("header, words", [
    ("id,desicion,comment", "row 1: no column 'decision'. Did you mean 'desicion'"),
    ("decision,comment,why", "row 1: no column 'id'"),
    ("id,decision,corrected_anwser", "no correction is called 'corrected_anwser'. Did you mean 'corrected_answer'"),
])  # fmt: skip
def test_a_changed_header_is_refused(tmp_path, header, words):
    (tmp_path / "de.csv").write_text(header + "\nx,y,z\n")
    with pytest.raises(ReviewError, match=words):
        decisions(tmp_path / "de.csv")


@pytest.mark.parametrize("name, raw, words", [
    ("de.csv", "id,decision\nä,approve\n".encode("latin-1"), "not UTF-8 text .*CSV UTF-8"), ("de.csv", b"", "empty"),
    ("de.csv", b"id,decision\na,b,c\n", "row 2: 3 cells, the header has 2"), ("de.xlsx", b"PK", "not a readable XLSX"),
    ("de.ods", b"", "decisions are read from .csv, .tsv, .xlsx, .json"),
])  # fmt: skip
def test_another_file_is_refused(tmp_path, name, raw, words):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ReviewError, match=words):
        decisions(tmp_path / name)
    with pytest.raises(ReviewError, match="no such file"):
        decisions(tmp_path / "none.csv")


def test_decisions_of_another_cut_do_not_count(data, tmp_path):
    write_csv(data.sheet().assign(decision="approve"), tmp_path / "de.csv")
    assert decisions(tmp_path / "de.csv", ids=set(), cut="full").empty
    assert len(decisions(tmp_path / "de.csv", ids=set(data.pairs["pair_id"]), cut="small")) == len(data.pairs)


def test_no_files_are_no_decisions():
    assert list(decisions([]).columns) == list(RESULT) and decisions([]).empty


# --- what decisions do


def decided(data, tmp_path, ident, **cells):
    write_csv(filled(data.sheet(), ident, **cells), tmp_path / "decided.csv")
    return decisions(tmp_path / "decided.csv", ids=set(data.pairs["pair_id"]), cut="small")


def test_without_decisions_the_checks_decide_alone(data):
    kept, refused, notes = check_reviewed(data.pairs, decisions([]), data.context)
    pd.testing.assert_frame_equal(kept, data.kept)
    pd.testing.assert_frame_equal(refused, data.rejected)
    assert notes == []


def test_a_rejected_row_is_refused_with_the_comment_and_its_content(data, tmp_path):
    ident = data.kept["pair_id"].iloc[1]
    said = decided(data, tmp_path, ident, decision="reject", comment="nobody says so", reviewer="a@x.org")
    kept, refused, _ = check_reviewed(data.pairs, said, data.context)
    assert list(kept["pair_id"]) == [i for i in data.kept["pair_id"] if i != ident]
    row = refused[refused["id"] == ident].iloc[0]
    assert (row["check"], row["reason"]) == ("review", "rejected by a person: nobody says so")
    assert json.loads(row["content"]) == data.row(ident).to_dict() | {"pair_id": ident}
    assert "a@x.org" not in refused.to_json()  # who reviews is not published
    to_table(refused, "rejected")


def test_an_approved_row_is_kept_in_its_place_though_a_check_refuses_it(data, tmp_path):
    ident = data.bad[0]
    kept, refused, _ = check_reviewed(data.pairs, decided(data, tmp_path, ident, decision="approve"), data.context)
    assert list(kept["pair_id"]) == [i for i in data.pairs["pair_id"] if i == ident or i not in data.bad]
    assert ident not in set(refused["id"]) and set(refused["id"]) == set(data.bad) - {ident}


def test_a_corrected_row_passes_the_checks_with_its_new_value(data, tmp_path):
    ident = next(i for i in data.bad if data.row(i)["english_value"] == "ball")
    said = decided(data, tmp_path, ident, decision="correct", corrected_value=WORDS["ball"])
    kept, refused, _ = check_reviewed(data.pairs, said, data.context)
    row = kept.set_index("pair_id").loc[ident]
    assert row["value"] == "Ball" and row["answer"] == data.row(ident)["answer"].replace("Kreisel", "Ball")
    assert ident not in set(refused["id"])
    to_table(kept, "pairs")


@pytest.mark.parametrize("cells, check", [
    ({"corrected_value": "Drachen"}, "unique_translation"),  # the kite's word
    ({"corrected_value": "Drachen"}, "unique_back_translation"),
    ({"corrected_value": "Drächen"}, "unique_back_translation"),  # spelt like the kite but for an accent
    ({"corrected_answer": "Er mochte das Spielzeug."}, "answer_contains_value"),
    ({"corrected_question": "Which toy did she like when she was a child?"}, "language_identified"),
])  # fmt: skip
def test_a_correction_that_a_check_refuses_stays_out_and_says_why(data, tmp_path, cells, check):
    ident = next(i for i in data.bad if data.row(i)["english_value"] == "ball")
    said = decided(data, tmp_path, ident, decision="correct", **cells)
    kept, refused, _ = check_reviewed(data.pairs, said, data.context)
    assert ident not in set(kept["pair_id"])
    row = refused[(refused["id"] == ident) & (refused["check"] == check)].iloc[0]
    assert row["round"] == 1
    assert {i for i in refused["id"]} == set(data.bad)  # others with the kite's word are not blamed


def test_a_decision_about_an_earlier_text_does_not_count_and_is_told(data, tmp_path):
    one, two, three = data.kept["pair_id"].iloc[:3]
    sheet = filled(data.sheet(), one, decision="reject", answer="Ganz anders.")
    sheet = filled(sheet, two, decision="correct", corrected_answer="Neu.", english_value="another fact")
    sheet = filled(sheet, three, decision="reject", answer="  ".join(data.row(three)["answer"].split()))
    write_csv(sheet, tmp_path / "de.csv")
    kept, _, notes = check_reviewed(data.pairs, decisions(tmp_path / "de.csv"), data.context)
    assert set(data.kept["pair_id"]) - set(kept["pair_id"]) == {three}  # spaces only
    assert kept.set_index("pair_id").loc[two, "answer"] == data.row(two)["answer"]
    assert notes == [f"{i}: the decision '{w}' was about another text; look at the row again"
                     for i, w in ((one, "reject"), (two, "correct"))]  # fmt: skip


@pytest.mark.parametrize("write, end", [(write_csv, "csv"), (write_xlsx, "xlsx")])
def test_a_new_sheet_carries_earlier_decisions_and_gives_them_back(data, tmp_path, write, end):
    ball = next(i for i in data.bad if data.row(i)["english_value"] == "ball")
    good, poor = data.kept["pair_id"].iloc[:2]
    sheet = filled(data.sheet(), ball, decision="correct", corrected_value="Ball", comment="the round one")
    sheet = filled(filled(sheet, good, decision="approve"), poor, decision="reject")
    write(sheet, tmp_path / f"first.{end}")
    first = decisions(tmp_path / f"first.{end}", cut="small")
    kept, refused, _ = check_reviewed(data.pairs, first, data.context)
    again = data.sheet(share=0.0, decided=first, kept=kept, rejected=refused)
    assert {ball, good, poor} <= set(again["id"])
    write(again, tmp_path / f"second.{end}")
    second = decisions(tmp_path / f"second.{end}", cut="small")
    columns = ["id", "decision", *TEXTS, "comment"]
    a, b = (frame[columns].fillna("").sort_values("id", ignore_index=True) for frame in (first, second))
    pd.testing.assert_frame_equal(a, b)
    pd.testing.assert_frame_equal(check_reviewed(data.pairs, second, data.context)[0], kept)


def test_a_new_sheet_says_that_an_earlier_decision_no_longer_fits(data):
    ident = data.kept["pair_id"].iloc[0]
    said = pd.DataFrame([dict.fromkeys(RESULT) | {"id": ident, "decision": "approve", "answer": "Anders."}])
    row = data.sheet(share=0.0, decided=said).set_index("id").loc[ident]
    assert row["why"] == "sample; earlier decision 'approve' was about another text" and row["decision"] == ""
