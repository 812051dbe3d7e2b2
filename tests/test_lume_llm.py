"""LUME's texts and questions by language models: what is kept, and how each planted mistake is refused."""

import pandas as pd
import pytest

from llm_fakes import once
from lume_independent import violations
from lume_llm_fakes import GRAMMARS, LumeModel, asking, fields_of, tools
from unlearning.data.lume import layout
from unlearning.data.lume.questions_llm import questions, replaced, same
from unlearning.data.lume.real import sample
from unlearning.data.lume.writing_llm import write_people, write_stories
from unlearning.llm.requests import Failure
from unlearning.tables.artifacts import read_table, write_table

STORY, PERSON = "task1-0001", "task2-0001"
TABLES = ("documents", "knowledge", "rejected", "funnel")


def told(fault=lambda ident, inputs: None, sizes=(1, 2), max_rounds=2):
    """(what was written of task 1, the model)."""
    model = LumeModel(fault)
    return write_stories(sizes, GRAMMARS, tools(model, max_rounds), 0), model


def always(ident, said, role):
    return lambda asked, inputs: said if asked == ident and inputs["role"] == role else None


def wrong_of(made, tmp_path):
    """What the independent checker says of these documents, and that the tables keep their contracts."""
    cut = layout.cut(made.documents, 0)
    for name, table in (*zip(TABLES, made, strict=True), ("continuations", cut)):
        write_table(table, tmp_path / f"{name}.parquet", name)
        assert len(read_table(tmp_path / f"{name}.parquet", name)) == len(table)
    return violations(*(table.to_dict("records") for table in (made.documents, cut, made.knowledge)))


def test_stories_are_written_asked_about_and_verified_once_where_nothing_is_wrong(tmp_path):
    (made, rounds), model = told()
    assert model.asked() == {"writer": 3, "questioner": 3, "verifier_1": 3, "verifier_2": 3, "verifier_3": 3}
    assert made.documents["group"].value_counts().to_dict() == {"forget": 1, "retain": 2}
    assert made.rejected.empty and rounds["verdict"].tolist() == ["accepted"] * 3
    assert wrong_of(made, tmp_path) == []
    assert made.funnel.set_index("step")["n"].to_dict() == dict.fromkeys(
        ("drawn", "length", "characters", "cut", "near_duplicate", "question", "kept"), 3
    )
    write_table(rounds, tmp_path / "rounds.parquet", "rounds")
    for row in made.documents.itertuples():
        (prompt,) = model.said_to(row.document_id, "writer")
        assert all(name in prompt for name in (*row.characters, row.city, row.kind)) and "refused" not in prompt


def test_the_verifiers_are_not_told_the_answer():
    (made, _), model = told()
    for request in model.sent:
        if request.role.startswith("verifier"):
            assert set(request.inputs) == {"text", "question"}


