"""Multi-hop questions by language models: what passes, and how each planted mistake is refused."""

import json
import re

import pandas as pd
import pytest

from leak_facts import facts, known, phrases
from leak_independent import violations
from leak_llm_fakes import LeakModel, composition, tools
from test_leak_checks import ALIASES, WORLD
from unlearning.data.leak import compose, decompose
from unlearning.data.leak.chunks import chunk
from unlearning.data.leak.compose_llm import build
from unlearning.data.leak.extract_llm import extract
from unlearning.data.leak.extracted import good_tuples, merge
from unlearning.data.leak.matches import TYPES, match_all
from unlearning.data.leak.verify import verify
from unlearning.llm.complete import NoReplies
from unlearning.llm.requests import Failure
from unlearning.tables.artifacts import read_table, write_table

CHAIN = "hs|Ann:P27:France|France:P36:Paris"
GOOD = "What is the capital of the country of citizenship of Ann?"


@pytest.fixture(scope="module")
def world():
    return known(*WORLD, aliases=ALIASES)


@pytest.fixture(scope="module")
def matches(world):
    return match_all(world, phrases().rules, 0)


@pytest.fixture(scope="module")
def few(world):
    """Matches of one type: for what is the same in all."""
    return match_all(world, phrases().rules, 0, types=["hs"])


def built(matches, world, fault=lambda ident, inputs: None, max_rounds=2):
    """(what the construction made, what `verify` says of it, the model)."""
    model = LeakModel(matches, world, fault)
    found = build(matches, world, tools(model, max_rounds))
    return found, verify(matches, found.composed, found.decomposed, world, found.uniqueness), model


def wrong(ident, said, role="composer"):
    """A fault: `said` to `role` about `ident` (a match, or wording), however often it is asked."""
    return lambda asked, inputs: said if inputs["role"] == role and asked.startswith(ident) else None


def test_good_replies_pass_every_check_and_ask_no_more_than_they_have_to(matches, world):
    found, checked, model = built(matches, world)
    assert set(checked.questions["type"]) == set(TYPES) and len(checked.questions) == len(matches)
    assert checked.rejected.empty and found.rejected.empty
    n = len(matches)
    assert model.asked() == {"composer": n, "decomposer": 3 * n, "uniqueness": 3 * n}
    by_templates = compose.compose(matches, phrases())
    assert found.composed["question"].tolist() == by_templates["question"].tolist()
    split = decompose.decompose(by_templates, phrases(), world)
    offline = verify(matches, by_templates, split, world)
    assert checked.questions["question"].tolist() == offline.questions["question"].tolist()
    assert checked.funnel.equals(offline.funnel)
    assert len(found.rounds) == 3 * n and set(found.rounds["verdict"]) == {"accepted"}


def test_the_tables_keep_their_contracts(few, world, tmp_path):
    found, _, _ = built(few, world, wrong(CHAIN, "rubbish"))
    for name, kind in (("rejected", "rejected"), ("rounds", "rounds"), ("composed", "composed"),
                       ("decomposed", "decomposed"), ("uniqueness", "uniqueness")):  # fmt: skip
        table = getattr(found, name)
        write_table(table, tmp_path / f"{name}.parquet", kind)
        assert len(read_table(tmp_path / f"{name}.parquet", kind)) == len(table) > 0
    read = [read_table(tmp_path / f"{name}.parquet", name) for name in ("composed", "decomposed", "uniqueness")]
    again = verify(few, *read[:2], world, read[2])
    assert len(again.questions) == len(few) - 1 and again.rejected.empty


def test_the_composer_is_not_told_what_joins_the_facts(matches, world):
    _, _, model = built(matches, world)
    for match in matches.itertuples(index=False):
        (prompt,) = model.said_to(match.match_id, "composer")
        assert match.answer in prompt
        assert match.type in ("cc", "ds") or not re.search(rf"\b{match.bridge}\b", prompt)
    (prompt,) = model.said_to(CHAIN, "composer")
    assert "The country of citizenship of Ann is [BRIDGE]." in prompt and "The capital of [BRIDGE] is Paris." in prompt


