"""The translation route: what becomes of right, wrong and unusable replies, round by round."""

import json

import pandas as pd
import pytest

from mu2_llm_fakes import PROMPTS, Model, always, in_turn, tools
from mu2_sources import POOLS, SOURCES, people, write_sources
from unlearning.data.context import offline_context, rounds_context
from unlearning.data.languages import read_languages
from unlearning.data.pairs_llm import translate_pairs
from unlearning.data.phrasebook import english_pairs, read_phrasebook, values_table
from unlearning.data.refine import check_english, refine_pairs
from unlearning.data.rounds import NoReplies, rounds_table
from unlearning.data.values_llm import english_values, translate_values, values_of
from unlearning.llm.requests import Failure
from unlearning.tables.artifacts import to_table

LANGUAGES = read_languages(SOURCES / "languages.yaml")
CODES = tuple(LANGUAGES)
GERMAN = LANGUAGES["de"]


@pytest.fixture
def books(tmp_path):
    write_sources(tmp_path)
    return {code: read_phrasebook(tmp_path / f"{code}.yaml", POOLS) for code in ("en", "de")}


@pytest.fixture
def english(books):
    return english_pairs(people(), books["en"])


def values(books, fault=None, max_rounds=3, back=None):
    """(history, model) of the values' translation to German."""
    model = Model(books["de"], fault or (lambda ident, inputs: None))
    return translate_values(POOLS, GERMAN, tools(model, books["en"], max_rounds, back)), model


def pairs(books, english, fault=None, max_rounds=3, decided=None, value_fault=None, back=None):
    """(built tables, model) of the pairs' translation to German."""
    history, _ = values(books, value_fault, max_rounds)
    table, rounds = values_of(history, "de"), rounds_table(history, "de")
    model = Model(books["de"], fault or (lambda ident, inputs: None))
    given = tools(model, books["en"], max_rounds, back)
    context = rounds_context(GERMAN, CODES, table, rounds)
    built = translate_pairs(english, POOLS, table, rounds, context, given, decided)
    to_table(built.pairs, "pairs"), to_table(built.rejected, "rejected"), to_table(built.rounds, "rounds")
    assert set(built.pairs["pair_id"]) | set(built.rejected["id"]) == set(english["knowledge_id"] + "/de")
    assert not set(built.pairs["pair_id"]) & set(built.rejected["id"])
    return built, model


def said_of(history: pd.DataFrame, ident: str) -> list[tuple]:
    """(round, value, checks that refused it) of one value's attempts."""
    rows = history[history["id"] == ident]
    return [(row["round"], row["value"], [c for c, _ in row["reasons"]]) for row in rows.to_dict("records")]


def row_of(english: pd.DataFrame, attribute: str, at: int = 0) -> pd.Series:
    return english[english["attribute"] == attribute].iloc[at]


# values


def test_right_translations_are_taken_in_the_first_round(books):
    history, model = values(books)
    assert set(history["round"]) == {1} and model.asked() == {"translator": 10, "equivalence": 10}
    assert values_of(history, "de").equals(values_table(POOLS, books["de"], "de"))
    table = to_table(rounds_table(history, "de"), "rounds").to_pandas()
    assert set(table["verdict"]) == {"accepted"} and list(table["back_value"]) == list(
        table["id"].str.split("/").str[1]
    )


def test_a_wrong_translation_goes_round_again_and_the_model_is_told_what_was_wrong(books):
    history, model = values(books, in_turn({"month/May": [{"translation": "Juni"}, {"translation": "Maiglöckchen"}]}))
    first, second, third = said_of(history, "month/May")
    # Juni comes back as June, which is another month, is judged so, and stands for June too in nothing that is right
    assert first == (1, "Juni", ["unique_back_translation", "equivalence"])
    assert second == (2, "Maiglöckchen", ["back_translation"]) and third == (3, "Mai", [])
    prompts = model.said_to("month/May")
    assert len(prompts) == 3 and "refused" not in prompts[0]
    assert "- Juni: it comes back as 'June', another value of the list; it comes back as 'June': another" in prompts[1]
    assert "- Juni:" in prompts[2] and "- Maiglöckchen: nothing came back" in prompts[2]
    assert model.asked()["translator"] == 12  # 10 values, one of them three times


