"""MQuAKE's file: what is read from it, its traps, and the questions made of it."""

import collections
import gzip
import json
import re

import pytest

import leak_independent
from leak_facts import MQUAKE, phrases
from unlearning.data.leak import compose, decompose, select
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import TYPES, match_all
from unlearning.data.leak.mquake import MquakeError, read_mquake
from unlearning.data.leak.names import clean_aliases, is_short
from unlearning.data.leak.verify import verify
from unlearning.data.text import fold

real = pytest.mark.skipif(not MQUAKE.is_file(), reason="MQuAKE's file is not there")
N = 640  # matches of each type composed in the tests: enough for 500 questions


@pytest.fixture(scope="module")
def cases():
    return json.loads(gzip.decompress(MQUAKE.read_bytes()))


@pytest.fixture(scope="module")
def facts():
    return read_mquake(MQUAKE)


@pytest.fixture(scope="module")
def knowledge(facts):
    return index(facts)


@pytest.fixture(scope="module")
def matches(knowledge):
    return match_all(knowledge, phrases().rules, 0)


@pytest.fixture(scope="module")
def verified(matches, knowledge):
    drawn = select.draw(matches, N, 0)
    composed = compose.compose(drawn, phrases())
    return verify(drawn, composed, decompose.decompose(composed, phrases(), knowledge), knowledge)


def edited(case):
    return {(edit[0], edit[1]) for edit in case["orig"]["edit_triples"]}


# what the file gives


@real
def test_all_cases_are_read(facts, cases):
    assert len(cases) == 3000 and {c for ids in facts["case_ids"] for c in ids} == {c["case_id"] for c in cases}
    assert len(facts) == facts["fact_id"].nunique() == 3476 and facts["relation"].nunique() == 36
    assert facts["group"].value_counts().to_dict() == {"forget": 2197, "retain": 1279}
    assert set(facts["relation"]) == set(phrases().relations)
    labels = dict(zip(facts["relation"], facts["relation_label"], strict=True))
    assert labels == {name: relation.label for name, relation in phrases().relations.items()}


@real
def test_a_fact_carries_its_question_statement_and_cases(facts, cases):
    row = facts.set_index("fact_id").loc["Q72077:P27:Q30"]
    assert row["question"] == "What is the country of citizenship of Ellie Kemper?"
    assert row["statement"] == "Ellie Kemper is a citizen of United States of America."
    assert row["cloze"] == "Ellie Kemper is a citizen of" and row["group"] == "forget"
    assert row["case_ids"] == [c["case_id"] for c in cases if ["Q72077", "P27", "Q30"] in c["orig"]["triples"]]
    assert "USA" in row["object_aliases"] and list(row["subject_aliases"]) == []


@real
def test_several_edits_of_a_case_all_count(facts, cases):
    several = [case for case in cases if len(case["requested_rewrite"]) > 1]
    assert len(several) == 1907
    forgotten = {tuple(ident.split(":")[:2]) for ident in facts.loc[facts["group"] == "forget", "fact_id"]}
    for case in several:
        assert {key for key in edited(case)} & {tuple(t[:2]) for t in case["orig"]["triples"]} <= forgotten
        assert [edit["relation_id"] for edit in case["requested_rewrite"]] == [
            edit[1] for edit in case["orig"]["edit_triples"]
        ]


@real
def test_counterfactual_triples_never_enter_though_cases_contradict_each_other(facts, cases):
    edits = {(e[0], e[1]): e[2] for case in cases for e in case["orig"]["edit_triples"]}
    against = [
        case for case in cases
        if any(edits.get((t[0], t[1]), t[2]) != t[2] for t in case["orig"]["new_triples"])
    ]  # fmt: skip
    assert len(against) == 998  # another case's edit contradicts what this one's new chain takes as given
    original = {":".join(t) for case in cases for t in case["orig"]["triples"]}
    assert set(facts["fact_id"]) == original
    invented = {":".join(t) for case in cases for t in case["orig"]["edit_triples"]}
    assert not invented & original
    assert not facts.duplicated(["subject_id", "relation"]).any()


@real
def test_cases_with_empty_answer_aliases(facts, cases):
    bare = [case for case in cases if not case["answer_alias"]]
    assert len(bare) == 268
    by_id = facts.set_index("fact_id")["object_aliases"]
    assert all(list(by_id[":".join(case["orig"]["triples"][-1])]) == [] for case in bare)


@real
@pytest.mark.parametrize(
    ("count", "trap"),
    [
        (64, lambda c: c["answer"] in c["answer_alias"]),
        (222, lambda c: len({a.casefold() for a in c["answer_alias"]}) < len(c["answer_alias"])),
    ],
)
def test_aliases_that_repeat_the_answer_or_each_other_are_dropped(facts, cases, count, trap):
    found = [case for case in cases if trap(case)]
    assert len(found) == count
    by_id = facts.set_index("fact_id")
    for row in by_id.loc[[":".join(case["orig"]["triples"][-1]) for case in found]].itertuples():
        folded = [fold(name) for name in (row.object, *row.object_aliases)]
        assert len(set(folded)) == len(folded)


@real
def test_aliases_of_two_characters_are_kept_and_told_by_their_case(facts, cases):
    short = [c for c in cases if any(len(a) <= 2 for a in c["answer_alias"] + c["new_answer_alias"])]
    assert len(short) == 1410
    kept = {alias for aliases in facts["object_aliases"] for alias in aliases if is_short(alias)}
    assert {"US", "IT", "NO"} <= kept


