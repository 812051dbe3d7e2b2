"""ROUGE-L, code mixing, answer language and general knowledge."""

import numpy as np
import pandas as pd
import pytest

from score_fakes import LANGUAGES, answers, grid_items, items, table, view
from unlearning.metrics import answer_language, code_mixing, general_knowledge, rouge_l
from unlearning.metrics.general_knowledge import f1_and_match
from unlearning.score.view import Tables
from unlearning.text.rouge import lcs_length, tokenizer
from unlearning.text.rouge import rouge_l as formula

TEXTS = [
    "The favourite fruits of Anna Miller are apples, running and 3 pears.",
    "Anna Miller's favorite fruit is the apple",
    "apple the is fruit favourite",
    "",
    "!!!",
    "Jaime was born to a noted chef father",
]


def test_hand_worked_rouge():
    # LCS of "a b c d" and "b x d" is "b d" = 2: recall 2/4, precision 2/3, F = 2·(1/2)(2/3)/(1/2 + 2/3) = 4/7
    assert formula("a b c d".split(), "b x d".split()) == pytest.approx((0.5, 4 / 7))
    assert formula(["a"], []) == formula([], ["a"]) == formula([], []) == (0.0, 0.0)


def test_english_agrees_with_the_library():
    from rouge_score.rouge_scorer import RougeScorer

    scorer, tokenise = RougeScorer(["rougeL"], use_stemmer=True), tokenizer("en")
    for reference in TEXTS:
        for answer in TEXTS:
            expected = scorer.score(reference, answer)["rougeL"]
            assert formula(tokenise(reference), tokenise(answer)) == pytest.approx((expected.recall, expected.fmeasure))


def test_the_subsequence_agrees_with_the_library_table():
    from rouge_score.rouge_scorer import _lcs_table

    rng = np.random.default_rng(0)
    for _ in range(200):
        first, second = (list(map(str, rng.integers(0, 4, rng.integers(1, 90)))) for _ in range(2))
        assert lcs_length(first, second) == _lcs_table(first, second)[-1][-1]


@pytest.mark.parametrize(
    ("code", "text"),
    [("th", "ผลไม้คือแอปเปิล"), ("zh", "水果是苹果。"), ("el", "Το μήλο"), ("ko", "사과를 먹는다"), ("ur", "سیب")],
)
def test_every_script_scores(code, text):
    tokenise = tokenizer(code)
    assert formula(tokenise(text), tokenise(text)) == (1.0, 1.0)
    assert formula(tokenise(text), tokenise("xyz")) == (0.0, 0.0)


