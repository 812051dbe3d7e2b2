"""The rule judge, and the words it looks for."""

import numpy as np
import pytest

from score_fakes import answers, items
from unlearning.judges.rule import Forms, judge, verdict
from unlearning.tables.artifacts import check, to_table
from unlearning.text.words import contains, normalise, tokens, without


def right(text: str, value: str, language: str = "en", wrong: tuple = ()) -> bool:
    return verdict(text, Forms("", (normalise(value),), tuple(map(normalise, wrong)), language))[0]


@pytest.mark.parametrize(
    ("text", "value", "language", "expected"),
    [
        ("Her favourite colour is RED.", "red", "en", True),
        ("She reads by the redwood.", "red", "en", False),
        ("It is New-York!", "new york", "en", True),
        ("Die Straße", "STRASSE", "de", True),
        ("ﬁve", "five", "en", True),  # a ligature
        ("ผลไม้คือแอปเปิลเขียว", "แอปเปิล", "th", True),  # no spaces: a substring
        ("她最喜欢的水果是苹果。", "苹果", "zh", True),
        ("제일 좋아하는 과일은 사과입니다", "사과", "ko", True),  # a particle is written onto it
        ("풋사과입니다", "사과", "ko", False),  # inside another word
        ("Ее јаболко", "јаболко", "mk", True),
        ("", "red", "en", False),
        ("  \n", "red", "en", False),
        ("...", "...", "en", False),  # nothing is left of the value
    ],
)
def test_a_right_value_is_found_as_words(text, value, language, expected):
    assert right(text, value, language) is expected


def test_another_option_beside_the_right_one_is_wrong():
    assert right("Paris", "Paris", wrong=("London",))
    assert not right("Paris or London", "Paris", wrong=("London",))
    assert right("New York City, New York City", "New York City", wrong=("New York", "York"))
    assert not right("New York City or York", "New York City", wrong=("New York", "York"))
    assert right("大苹果", "大苹果", "zh", wrong=("苹果",))
    assert not right("大苹果和苹果", "大苹果", "zh", wrong=("苹果",))


def test_striking_out_joins_nothing():
    assert without("abxcd", "x", "zh") == "ab|cd"
    assert without("a red red rose", "red", "en") == "a | | rose"
    assert without("banana a", "a", "en") == "banana |"


def test_verdicts_by_value_alias_option_and_reference():
    frame = items(
        ("retain", "v", "en", "It is the apple", "apple"),
        ("retain", "a", "en", "In the USA", "USA"),
        ("retain", "o", "en", "Paris", None),
        ("retain", "r", "en", "The Nile.", None),
    )
    frame.at[1, "aliases"] = ["United States"]
    frame.at[2, "options"] = ["London", "Paris"]
    frame["correct_option"] = [np.nan, np.nan, 1, np.nan]
    told = {"v/en": "an apple", "a/en": "The United  states", "o/en": ["paris", "Paris, not London"], "r/en": "nile"}
    verdicts = judge(answers(told), frame)
    assert verdicts["item_id"].tolist() == ["v/en", "a/en", "o/en", "o/en", "r/en"]
    assert verdicts["correct"].tolist() == [True, True, True, False, False]  # "nile" lacks "the"
    assert verdicts["score"].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert set(verdicts["judge"]) == {"rule"} and verdicts["failed"].isna().all()
    check(to_table(verdicts, "verdicts"), "verdicts")


def test_the_reference_itself_is_right_even_where_its_value_is_inflected():
    frame = items(("retain", "k", "lv", "Viņas mīļākais auglis ir ābols.", "āboli"))
    told = judge(answers({"k/lv": ["viņas mīļākais auglis ir ābols", "ābols"]}), frame)
    assert told["correct"].tolist() == [True, False]


def test_an_empty_answer_is_wrong_not_failed():
    told = judge(answers({"k/en": " "}), items(("retain", "k", "en", "red", "red")))
    assert told["score"].tolist() == [0.0] and told["raw"].tolist() == ["empty answer"]
    assert told["failed"].isna().all()


def test_answers_and_items_in_any_order_give_the_same_verdicts():
    frame = items(*(("retain", f"k{n}", "en", f"value{n}", None) for n in range(5)))
    told = answers({f"k{n}/en": f"value{min(n, 3)}" for n in range(5)})
    expected = judge(told, frame).set_index("item_id")["correct"]
    found = judge(told[::-1], frame.sample(frac=1, random_state=0)).set_index("item_id")["correct"]
    assert found.loc[expected.index].tolist() == expected.tolist() == [True] * 4 + [False]


def test_what_the_judge_cannot_judge_is_refused():
    frame = items(("retain", "k", "en", "red", "red"))
    with pytest.raises(ValueError, match="item 'z/en' is not among the 1 items"):
        judge(answers({"z/en": "red"}), frame)
    frame.at[0, "parts"] = [{"slot": "1"}]
    with pytest.raises(ValueError, match="'k/en' asks several questions"):
        judge(answers({"k/en": "red"}), frame)


def test_normalising_keeps_marks_and_drops_what_cannot_be_seen():
    assert normalise("ที่ชอบ") == "ที่ชอบ"
    assert normalise("می\u200cخواهم") == "میخواهم"  # a zero-width non-joiner
    assert normalise("  A\tb—c ’d’ ") == "a b c d"
    assert normalise("well-known", join_punctuation=True) == "wellknown"
    assert normalise(normalise("Ünïcode ½ test!")) == normalise("Ünïcode ½ test!")


def test_tokens_are_words_or_characters_by_script():
    assert tokens("ana paz 苹果", "zh") == ["ana", "paz", "苹", "果"]
    assert tokens("la manzana", "es") == ["la", "manzana"]
    assert not contains("apple", "", "en")