def test_the_checking_models_see_the_question_and_nothing_of_the_match(matches, world):
    found, _, model = built(matches, world)
    for request in model.sent:
        if request.role in ("decomposer", "uniqueness"):
            given = request.inputs | {"relations": None}
            assert given in ({"question": q, "relations": None} for q in found.composed["question"])
            assert request.inputs.get("relations") in (None, sorted(world.relations.values()))


def thrice(wording, *parts):
    """A composition of `wording` with each of three `parts` in it."""
    return composition(*[wording.format(part) for part in parts or ("", "!", "…")])


LIGHT = composition(
    GOOD.replace("?", ", City of Light?"), "City of light, Ann?", "Ann's City of Light?", "City of Light"
)
PLANTED = {
    "the bridge is named": ("leak", thrice("What is the capital of FRÁNCE, home of Ann{}?"), "names 'France'"),
    "an alias of the bridge": ("leak", thrice("What is the capital of the FR of Ann{}?"), "names 'FR'"),
    "the answer is named": ("leak", thrice("Is paris the capital of Ann{}?"), "names 'Paris'"),
    "a form of the answer is named": ("leak", LIGHT, "names 'City of Light', another name of the answer"),
    "a hop is skipped": ("decomposition", thrice("Which country is Ann a citizen of{}?"), ""),
    "another chain": ("decomposition", thrice(GOOD.replace("Ann", "{}"), "Bob", "Cid", "Zed"), "foreign entity: 'Bob'"),
    "a foreign entity": ("decomposition", thrice(GOOD.replace("Ann", "Ann, Tom's friend{}")), "foreign"),
    "a placeholder is left": ("no_placeholder", thrice("What is the capital of [BRIDGE], Ann{}?"), "'[BRIDGE]'"),
    "rubbish": ("no_reply", "Here you are: {question", "no whole JSON object"),
    "half a reply": ("no_reply", {"question_1": "Who?"}, "question_2: Field required"),
    "refused": ("no_reply", Failure("refused: HTTP 400: account 17", refused=True), "was refused (HTTP 400)"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_mistake_ends_in_rejected_with_its_reason(few, world, fault):
    check, said, why = PLANTED[fault]
    found, checked, model = built(few, world, wrong(CHAIN, said))
    assert CHAIN not in set(checked.questions["match_id"]) and len(checked.questions) == len(few) - 1
    rows = pd.concat([found.rejected, checked.rejected])
    assert set(rows["id"].str.partition("#")[0]) == {CHAIN} and check in set(rows["check"])
    assert rows.loc[rows["check"] == check, "reason"].str.contains(why, regex=False).any()
    assert len(model.said_to(CHAIN, "composer")) == 2
    assert "Refused because: " in model.said_to(CHAIN, "composer")[1]
    rows = facts(*WORLD, aliases=ALIASES).to_dict("records")
    assert violations(checked.questions.to_dict("records"), rows) == []


def test_two_answers_by_the_facts_are_refused_before_anyone_is_asked(few, world):
    richer = known(*WORLD, ("Ann", "P27", "Spain"), aliases=ALIASES)
    found, checked, model = built(few[few["match_id"] == CHAIN], richer)
    assert checked.questions.empty and not model.sent
    assert found.rejected[["id", "check", "round"]].values.tolist() == [[CHAIN, "uniqueness", 0]]
    assert found.rejected["reason"][0] == "2 answers by the facts: Madrid (Madrid), Paris (Paris)"
    assert checked.funnel.loc[checked.funnel["type"] == "hs", "n"].tolist() == [1, 0, 0, 0]


def test_what_the_judge_doubts_is_rejected_and_a_judge_without_verdict_does_not_accept(few, world):
    doubt = wrong(CHAIN, {"unique": False, "reason": "Ann has several"}, "uniqueness")
    _, checked, model = built(few, world, doubt)
    assert set(checked.rejected["check"]) == {"uniqueness"} and len(checked.rejected) == 3
    assert set(checked.rejected["reason"]) == {"judged ambiguous: Ann has several"}
    assert "question 3 judged ambiguous: Ann has several" in model.said_to(CHAIN, "composer")[1]
    _, checked, _ = built(few, world, wrong(CHAIN, "yes, it is", "uniqueness"))
    assert set(checked.rejected["reason"]) == {"no verdict: the reply holds no whole JSON object"}
    assert CHAIN not in set(checked.questions["match_id"])


def test_what_cannot_be_taken_apart_is_rejected(few, world):
    for said, why in (
        ("step one …", "no decomposition (the reply holds no whole JSON object)"),
        (hops(("#1", "capital")), "step 1 goes on from step 1, which is none before it"),
        (hops(("Zed", "capital"), ("#1", "capital")), "step 2 goes on from step 1, to which no answer is known"),
        (hops(("Ann", "country of citizenship", "France"), ("#1", "capital", "Lyon")),
         "foreign hop: capital of France, answered Lyon, is none of its facts"),
        (hops(("France", "capital", "Paris")), f"skipped hop: nothing asks for {CHAIN.split('|')[1]}"),
        (hops(("Ann", "country of citizenship"), ("#1", "capital"), names=["Tom"]),
         "foreign entity: 'Tom' is in none of its facts"),
    ):  # fmt: skip
        _, checked, _ = built(few, world, wrong(CHAIN, said, "decomposer"), max_rounds=1)
        assert set(checked.rejected["reason"]) == {why} and set(checked.rejected["check"]) == {"decomposition"}
        assert len(checked.rejected) == 3


def hops(*steps, names=()):
    return {"hops": [{"subject": s, "relation": r, "answers": found} for s, r, *found in steps], "names": list(names)}


@pytest.mark.parametrize(
    "said",
    [
        hops(("Ann", "country of citizenship", "french republic"), ("#1", "CAPITAL", "Paris")),
        hops(("Annie", "P27"), ("#1", "capital")),  # an answer that the model does not know is looked up
        hops(("Annie", "same as", "Ann"), ("Ann", "country of citizenship", "FR"), ("France", "capital", "Paris")),
    ],
)
def test_a_decomposition_in_other_names_is_that_of_the_facts(few, world, said):
    _, checked, _ = built(few, world, wrong(CHAIN, said, "decomposer"), max_rounds=1)
    assert checked.rejected.empty


def test_a_refused_attempt_is_mended_with_the_reasons_in_the_prompt_and_what_is_hidden_left_out(few, world):
    skipped = thrice("Which country is Ann a citizen of{}?")
    missing = hops(("Ann", "country of citizenship", "France"))

    def fault(asked, inputs):
        if inputs["role"] == "composer" and asked == CHAIN and not inputs["attempts"]:
            return skipped
        return missing if inputs["role"] == "decomposer" and "Which country is Ann" in inputs["question"] else None

    found, checked, model = built(few, world, fault)
    assert CHAIN in set(checked.questions["match_id"]) and checked.rejected.empty
    first, second = model.said_to(CHAIN, "composer")
    assert "- Which country is Ann a citizen of!" in second and "Refused because" not in first
    assert "question 1 skipped hop: nothing asks for the capital of [hidden]" in second and "France" not in second
    tried = found.rounds[found.rounds["id"] == f"{CHAIN}#0"]
    assert tried[["round", "verdict"]].values.tolist() == [[1, "refused"], [2, "accepted"]]
    assert tried["reasons"].iloc[0] == ["decomposition: skipped hop: nothing asks for France:P36:Paris"]


def test_one_good_wording_is_enough_and_only_what_passed_goes_on(few, world):
    said = composition(GOOD, "What is the capital of France?", GOOD.lower())
    found, checked, model = built(few, world, wrong(CHAIN, said))
    row = checked.questions.set_index("match_id").loc[CHAIN]
    assert row["question"] == GOOD and list(row["paraphrases"]) == []
    assert len(model.said_to(CHAIN, "composer")) == 1 and len(model.said_to(f"{CHAIN}#1", "decomposer")) == 0
    refused = {row.id: row.check for row in pd.concat([found.rejected, checked.rejected]).itertuples()}
    assert refused == {f"{CHAIN}#1": "leak", f"{CHAIN}#2": "repeated"}


def test_other_forms_of_an_answer_are_taken_where_they_name_nothing_else(few, world):
    given = ("Paname", "Madrid", "PA")
    asked = composition(*compose.compose(few[few["match_id"] == CHAIN], phrases())["question"], *given)
    found, checked, _ = built(few, world, wrong(CHAIN, asked))
    assert list(checked.questions.set_index("match_id").loc[CHAIN, "aliases"]) == ["Paname"]
    assert found.rejected[["id", "check", "reason"]].values.tolist() == [
        [f"{CHAIN}#Madrid", "aliases", "'Madrid' is a name of 'Madrid'"],
        [f"{CHAIN}#PA", "aliases", "'PA' is too short to be told from a common word"],
    ]
    assert json.loads(found.rejected["content"][0]) == {"match_id": CHAIN, "alias": "Madrid"}


def test_a_composer_that_only_talks_rubbish_ends_the_job(matches, world):
    with pytest.raises(NoReplies, match="role composer, .*none of .* replies can be used"):
        built(matches, world, lambda ident, inputs: "no" if inputs["role"] == "composer" else None)


def test_no_matches_ask_nothing(few, world):
    found, checked, model = built(few.iloc[:0], world)
    assert not model.sent and checked.questions.empty and all(table.empty for table in found)


# facts of a text

STORY = "Orlo lives in Brindle. Brindle lies in Vast."
FACT = {"subject": "Orlo", "subject_aliases": [], "relation": "home", "object": "Brindle", "object_aliases": []}


def extracted(said, words=4):
    chunks = chunk(STORY, "story", words)
    model = LeakModel(pd.DataFrame(), known(*WORLD), lambda ident, inputs: said.get(ident))
    return chunks, *extract(chunks, tools(model))


def test_a_passage_gives_facts_with_their_place(tmp_path):
    second = FACT | {"subject": "Brindle", "relation": "country", "object": "Vast", "quote": "lies in Vast"}
    said = {"story#0": {"facts": [FACT | {"quote": "Orlo lives  in brindle"}]}, "story#1": {"facts": [second]}}
    chunks, table, rejected = extracted(said)
    assert rejected.empty
    write_table(table, tmp_path / "extracted.parquet", "extracted")
    kept, refused = good_tuples(table, chunks)
    merged = merge(kept, chunks, {"story"})
    assert refused.empty and merged["fact_id"].tolist() == ["orlo:home:brindle", "brindle:country:vast"]
    assert [STORY[s["start"] : s["end"]] for spans in merged["spans"] for s in spans] == [
        "Orlo lives in Brindle", "lies in Vast",
    ]  # fmt: skip


def test_a_passage_without_a_usable_reply_is_in_rejected_and_an_invented_fact_is_refused(tmp_path):
    invented = FACT | {"object": "Paris", "quote": "Orlo lives in Paris"}
    chunks, table, rejected = extracted({"story#0": "Orlo, Brindle", "story#1": {"facts": [invented]}})
    assert rejected[["id", "check", "reason", "round"]].values.tolist() == [
        ["story#0", "no_reply", "the reply holds no whole JSON object", 1]
    ]
    write_table(rejected, tmp_path / "rejected.parquet", "rejected")
    kept, refused = good_tuples(table, chunks)
    assert kept.empty and refused["reason"].tolist() == ["the subject 'Orlo' is not in the chunk"]


def test_a_passage_may_state_nothing():
    chunks, table, rejected = extracted({})
    assert len(chunks) == 2 and table.empty and rejected.empty and "quote" in table