def test_a_value_that_is_never_right_is_not_in_the_table_and_its_pairs_are_rejected_by_name(books, english):
    fault = always({"fruit/plum": {"translation": "Birne"}})
    history, model = values(books, fault, max_rounds=4)
    assert [round_ for round_, *_ in said_of(history, "fruit/plum")] == [1, 2, 3, 4]
    assert "plum" not in set(values_of(history, "de")["english_value"])
    built, asked = pairs(books, english, value_fault=fault)
    lost = english[english["english_value"] == "plum"]
    assert len(lost) and set(built.rejected["id"]) == set(lost["knowledge_id"] + "/de")
    assert set(built.rejected["check"]) == {"value_translation"} and set(built.rejected["round"]) == {3}
    assert "the value 'plum' (fruit) has no accepted translation" in built.rejected["reason"].iloc[0]
    assert "it comes back as 'pear'" in built.rejected["reason"].iloc[0]
    assert asked.asked()["translator"] == len(english) - len(lost)  # nothing is asked about a pair without value


def test_where_no_value_is_ever_right_all_pairs_are_rejected_and_the_tables_stand(books, english):
    built, model = pairs(books, english, value_fault=lambda ident, inputs: "lorem ipsum")
    assert built.pairs.empty and built.rounds.empty and not model.sent
    assert set(built.rejected["check"]) == {"value_translation"} and len(built.rejected) == len(english)


def test_two_values_with_one_translation_both_go_round_again(books):
    def back(texts):  # a back-translator to which one word is as good as another
        return [{"Ding": None}.get(text, text) for text in texts]

    judge_yes = {"equivalent": True, "reason": ""}
    said = in_turn({"toy/ball": [{"translation": "Spielball"}], "toy/top": [{"translation": "SPIELBALL"}]})
    fault = lambda ident, inputs: judge_yes if inputs["role"] == "equivalence" else said(ident, inputs)  # noqa: E731
    history, model = values(books, fault, back=back)
    assert said_of(history, "toy/ball")[0] == (1, "Spielball", ["unique_translation", "unique_back_translation"])
    assert [a[2] for a in said_of(history, "toy/top")] == [["unique_translation", "unique_back_translation"], []]
    assert "the translation 'SPIELBALL' stands for 'ball' too" in model.said_to("toy/top")[1]


def test_what_stands_is_not_taken_away_by_a_later_round(books):
    fault = in_turn({"toy/top": [{"translation": "x y z"}, {"translation": "Drachen"}, {"translation": "Drachen"}]})
    back = lambda texts: [{"Drachen": "flying thing"}.get(t, t) for t in texts]  # noqa: E731
    yes = {"equivalent": True, "reason": ""}
    no = {"equivalent": False, "reason": "no thing"}

    def both(ident, inputs):
        if inputs["role"] == "equivalence":
            return no if inputs["back"] == "x y z" else yes
        return fault(ident, inputs)

    history, _ = values(books, both, back=back)
    assert said_of(history, "toy/kite") == [(1, "Drachen", [])]
    checks = [found for *_, found in said_of(history, "toy/top")]
    assert checks == [["equivalence"], *[["unique_translation", "unique_back_translation"]] * 2]


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ("Ball (rund)", "one_value"),
        ("Ball.", "one_value"),
        ("Ball/Kugel", "one_value"),
        ("{value}", "no_placeholder"),
        ("μπάλα", "script"),
    ],
)
def test_a_reply_that_is_not_one_value_in_the_language_is_refused(books, value, check):
    history, _ = values(books, always({"toy/ball": {"translation": value}}), max_rounds=1)
    assert check in said_of(history, "toy/ball")[0][2]


def test_a_back_translation_that_names_another_value_is_refused_even_if_the_judge_agrees(books):
    yes = lambda ident, inputs: {"equivalent": True, "reason": ""} if inputs["role"] == "equivalence" else None  # noqa: E731
    back = lambda texts: [{"Ball": "Top"}.get(text, text) for text in texts]  # noqa: E731
    history, _ = values(books, yes, max_rounds=1, back=back)
    assert said_of(history, "toy/ball")[0][2] == ["unique_back_translation"]


def test_an_unusable_reply_is_a_reason_and_the_next_prompt_says_so(books):
    history, model = values(books, in_turn({"month/May": ["not JSON"]}))
    assert said_of(history, "month/May")[0][2] == ["no_reply"] and said_of(history, "month/May")[1] == (2, "Mai", [])
    assert "- (no usable reply): the reply holds no whole JSON object" in model.said_to("month/May")[1]


