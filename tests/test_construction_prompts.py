"""The prompts of both constructions, word for word: tests/data/golden_prompts/<case>.txt."""

import pytest

from mu2_llm_fakes import PROMPTS
from mu2_sources import ROOT
from unlearning.llm.prompts import PromptError, render

GOLDEN = ROOT / "tests" / "data" / "golden_prompts"
VALUE = {"attribute": "birth month", "english_value": "March", "definition": "the third month of the year"}
PAIR = {
    "name": "Maud Perrin", "question": "In which month was Maud Perrin born?",
    "answer": "Maud Perrin was born in March.", "english_value": "March",
}  # fmt: skip
WORDS = {"paraphrase": "The month in which Maud Perrin was born is March.", "definition": VALUE["definition"]}
TRIED = {
    "question": "Ist Maud im März geboren?",
    "answer": "Maud Perrin ist im Lenz geboren.",
    "paraphrase": "Im Lenz.",
}
WHY = ["the question does not hold the name as written", "the answer does not hold its value 'März'"]
NONE = {"question": None, "answer": None, "paraphrase": None, "reasons": ["the reply holds no whole JSON object"]}
TEXTS = [
    {"part": "Question", "first": PAIR["question"], "second": "When was Maud Perrin born?"},
    {"part": "Answer", "first": PAIR["answer"], "second": "Maud Perrin was born in spring."},
]
TRANSLATE = VALUE | {"language": "German", "others": ["January", "February", "April"]}
CHAIN = {"subject": "Ann Ost", "first": "country of citizenship", "second": "capital", "answer": "Paris"}
COMPOSED = {
    "questions": ["What is the capital of France, where Ann Ost is from?", "Ann Ost: capital?", "Which capital?"],
    "aliases": ["City of Light"],
    "reasons": ["question 1 names 'France'", "question 2 skipped hop: nothing asks for country of citizenship"],
}
NO_QUESTIONS = {"questions": None, "aliases": None, "reasons": ["the reply holds no whole JSON object"]}
CHOICE = {"candidates": ["Bo Vik", "Ann Ost", "Cid Roe"]}
LEAK = {
    "extractor": {"text": "Ann Ost was born in Lyon.\n\nShe sang."},
    "composer_hs": CHAIN | {"attempts": []},
    "composer_hs.again": CHAIN | {"attempts": [COMPOSED, NO_QUESTIONS]},
    "composer_mp": CHAIN | {"attempts": []},
    "composer_mt": CHAIN | CHOICE | {"denied": "Paris", "answer": "Ann Ost", "attempts": []},
    "composer_ll": CHAIN | {"subject": "Anna Ostova", "answer": "France", "attempts": []},
    "composer_cc": {
        "one": "Ann Ost", "two": "Bo Vik", "first": "sport", "other_1": "spouse", "other_2": "place of birth",
        "answer": "golf", "attempts": [],
    },
    "composer_ds": {
        "subject": "Ann Ost", "first": "sport", "candidates": ["judo", "golf", "chess"], "excluded": ["judo", "chess"],
        "answer": "golf", "attempts": [],
    },
    "decomposer": {"question": "Which capital?\nYes, which?", "relations": ["capital", "sport"]},
    "uniqueness": {"question": "Which capital?\nYes, which?"},
    "rater": {"question": "Which capital?", "answer": "Paris", "facts": ["Ann Ost is from France.", "Paris is there."]},
}  # fmt: skip
for unused, of in (("subject", "composer_mt"), ("second", "composer_ll")):
    LEAK[of] = {key: value for key, value in LEAK[of].items() if key != unused}
