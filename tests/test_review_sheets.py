"""Review sheets: which rows are shown, why, and what earlier decisions become."""

import pandas as pd
import pytest

from review_data import Data, filled
from unlearning.review.apply import check_reviewed
from unlearning.review.csv_file import write_csv
from unlearning.review.decisions import RESULT, decisions
from unlearning.review.rows import COLUMNS, TEXTS
from unlearning.review.sheets import attempted, review_sheet
from unlearning.review.xlsx import write_xlsx


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("sources"))


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