@real
def test_flags_and_other_emoji_are_no_aliases(facts, cases):
    emoji = re.compile("[\U0001f000-\U0001faff]")
    flagged = [c for c in cases if any(emoji.search(a) for a in c["answer_alias"] + c["new_answer_alias"])]
    assert len(flagged) == 275
    names = [name for column in ("subject_aliases", "object_aliases") for names in facts[column] for name in names]
    assert not any(emoji.search(name) for name in names) and all(re.search(r"\w", name) for name in names)


@real
def test_the_old_answers_aliases_are_not_mixed_with_the_new_ones(facts, cases):
    old, new = ([{fold(a) for a in (c[f"{p}answer"], *c[f"{p}answer_alias"])} for c in cases] for p in ("", "new_"))
    overlap = [c for c, one, other in zip(cases, old, new, strict=True) if one & other]
    assert [case["case_id"] for case in overlap] == [217]
    row = facts.set_index("fact_id").loc[":".join(overlap[0]["orig"]["triples"][-1])]
    assert "UKGBI" in overlap[0]["new_answer_alias"] and "UKGBI" not in row["object_aliases"]


@real
def test_labels_that_several_entities_bear_are_told_apart(knowledge):
    bearing = collections.Counter(knowledge.label(entity) for entity in knowledge.names)
    several = {label: n for label, n in bearing.items() if n > 1}
    assert several == {"Cambridge": 2, "Ford Mustang": 3, "Portal": 2, "Forza Italia": 2}
    assert all(len(knowledge.entities(label)) >= n for label, n in several.items())


def test_cleaning_aliases_by_hand():
    found = clean_aliases("Beyoncé", ["", " ", "beyonce", "🇺🇸", "Queen B", "QUEEN  B", " Bee ", "US", "⚾"])
    assert found == ("Queen B", "Bee", "US")


def case(**changed):
    hop = {"question": "q?", "cloze": "Ann is from", "answer": "France", "answer_alias": ["FR"]}
    orig = {"triples": [["Q1", "P27", "Q2"]], "triples_labeled": [["Ann", "citizen", "France"]]}
    orig["edit_triples"] = [["Q1", "P27", "Q3"]]
    return {"case_id": 7, "single_hops": [hop], "orig": orig} | changed


def test_a_plain_json_file_is_read_too(tmp_path):
    (tmp_path / "m.json").write_text(json.dumps([case()]))
    (row,) = read_mquake(tmp_path / "m.json").to_dict("records")
    assert (row["fact_id"], row["statement"], row["case_ids"]) == ("Q1:P27:Q2", "Ann is from France.", [7])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "m.json: should be a JSON array of cases"),
        ("[", "m.json: not readable as JSON"),
        (json.dumps([case(orig={})]), "case 7: lacks 'triples'; a case has case_id"),
        (json.dumps([case(single_hops=[])]), "case 7: 1 triples, 1 labelled ones, 0 single_hops"),
    ],
)
def test_another_file_is_refused_with_the_case_and_what_is_expected(tmp_path, content, said):
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(MquakeError, match=said):
        read_mquake(tmp_path / "m.json")
    with pytest.raises(MquakeError, match="n.json: no such file"):
        read_mquake(tmp_path / "n.json")


# the questions made of it


@real
def test_every_type_has_matches_enough(matches):
    counts = matches["type"].value_counts()
    assert counts["cc"] == 536 and counts.min() == 536 and set(counts.index) == set(TYPES)
    assert counts.to_dict() == {"hs": 5773, "mp": 4489, "mt": 5296, "ll": 2052, "cc": 536, "ds": 2193}
    assert matches["match_id"].is_unique and (matches["forget_fact_ids"].map(len) > 0).all()


@real
def test_five_hundred_questions_of_each_type_pass_the_independent_check(verified, facts):
    kept, funnel = select.balanced(verified.questions, verified.funnel, 500, 0)
    assert kept["type"].value_counts().to_dict() == dict.fromkeys(TYPES, 500)
    assert funnel[funnel["step"] == "kept"]["n"].tolist() == [500] * 6
    questions = kept.to_dict("records")
    assert leak_independent.violations(questions, facts.to_dict("records")) == []
    assert all(len(row["paraphrases"]) <= 2 and len(row["aliases"]) <= 3 for row in questions)


@real
def test_the_independent_check_finds_what_is_put_in(verified, facts):
    """It would be worth nothing if it passed everything."""
    records = facts.to_dict("records")
    for type_ in TYPES:
        row = verified.questions[verified.questions["type"] == type_].iloc[0].to_dict()
        name = {"mt": row["bridge"], "ll": row["bridge"]}.get(type_, row["answer"]).upper()
        bad = row | {"question": f"{row['question']} ({name})"}
        assert leak_independent.violations([bad], records), type_
        assert not leak_independent.violations([row], records)
    unforgotten = next(r["fact_id"] for r in records if r["group"] == "retain")
    assert leak_independent.violations([row | {"type": "cc", "fact_ids": [unforgotten]}], records)


@real
def test_every_refusal_has_its_reason(verified, matches):
    assert set(verified.rejected["check"]) <= {"leak", "decomposition", "uniqueness"}
    assert verified.rejected["reason"].str.len().min() > 5
    steps = verified.funnel.pivot(index="type", columns="step", values="n")
    assert (steps["matched"] >= steps["composed"]).all() and (steps["composed"] >= steps["decomposed"]).all()
    assert (steps["decomposed"] >= steps["unique"]).all()