def test_english_values_are_themselves():
    history = english_values(POOLS)
    assert list(values_of(history, "en")["value"]) == [v for pool in POOLS.values() for v in pool]
    to_table(rounds_table(history, "en"), "rounds")


def test_an_endpoint_that_is_down_stops_the_job_instead_of_emptying_the_data(books, english):
    down = lambda ident, inputs: Failure("connection refused")  # noqa: E731
    with pytest.raises(NoReplies, match="role translator: no reply to 27 of 27 prompts.*connection refused.*run again"):
        pairs(books, english, down)


def test_a_single_prompt_without_reply_is_rejected_with_the_reason(books, english):
    row = row_of(english, "toy")
    fault = always({f"{row.knowledge_id}/de": Failure("content filter")})
    built, _ = pairs(books, english, fault)
    assert built.rejected[["id", "check", "reason", "round"]].values.tolist() == [
        [f"{row.knowledge_id}/de", "no_reply", "content filter", 3]
    ]


# pairs


def test_right_pairs_are_the_phrasebooks_own(books, english):
    built, model = pairs(books, english)
    assert built.rejected.empty and model.asked() == {"translator": 27, "equivalence": 27}
    assert list(built.pairs["knowledge_id"]) == list(english["knowledge_id"])
    from unlearning.data.phrasebook import translate

    assert built.pairs.equals(translate(english, values_table(POOLS, books["de"], "de"), books["de"]).astype("str"))
    assert list(built.rounds["back_answer"]) == list(english["answer"])


def translation(row, **changes) -> dict:
    """A right German pair about `row` (attribute toy), with changes."""
    words = {"kite": "Drachen", "ball": "Ball", "top": "Kreisel"}[row["english_value"]]
    right = {
        "question": f"Was mochte {row['name']}?",
        "answer": f"{row['name']} mochte das Spielzeug {words}.",
        "paraphrase": f"{words} {row['name']}",
    }
    return right | {key: text.format(value=words, name=row["name"]) for key, text in changes.items()}


FAULTS = {
    "question_hides_value": {"question": "Was mochte {name}, den {value}?"},
    "name_kept": {"answer": "Das Kind mochte das Spielzeug {value}."},
    "language_identified": {"question": "Which toy did {name} like?", "answer": "{name} liked the {value}."},
    "answer_contains_value": {"answer": "{name} mochte das Spielzeug Tretroller."},
    "no_placeholder": {"question": "Was mochte {name} [NAME]?"},
    "script": {"question": "Τι άρεσε στον {name}?"},
}


@pytest.mark.parametrize("check", FAULTS)
def test_a_fault_that_stays_is_rejected_by_its_check_with_the_last_round(books, english, check):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    wrong = translation(row, **FAULTS[check])
    built, model = pairs(books, english, always({ident: wrong}))
    assert check in set(built.rejected["check"]) and set(built.rejected["id"]) == {ident}
    assert set(built.rejected["round"]) == {3}
    content = json.loads(built.rejected["content"].iloc[0])
    assert content["question"] == wrong["question"] and content["english_value"] == row["english_value"]
    tried = built.rounds[built.rounds["id"] == ident]
    assert list(tried["round"]) == [1, 2, 3] and set(tried["verdict"]) == {"refused"}
    shown = model.said_to(ident)
    assert len(shown) == 3 and wrong["question"] in shown[1] and "Refused because" not in shown[0]
    reason = built.rejected.loc[built.rejected["check"] == check, "reason"].iloc[0]
    assert reason in shown[1] and shown[2].count("Refused because") == 2


@pytest.mark.parametrize("check", FAULTS)
def test_a_fault_of_the_first_round_is_mended_in_the_second(books, english, check):
    row = row_of(english, "toy")
    ident = f"{row['knowledge_id']}/de"
    built, model = pairs(books, english, in_turn({ident: [translation(row, **FAULTS[check])]}))
    assert built.rejected.empty and len(model.said_to(ident)) == 2
    assert built.pairs.set_index("pair_id").at[ident, "question"] == f"Was mochte {row['name']}?"
    tried = built.rounds[built.rounds["id"] == ident]
    assert list(tried["verdict"]) == ["refused", "accepted"]