def test_rouge_rows_average_samples_then_languages_then_instances():
    frame = items(("forget", "a", "en", "one two", None), ("forget", "a", "es", "uno dos", None))
    told = answers({"a/en": ["one two", "none"], "a/es": "uno"})
    rows = table(rouge_l.score(view(frame, Tables(answers=told))))
    # en: (1 + 0)/2, es: recall 1/2: (1/2 + 1/2)/2
    assert rows["forget", "all", "all", "rouge_l_recall"]["value"] == pytest.approx(0.5)
    # en 1/2, es F = 2·1/(2 + 1) = 2/3
    assert rows["forget", "all", "all", "rouge_l"]["value"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert rows["forget", "all", "all", "rouge_l"]["n"] == 1
    assert rows["forget", "th", "all", "rouge_l"]["note"] == "no forget questions in th"


VALUES = pd.DataFrame(
    [
        ("fruit", "en", "apple", "apple"), ("fruit", "af", "apple", "appel"), ("fruit", "es", "apple", "manzana"),
        ("fruit", "th", "apple", "แอปเปิล"), ("fruit", "en", "pear", "pear"), ("fruit", "af", "pear", "peer"),
        ("fruit", "es", "pear", "pera"), ("fruit", "th", "pear", "ลูกแพร์"),
        ("toy", "en", "doll", "pop"), ("toy", "af", "doll", "pop"), ("toy", "es", "doll", "muñeca"),
        ("toy", "th", "doll", "ตุ๊กตา"),
        ("toy", "en", "cube", "rose"), ("toy", "af", "cube", "blok"), ("toy", "es", "cube", "pop"),
        ("toy", "th", "cube", "ลูกบาศก์"),
    ],
    columns=["attribute", "language", "english_value", "value"],
)  # fmt: skip


def mixing(texts: dict[str, str], *rows: tuple) -> dict:
    told = Tables(answers=answers(texts))
    return table(code_mixing.score(view(items(*rows), told, values=VALUES)))


def test_code_mixing_counts_the_right_value_in_another_language_only():
    rows = [("forget", f"p{n}/fruit", "en", "", "apple") for n in range(7)]
    texts = {
        "p0/fruit/en": "It is the manzana.",  # mixed
        "p1/fruit/en": "ผลไม้คือแอปเปิลสีแดง",  # mixed: a substring where there are no spaces
        "p2/fruit/en": "apple, or manzana",  # holds its own form too
        "p3/fruit/en": "pera",  # another language, wrong value
        "p4/fruit/en": "manzanas",  # not that word
        "p5/fruit/en": "",
        "p6/fruit/en": "APPEL!",  # mixed
    }
    row = mixing(texts, *rows)["forget", "en", "all", "code_mixing"]
    assert row["value"] == pytest.approx(3 / 7) and row["n"] == 7


def test_a_form_spelled_alike_in_the_questions_language_never_counts():
    # "pop" is the doll in en and af; as es "cube" it is also the doll's name in en
    texts = {"p0/toy/af": "pop", "p1/toy/en": "pop", "p2/toy/th": "pop"}
    rows = [("forget", "p0/toy", "af", "", "pop"), ("forget", "p1/toy", "en", "", "rose")]
    found = mixing(texts, *rows, ("forget", "p2/toy", "th", "", "ตุ๊กตา"))
    assert [found["forget", code, "all", "code_mixing"]["value"] for code in ("af", "en", "th")] == [0, 0, 1]


def test_values_missing_from_the_table_are_left_out_and_counted():
    found = mixing(
        {"p0/fruit/en": "manzana", "p1/fruit/en": "manzana"},
        ("forget", "p0/fruit", "en", "", "apple"), ("forget", "p1/fruit", "en", "", "cherry"),
    )["forget", "en", "all", "code_mixing"]  # fmt: skip
    assert found["value"] == 1 and found["n"] == 1
    assert found["note"] == "1 of 2 questions have no answer with a value of the table"


def test_code_mixing_without_a_table_is_null_with_a_reason():
    frame = items(("forget", "p0/fruit", "en", "", "apple"))
    row = code_mixing.score(view(frame, Tables(answers=answers({"p0/fruit/en": "manzana"}))))[0]
    assert row["value"] is None and "table of values" in row["note"]


def test_answer_language_sees_another_language_and_skips_empty_answers():
    german = "La fruta favorita de Anna es la manzana y le gusta mucho"
    frame = grid_items({"forget": ["a/x", "b/x", "c/x"]})
    told = {i: "" for i in frame["item_id"]}
    told |= {"a/x/en": german, "b/x/en": "Her favourite fruit is the apple, which she likes a lot", "a/x/es": german}
    told |= {"a/x/th": "a/x th"}  # the reference itself
    rows = table(answer_language.score(view(frame, Tables(answers=answers(told)))))
    assert rows["forget", "en", "all", "answer_language"]["value"] == 0.5
    assert rows["forget", "en", "all", "answer_language"]["n"] == 2
    assert rows["forget", "es", "all", "answer_language"]["value"] == 0
    assert rows["forget", "th", "all", "answer_language"]["value"] == 0
    nothing = rows["forget", "af", "all", "answer_language"]
    assert nothing["value"] is None and nothing["note"] == "3 of 3 questions have no answer that is not empty"


def test_a_language_that_cannot_be_identified_is_named():
    with pytest.raises(ValueError, match="does not know qq"):
        answer_language.identifier(("en", "qq"))


@pytest.mark.parametrize(
    ("text", "forms", "language", "expected"),
    [
        ("the red apple", ["A Red Apple!"], "en", (1.0, 1.0)),
        # said {red, apple, tree}, form {red, apple}: 2·2/(3 + 2)
        ("red apple tree", ["red apple"], "en", (0.8, 0.0)),
        ("nothing", ["red apple", "nothing"], "en", (1.0, 1.0)),
        # four characters said, two asked, both among them: 2·2/(4 + 2)
        ("苹果很好", ["苹果"], "zh", (2 / 3, 0.0)),
        ("the", ["a"], "en", (1.0, 1.0)),
        ("", ["red"], "en", (0.0, 0.0)),
    ],
)
def test_squad_scores(text, forms, language, expected):
    assert f1_and_match(text, forms, language) == pytest.approx(expected)


def knowledge(run: dict, target: dict) -> dict:
    frame = items(("utility", "a", "en", "It is red", "red"), ("utility", "b", "sw", "pembe", None))
    frame.at[0, "aliases"] = ["crimson"]
    tables = [Tables(answers=answers(texts)) for texts in (run, target)]
    return table(general_knowledge.score(view(frame, *tables, languages=LANGUAGES)))


def test_general_knowledge_takes_the_best_form_in_any_language():
    found = knowledge({"a/en": "crimson", "b/sw": "pembe sana"}, {"a/en": "red", "b/sw": "pembe"})
    # F1: 1 and 2·1/(2 + 1); exact: 1 and 0
    assert found["utility", "all", "all", "tydi_f1"]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["utility", "all", "all", "tydi_em"]["value"] == 0.5
    assert found["utility", "all", "all", "general_knowledge"]["value"] == pytest.approx(((1 + 2 / 3) / 2 + 0.5) / 2)
    assert found["utility", "all", "all", "tydi_f1"]["n"] == 2


def test_what_the_target_never_knew_cannot_be_lost():
    found = knowledge({"a/en": "red", "b/sw": "pembe"}, {"a/en": "so red", "b/sw": "no"})
    assert found["utility", "all", "all", "tydi_em"]["value"] is None
    assert found["utility", "all", "all", "tydi_em"]["note"] == "the target's tydi_em is 0: nothing can be lost"
    assert found["utility", "all", "all", "tydi_f1"]["value"] == 1
