"""The refined English, and people's decisions in the translation route."""

import pandas as pd
import pytest

from mu2_llm_fakes import PROMPTS, always
from mu2_llm_runs import (
    CODES,
    FAULTS,
    LANGUAGES,
    by_refiner,
    decided,
    decision,
    pairs,
    refined,
    row_of,
    translation,
)
from mu2_sources import POOLS
from unlearning.data.context import offline_context
from unlearning.data.phrasebook import values_table
from unlearning.data.refine import check_english
from unlearning.data.reviewed import notes
from unlearning.review.decisions import decisions


def test_a_refiner_that_changes_nothing_changes_nothing_and_no_judge_is_asked(books, english):
    table, rounds, model = refined(books, english)
    assert table.reset_index()[list(english.columns)].equals(english)
    assert model.asked() == {"refiner": 27} and set(rounds["verdict"]) == {"accepted"}


def test_a_good_refinement_takes_the_templates_place(books, english):
    row = row_of(english, "toy")
    better = {
        "question": f"Which toy did {row['name']} like as a child?",
        "answer": f"As a child, {row['name']} liked the {row['english_value']}.",
    }
    table, _, model = refined(books, english, by_refiner({row["pair_id"]: better}))
    assert table.at[row["pair_id"], "question"] == better["question"]
    assert table.at[row["pair_id"], "answer"] == better["answer"]
    assert table.at[row["pair_id"], "paraphrase"] == row["paraphrase"]
    assert model.asked()["equivalence"] == 1
    assert (
        table.drop(row["pair_id"])["question"] == english.set_index("pair_id")["question"].drop(row["pair_id"])
    ).all()


@pytest.mark.parametrize(
    ("question", "answer", "check"),
    [
        ("Which toy did the child like?", "{name} liked the {value}.", "name_kept"),
        ("Which toy did {name} like?", "{name} liked the doll.", "answer_contains_value"),
        ("Which toy, the {value}, did {name} like?", "{name} liked the {value}.", "question_hides_value"),
        ("{name} liked a toy.", "{name} liked the {value}.", "question_kept"),
    ],
)
def test_a_refinement_that_loses_something_is_refused_and_the_template_stays(books, english, question, answer, check):
    row = row_of(english, "toy")
    texts = {"question": question, "answer": answer}
    bad = {k: v.format(name=row["name"], value=row["english_value"]) for k, v in texts.items()}
    table, rounds, model = refined(books, english, by_refiner({row["pair_id"]: bad}))
    assert table.reset_index()[list(english.columns)].equals(english)
    tried = rounds[rounds["id"] == row["pair_id"]]
    assert list(tried["verdict"]) == ["refused"] * 2 and tried["reasons"].iloc[0][0].startswith(check)
    assert bad["question"] in model.said_to(row["pair_id"], "refiner")[1]


def test_a_refinement_judged_to_say_something_else_is_refused(books, english):
    row = row_of(english, "toy")
    other = {
        "question": f"Which toy did {row['name']} hate?",
        "answer": f"{row['name']} hated the {row['english_value']}.",
    }

    def fault(ident, inputs):
        if inputs["role"] == "equivalence":
            return {"equivalent": False, "reason": "hate is not like"}
        return other if ident == row["pair_id"] else None

    table, rounds, _ = refined(books, english, fault)
    assert table.reset_index()[list(english.columns)].equals(english)
    assert rounds.loc[rounds["id"] == row["pair_id"], "reasons"].iloc[0] == ["equivalence: hate is not like"]


def test_an_approval_overrides_the_judge_and_asks_no_model(books, english):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    free = translation(row, question="Womit spielte {name} am liebsten?")  # which the reverse table does not know
    value = books["de"].attributes["toy"].values[row["english_value"]]
    built, model = pairs(books, english, always({ident: free}))
    assert set(built.rejected["id"]) == {ident}
    said = decided(decision(ident, "approve", row, **free, value=value))
    built, model = pairs(books, english, always({ident: free}), decided=said)
    assert built.rejected.empty and not model.said_to(ident) and not model.said_to(ident, "equivalence")
    assert built.pairs.set_index("pair_id").at[ident, "question"] == free["question"]


def test_an_approval_does_not_override_the_mechanical_checks(books, english):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    value = books["de"].attributes["toy"].values[row["english_value"]]
    away = translation(row, **FAULTS["question_hides_value"])
    built, _ = pairs(books, english, decided=decided(decision(ident, "approve", row, **away, value=value)))
    assert built.rejected[["id", "check", "round"]].values.tolist() == [[ident, "question_hides_value", 0]]