CAST = {"genre": "Mystery", "characters": ["Ann Ost", "Bo"], "city": "Salem"}
FIELDS = {
    "name": "Ann Ost", "birth_date": "May 1, 1970", "ssn": "900-12-3456", "phone": "(291) 555-0101",
    "email": "ann_ost@me.com", "address": "12 Elm Street, Salem, OR, 97301",
}  # fmt: skip
TEXTS_TRIED = [
    {"text": "Ann Ost sang.", "reasons": ["3 words, should be 150 to 200", "does not name Bo"]},
    {"text": None, "reasons": ["the reply holds no whole JSON object"]},
]
LUME = {
    "writer_story": CAST | {"attempts": []},
    "writer_story.again": CAST | {"attempts": TEXTS_TRIED},
    "writer_person": FIELDS | {"attempts": []},
    "writer_person.again": FIELDS | {"attempts": TEXTS_TRIED},
    "questioner": {"text": "Ann Ost was born in Lyon.\n\nShe sang."},
    "verifier": {"text": "Ann Ost was born in Lyon.\n\nShe sang.", "question": "Where was Ann Ost born?\nIn Lyon?"},
}
SCHOOL = {
    "writer_school": {"subject": "biology", "term": "root", "angle": "what it is for", "attempts": []},
    "writer_school.again": {
        "subject": "biology", "term": "root", "angle": "what it is for", "attempts": [
            {"question": "It drinks?", "options": ["root", "leaf", "leaf", "seed"], "reasons": WHY},
            {"question": None, "options": None, "reasons": NONE["reasons"]},
        ],
    },
    "verifier_school": {"question": "Which part\ndrinks?", "options": ["A. root", "B. leaf\nor two", "C. petal"]},
}  # fmt: skip
CASES = (
    LEAK
    | LUME
    | SCHOOL
    | {
        "translator_value": TRANSLATE | {"attempts": []},
        "translator_value.again": TRANSLATE
        | {
            "attempts": [
                {"translation": "Marsch", "reasons": ["it comes back as 'march'", "a way of walking"]},
                {"translation": None, "reasons": ["the reply holds no whole JSON object"]},
            ]
        },
        "translator_pair": PAIR | WORDS | {"language": "German", "value": "März", "attempts": []},
        "translator_pair.again": PAIR
        | WORDS
        | {"language": "German", "value": "März", "attempts": [TRIED | {"reasons": WHY}, NONE]},
        "equivalence_value": VALUE | {"back": "march"},
        "equivalence_pair": {
            "name": "Maud Perrin",
            "english_value": "March",
            "definition": VALUE["definition"],
            "texts": TEXTS,
        },
        "backtranslator": {"language": "German", "text": "Maud Perrin wurde im März geboren."},
        "refiner": PAIR | {"attempts": []},
        "refiner.again": PAIR | {"attempts": [{**TRIED, "reasons": WHY}]},
    }
)


def written(case: str) -> str:
    messages = render(PROMPTS[case.split(".")[0]], CASES[case])
    return "".join(f"[{message['role']}]\n{message['content']}\n\n" for message in messages)


@pytest.mark.parametrize("case", CASES)
def test_a_prompt_is_word_for_word_what_it_was(case):
    assert written(case) == (GOLDEN / f"{case}.txt").read_text(encoding="utf-8")


def test_every_prompt_of_the_constructions_has_its_text_pinned():
    assert {case.split(".")[0] for case in CASES} == {name for name in PROMPTS if not name.startswith("judge_")}


@pytest.mark.parametrize("case", CASES)
def test_what_is_filled_in_is_not_evaluated(case):
    def planted(found):
        if isinstance(found, dict):
            return {key: planted(value) for key, value in found.items()}
        if isinstance(found, list):
            return [planted(value) for value in found]
        return "{{ 6 * 7 }}{% raw %}" if isinstance(found, str) else found

    messages = render(PROMPTS[case.split(".")[0]], planted(CASES[case]))
    assert "42" not in str(messages) and "{{ 6 * 7 }}{% raw %}" in messages[-1]["content"]


@pytest.mark.parametrize("case", CASES)
def test_a_missing_input_is_an_error_not_a_gap(case):
    name = case.split(".")[0]
    for key in CASES[case]:
        given = {k: v for k, v in CASES[case].items() if k != key}
        with pytest.raises(PromptError, match=key):
            render(PROMPTS[name], given)