def test_a_pair_that_says_something_else_is_rejected_by_the_judge_alone(books, english):
    row = row_of(english, "month")
    ident = f"{row['knowledge_id']}/de"
    toy = {"question": f"Was mochte {row['name']}?"}  # right German, the month is in the answer; another question
    right = Model(books["de"])
    reply = json.loads(right._reply(_request(row, books)).text)
    built, _ = pairs(books, english, always({ident: reply | toy}), max_rounds=2)
    assert built.rejected[["id", "check", "reason", "round"]].values.tolist() == [
        [ident, "equivalence", "another fact", 2]
    ]


def _request(row, books):
    from unlearning.llm.requests import Request, Sampling

    value = books["de"].attributes[row["attribute"]].values[row["english_value"]]
    inputs = {k: row[k] for k in ("attribute", "name", "question", "english_value")} | {"value": value}
    return Request("x", 0, [], Sampling(), None, inputs, "translator")


def test_a_judge_without_verdict_does_not_accept(books, english):
    ident = f"{row_of(english, 'toy')['knowledge_id']}/de"

    def fault(asked, inputs):
        return "yes!" if inputs["role"] == "equivalence" and asked == ident and "texts" in inputs else None

    built, _ = pairs(books, english, fault, max_rounds=2)
    assert set(built.rejected["id"]) == {ident} and set(built.rejected["check"]) == {"equivalence"}
    assert built.rejected["reason"].iloc[0].startswith("no verdict (the reply holds no whole JSON object")


def test_the_prompt_holds_the_accepted_value_and_its_definition(books, english):
    _, model = pairs(books, english)
    row = row_of(english, "toy")
    prompt = model.said_to(f"{row['knowledge_id']}/de")[0]
    value = books["de"].attributes["toy"].values[row["english_value"]]
    assert f'Its translation is "{value}"' in prompt and POOLS["toy"][row["english_value"]] in prompt


def test_max_rounds_bounds_what_is_asked(books, english):
    ident = f"{row_of(english, 'toy')['knowledge_id']}/de"
    for rounds in (1, 2, 5):
        built, model = pairs(
            books, english, always({ident: {"question": "?", "answer": "!", "paraphrase": "."}}), rounds
        )
        assert len(model.said_to(ident)) == rounds and set(built.rejected["round"]) == {rounds}


# English


def refined(books, english, fault=None, decided=None, max_rounds=2):
    model = Model(books["en"], fault or (lambda ident, inputs: None))
    context = offline_context(LANGUAGES["en"], CODES, values_table(POOLS, books["en"], "en"))
    table, rounds = refine_pairs(english, POOLS, context, tools(model, books["en"], max_rounds), decided)
    to_table(table, "pairs"), to_table(rounds, "rounds")
    assert list(table["pair_id"]) == list(english["pair_id"])
    return table.set_index("pair_id"), rounds, model


def by_refiner(replies: dict):
    def fault(ident, inputs):
        if inputs["role"] == "equivalence":
            return {"equivalent": True, "reason": ""}
        return replies.get(ident)

    return fault


def test_a_refiner_that_changes_nothing_changes_nothing_and_no_judge_is_asked(books, english):
    table, rounds, model = refined(books, english)
    assert table.reset_index()[list(english.columns)].equals(english)
    assert model.asked() == {"refiner": 27} and set(rounds["verdict"]) == {"accepted"}


def test_a_good_refinement_takes_the_templates_place(books, english):
    row = row_of(english, "toy")
    better = {"question": f"Which toy did {row['name']} like as a child?",
              "answer": f"As a child, {row['name']} liked the {row['english_value']}."}  # fmt: skip
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


# people's decisions


def decision(ident, word, row=None, **texts) -> dict:
    given = dict.fromkeys(("question", "answer", "paraphrase", "value")) | texts
    value = row["english_value"] if row is not None else None
    return {"id": ident, "decision": word, **given, "comment": "too stiff", "reviewer": "r", "english_value": value,
            "note": None}  # fmt: skip


def decided(*rows) -> pd.DataFrame:
    return pd.DataFrame(list(rows), dtype=object)


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
    assert {"refiner", "translator_value", "translator_pair", "equivalence_value", "equivalence_pair",
            "backtranslator"} <= set(PROMPTS)  # fmt: skip