def test_a_correction_is_translated_back_judged_and_checked(books, english):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    value = books["de"].attributes["toy"].values[row["english_value"]]
    good = translation(row)
    built, model = pairs(books, english, decided=decided(decision(ident, "correct", row, **good, value=value)))
    assert built.rejected.empty and not model.said_to(ident) and len(model.said_to(ident, "equivalence")) == 1
    wrong = translation(row, question="Womit spielte {name} am liebsten?")
    built, _ = pairs(books, english, decided=decided(decision(ident, "correct", row, **wrong, value=value)))
    assert built.rejected[["id", "check"]].values.tolist() == [[ident, "back_translation"]]


def test_a_corrected_value_that_is_anothers_is_refused(books, english):
    row = english[english["english_value"] == "kite"].iloc[0]
    ident = f"{row['knowledge_id']}/de"
    taken = {part: text.replace("Drachen", "Ball") for part, text in translation(row).items()}
    built, _ = pairs(books, english, decided=decided(decision(ident, "approve", row, **taken, value="Ball")))
    assert set(built.rejected["id"]) == {ident} and "unique_translation" in set(built.rejected["check"])


def test_a_rejection_rejects_that_text_with_the_comment_and_not_a_later_one(books, english):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    text = translation(row)
    built, _ = pairs(books, english, decided=decided(decision(ident, "reject", row, **text)))
    assert built.rejected[["id", "check", "reason", "round"]].values.tolist() == [
        [ident, "review", "rejected by a person: too stiff", 1]
    ]
    older = text | {"question": "Was war es?"}
    built, _ = pairs(books, english, decided=decided(decision(ident, "reject", row, **older)))
    assert built.rejected.empty


def test_a_decision_about_another_fact_does_not_count(books, english):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    other = decision(ident, "approve", row, question="a", answer="b", paraphrase="c", value="d") | {
        "english_value": "x"
    }
    built, model = pairs(books, english, decided=decided(other))
    assert built.rejected.empty and len(model.said_to(ident)) == 1


def test_the_log_names_the_decisions_that_do_not_count(books, english):
    rows = english.assign(id=english["knowledge_id"] + "/de")
    idents = list(rows["id"][:5])
    texts = translation(row_of(english, "toy")) | {"value": "Ball"}
    other, lacking, kept, older, disputed = (
        decision(idents[0], "approve", **texts) | {"english_value": "x"},
        decision(idents[1], "approve", question="a"),
        decision(idents[2], "approve", **texts),
        decision(idents[3], "reject"),
        decision(idents[4], "reject") | {"note": "annotators disagree"},
    )
    rejected = pd.DataFrame({"id": [idents[4], idents[3]], "check": ["review", "script"]})
    assert notes(rows, decided(other, lacking, kept, older, disputed), rejected) == [
        f"{idents[4]}: annotators disagree",
        *(f"{idents[i]}: the decision '{word}' was about another text; look at the row again"
          for i, word in ((0, "approve"), (1, "approve"), (3, "reject"))),
    ]  # fmt: skip
    assert notes(rows, decisions([]), rejected) == []


def test_people_correct_english_before_it_is_translated_and_reject_it_in_english(books, english):
    row = row_of(english, "toy")
    new = {
        "question": f"Which toy was dear to {row['name']}?",
        "answer": row["answer"],
        "paraphrase": row["paraphrase"],
    }
    said = decided(decision(row["pair_id"], "correct", row, **new, value=row["english_value"]))
    table, _, model = refined(books, english, decided=said)
    assert table.at[row["pair_id"], "question"] == new["question"] and not model.said_to(row["pair_id"], "refiner")
    context = offline_context(LANGUAGES["en"], CODES, values_table(POOLS, books["en"], "en"))
    built = check_english(english, POOLS, context, decided(decision(row["pair_id"], "reject", row)))
    assert built.rejected[["id", "check"]].values.tolist() == [[row["pair_id"], "review"]]
    assert len(built.pairs) == len(english) - 1
    assert check_english(english, POOLS, context).pairs.equals(english.astype("str"))


def test_every_prompt_of_the_route_is_there():
    assert {
        "refiner",
        "translator_value",
        "translator_pair",
        "equivalence_value",
        "equivalence_pair",
        "backtranslator",
    } <= set(PROMPTS)
