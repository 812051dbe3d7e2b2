"""The translation route's pairs: faults that stay and faults that are mended, and what the prompts hold."""

import json

import pytest

from mu2_llm_fakes import Model, always, in_turn
from mu2_llm_runs import (
    FAULTS,
    pairs,
    row_of,
    translation,
)
from mu2_sources import POOLS
from unlearning.data.phrasebook import values_table


def test_right_pairs_are_the_phrasebooks_own(books, english):
    built, model = pairs(books, english)
    assert built.rejected.empty and model.asked() == {"translator": 27, "equivalence": 27}
    assert list(built.pairs["knowledge_id"]) == list(english["knowledge_id"])
    from unlearning.data.phrasebook import translate

    assert built.pairs.equals(translate(english, values_table(POOLS, books["de"], "de"), books["de"]).astype("str"))
    assert list(built.rounds["back_answer"]) == list(english["answer"])


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