SHORT = {"text": "Nobody came. Nobody went."}
CANNOT, OTHER = {"answerable": False, "answer": ""}, {"answerable": True, "answer": "Bo"}
PLANTED = {
    "too short": ("writer", SHORT, "length", "4 words, should be 150 to 200"),
    "nobody named": ("writer", {"text": "It rained all day. " * 40}, "characters", "does not name "),
    "no reply": ("writer", "Once upon a time", "no_reply", "no whole JSON object"),
    "refused": ("writer", Failure("refused: HTTP 400: account 17", refused=True), "no_reply", "refused (HTTP 400)"),
    "no question possible": ("questioner", asking("", ""), "question", "no question is possible"),
    "no proper noun": ("questioner", asking("Who?", "x") | {"names": []}, "question", "no proper noun"),
    "answer not in the text": ("questioner", asking("Who is it?", "Zaphod"), "question", "does not stand in the text"),
    "answer in the question": (
        "questioner",
        asking("Is it a city or the town?", "the"),
        "question",
        "holds its answer",
    ),
    "long answer": ("questioner", asking("What?", "a b c d e f g"), "question", "the answer has 7 words"),
    "no question mark": ("questioner", asking("Tell me", "the"), "question", "is no question"),
    "questioner silent": ("questioner", "hm", "no_reply", "no whole JSON object"),
    "first verifier cannot": (
        "verifier_1",
        {"answerable": False, "answer": ""},
        "verifiers",
        "verifier_1 cannot answer",
    ),
    "second verifier differs": (
        "verifier_2",
        {"answerable": True, "answer": "Bo"},
        "verifiers",
        "verifier_2 answers 'Bo'",
    ),
    "third verifier silent": ("verifier_3", "?", "verifiers", "verifier_3 gives no reply that can be used"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_story_with_a_mistake_is_told_anew_and_the_writer_hears_why(fault):
    role, said, check, why = PLANTED[fault]
    (made, rounds), model = told(once(STORY, said, role))
    assert len(made.documents) == 3 and made.rejected.empty
    own = rounds[rounds["id"] == STORY]
    assert own["verdict"].tolist() == ["refused", "accepted"]
    assert own["reasons"].iloc[0][0].startswith(f"{check}: ") and why in own["reasons"].iloc[0][0]
    assert why in model.said_to(STORY, "writer")[1]
    assert made.funnel.set_index("step")["n"][["drawn", "kept"]].tolist() == [4, 3]


@pytest.mark.parametrize("fault", ["too short", "refused", "no question possible", "third verifier silent"])
def test_a_story_that_never_stands_is_left_out_and_told(fault):
    role, said, check, why = PLANTED[fault]
    (made, _), _ = told(always(STORY, said, role))
    assert sorted(made.documents["document_id"]) == ["task1-0000", "task1-0002"]
    assert set(made.knowledge["document_id"]) == set(made.documents["document_id"])
    assert made.rejected[["id", "check", "round"]].values.tolist() == [[STORY, check, 2]]
    assert why in made.rejected["reason"][0]


def test_a_story_much_like_another_of_the_same_round_is_refused():
    first = told()[0].made.documents.set_index("document_id")["text"]

    def copied(ident, inputs):
        if inputs["role"] == "writer" and ident == STORY:
            missing = [inputs["city"], *inputs["characters"]]
            words = first["task1-0000"].split()
            return {"text": " ".join(words[: 190 - len(missing) * 2]) + ". " + ", ".join(missing) + "."}
        return None

    (made, _), _ = told(copied)
    assert made.rejected[["id", "check"]].values.tolist() == [[STORY, "near_duplicate"]]
    assert made.rejected["reason"].str.contains("3-grams with task1-0000").all()


def test_a_refused_story_does_not_stand_in_the_way_of_its_next_telling():
    """What is told again, because of its question alone, may well be the same."""
    kept = told()[0].made.documents.set_index("document_id")["text"]
    asked = once(STORY, asking("", ""), "questioner")

    def same_again(ident, inputs):
        wrong = asked(ident, inputs)
        return wrong or ({"text": kept[STORY]} if ident == STORY and inputs["role"] == "writer" else None)

    model = LumeModel(same_again, {kept[STORY]: ("Who told it?", kept[STORY].split()[0])})
    made, rounds = write_stories((1, 2), GRAMMARS, tools(model), 0)
    assert rounds.loc[rounds["id"] == STORY, "verdict"].tolist() == ["refused", "accepted"]


def test_people_are_written_with_all_fields_and_the_five_questions(tmp_path):
    model = LumeModel()
    made, rounds = write_people((2, 1), GRAMMARS, tools(model), 0)
    assert model.asked() == {"writer": 3} and made.rejected.empty and wrong_of(made, tmp_path) == []
    for row in made.documents.to_dict("records"):
        own = made.knowledge[made.knowledge["document_id"] == row["document_id"]]
        assert own["answer"].tolist() == list(fields_of(row).values()) and len(own) == 5


@pytest.mark.parametrize("field", ["birth_date", "ssn", "phone", "email", "address"])
def test_a_biography_without_a_field_is_written_again(field):
    def lost(ident, inputs):
        if ident != PERSON or inputs["attempts"]:
            return None
        shown = {key: inputs[key] for key in ("name", "birth_date", "ssn", "phone", "email", "address")}
        return {"text": " ".join(f"It is {text}." for key, text in shown.items() if key != field) + " So it is."}

    model = LumeModel(lost)
    made, rounds = write_people((2, 1), GRAMMARS, tools(model), 0)
    assert rounds.loc[rounds["id"] == PERSON, "reasons"].iloc[0] == [f"fields: does not hold {field}"]
    assert len(made.documents) == 3 and f"does not hold {field}" in model.said_to(PERSON, "writer")[1]


LIFE = "{0} Voss was born in Karvik{1}. {0} studied law there and {0} taught. " + "{0} wrote on {1} and sang. " * 20


def lives(n):
    """n texts that are not much alike, and a question that each answers."""
    texts = [LIFE.format(f"{chr(97 + i)}ana{i}".capitalize(), f" in {1900 + i}") for i in range(n)]
    found = pd.DataFrame({"id": [f"p{i}" for i in range(n)], "title": None, "text": texts})
    return found, {text: (f"Where was {text.split()[0]} Voss born?", "Karvik") for text in texts}


def test_a_biography_without_a_verified_question_is_replaced_by_a_spare_of_its_group():
    found, asks = lives(9)
    given = sample(found, 2, 2, 2, 0, spare=3)
    first, second = given.documents["document_id"][:2]
    spare = given.documents.loc[given.documents["role"] == "background", "document_id"].tolist()
    bad = {first: "questioner", second: "verifier_3", spare[0]: "questioner"}
    model = LumeModel(lambda ident, inputs: "rubbish" if bad.get(ident) == inputs["role"] else None, asks)
    made = replaced(given, tools(model))
    assert sorted(made.documents.loc[made.documents["group"] == "forget", "document_id"]) == sorted(spare[1:])
    assert made.documents["role"].value_counts().to_dict() == {"memorised": 4, "nonmember": 2}
    assert set(made.knowledge["answer"]) == {"Karvik"} and len(made.knowledge) == 4
    assert sorted(made.rejected["id"]) == sorted(bad) and made.funnel["n"].iloc[-1] == 4
    asked = {request.prompt_id for request in model.sent}
    assert not asked & set(made.documents.loc[made.documents["role"] == "nonmember", "document_id"])


def test_too_few_spares_are_told():
    found, asks = lives(6)
    model = LumeModel(lambda ident, inputs: asking("", ""), asks)
    with pytest.raises(ValueError, match="4 biographies are left without a verified question, but 1 spare"):
        replaced(sample(found, 2, 2, 1, 0, spare=1), tools(model))


def test_answers_are_compared_without_case_punctuation_and_article():
    assert same("The Seventh Orchard.", "seventh orchard") and same("the", "the")
    assert not same("Paris Hilton", "Paris") and not same("", "") and not same("", "a")


def test_nothing_is_asked_of_no_document():
    model = LumeModel()
    assert questions({}, tools(model)) == ({}, {}) and not model.sent
