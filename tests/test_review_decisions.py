"""Decisions of reviewers: what is refused when they are read, and what they do to the data."""

import json

import pandas as pd
import pytest

from mu2_sources import WORDS
from review_data import Data, decided, filled
from unlearning.review.apply import check_reviewed
from unlearning.review.csv_file import write_csv
from unlearning.review.decisions import RESULT, decisions
from unlearning.review.rows import ReviewError
from unlearning.review.xlsx import write_xlsx
from unlearning.tables.artifacts import to_table


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("sources"))


@pytest.mark.parametrize("cells, words", [
    ({"decision": "approved"}, r"row 2, column decision: no decision 'approved'. Did you mean 'approve'\? There"),
    ({"decision": "ok"}, "row 2, column decision: no decision 'ok'. There are: approve, correct, reject; leave it"),
    ({"decision": "correct"}, "row 2, column decision: 'correct' without a correction; fill at least one of"),
    ({"decision": "approve", "corrected_value": "x"},
     "row 2, column decision: 'approve', but corrected_value holds a correction; write 'correct' there, or clear"),
    ({"corrected_answer": "x", "corrected_value": "y"},
     r"row 2, column decision: empty, but corrected_answer, corrected_value hold a correction; write 'correct' there, "
     r"or clear corrected_answer, corrected_value \(allowed: approve, correct, reject, or empty for undecided\)"),
    ({"decision": "reject", "id": ""}, "row 2, column id: empty"),
    ({"decision": "reject", "id": "memorised0000/toys/de"}, "row 2, column id: no row 'memorised0000/toys/de'. Did"),
    ({"decision": "correct", "corrected_value": "#NAME?"}, "row 2, column corrected_value: #NAME\\? comes from a"),
    ({"decision": "correct", "value": "007", "corrected_value": "7"},
     "row 2, column corrected_value: '7', where the sheet shows '007': the spreadsheet took it for a number; type"),
])  # fmt: skip
@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_a_wrong_row_is_refused_with_file_row_column_and_fix(data, tmp_path, cells, words, end):
    sheet = data.sheet()
    sheet.loc[0, list(cells)] = list(cells.values())
    (write_csv if end == "csv" else write_xlsx)(sheet, tmp_path / f"de.{end}")
    with pytest.raises(ReviewError, match=rf"de.{end}, {words}"):
        decisions(tmp_path / f"de.{end}", ids=set(data.pairs["pair_id"]))


@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_rows_of_another_language_are_refused_whatever_they_say(data, tmp_path, end):
    sheet = data.sheet().assign(cut="another")  # undecided, and of a cut that is passed over
    (write_csv if end == "csv" else write_xlsx)(sheet, tmp_path / f"mk.{end}")
    with pytest.raises(ReviewError, match=rf"mk.{end}, row 2, column language: 'de', .* for 'mk'; put the row into"):
        decisions(tmp_path / f"mk.{end}", cut="small", language="mk")
    assert decisions(tmp_path / f"mk.{end}", cut="small", language="de").empty
    write_csv(filled(data.sheet(), data.bad[0], language="DE ", decision="reject"), tmp_path / "de.csv")
    assert len(decisions(tmp_path / "de.csv", language="de")) == 1


@pytest.mark.parametrize("value", ["17", "a1007", "70", "0071", "7"])
def test_a_number_that_lost_no_zeros_is_a_text_like_any_other(data, tmp_path, value):
    said = decided(data, tmp_path, data.bad[0], decision="correct", value=value, corrected_value="7")
    assert said["value"].tolist() == ["7"]


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
    ("id,decision,coment", "no column is called 'coment'. Did you mean 'comment'.* Rename it; a column of your own"),
    ("id,decision,english value,engl_value,languge", "called 'languge'. Did you mean 'language'"),
    ("id,Decision,comment,decision ", "row 1: decision stands over two columns; take one of them away"),
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
