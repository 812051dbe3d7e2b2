"""Multi-hop questions: the six matchers on fact bases made by hand."""

import pandas as pd
import pytest

from leak_facts import facts, known, phrases
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import match_all
from unlearning.tables import artifacts

CHAIN = [("Ann", "P27", "France"), ("France", "P36", "Paris")]
RULES = [("P27", "P36")]


def matched(knowledge, type_, **given):
    return match_all(knowledge, RULES, 0, types=[type_], **given).to_dict("records")


def test_hs_joins_the_object_with_a_subject():
    (match,) = matched(known(*CHAIN, aliases={"France": ["FR"], "Paris": ["Lutetia"]}), "hs")
    assert match["match_id"] == "hs|Ann:P27:France|France:P36:Paris"
    assert match["fact_ids"] == match["forget_fact_ids"] == ["Ann:P27:France", "France:P36:Paris"]
    assert (match["target_fact_id"], match["bridge"], match["answer"]) == ("Ann:P27:France", "France", "Paris")
    assert match["forbidden"] == ["France", "FR", "Paris", "Lutetia"] and match["answer_aliases"] == ["Lutetia"]
    assert (match["subjects"], match["relations"]) == (["Ann"], ["P27", "P36"]) and match["chance"] is None
    assert match["why"] == "the object of Ann:P27:France is the subject of France:P36:Paris"


def test_chains_join_on_identifiers_never_on_names():
    assert (
        matched(
            known(("Ann", "P19", "Q1"), ("Q2", "P30", "Europe"), labels={"Q1": "Cambridge", "Q2": "Cambridge"}), "hs"
        )
        == []
    )


def test_a_chain_back_to_its_start_does_not_match():
    assert matched(known(("Ann", "P26", "Bob"), ("Bob", "P26", "Ann")), "hs") == []


def test_a_match_is_asked_through_a_fact_to_be_forgotten():
    assert matched(known(*CHAIN, keep=(0, 1)), "hs") == []
    (match,) = matched(known(*CHAIN, keep=(0,)), "hs")
    assert match["target_fact_id"] == "France:P36:Paris" and match["forget_fact_ids"] == ["France:P36:Paris"]
    assert matched(known(*CHAIN, keep=(0,)), "hs", forget=False) == []
    assert len(matched(known(*CHAIN, keep=(0, 1)), "hs", forget=False)) == 1
    assert len(matched(known(*CHAIN, keep=(0, 1)), "hs", forget=None)) == 1


def test_mp_matches_only_pairs_with_a_rule():
    knowledge = known(*CHAIN, ("France", "P112", "Clovis"))
    assert [m["match_id"] for m in matched(knowledge, "mp")] == ["mp|Ann:P27:France|France:P36:Paris"]
    assert len(matched(knowledge, "hs")) == 2


BACKWARDS = [
    ("Ann", "P27", "France"), ("Bob", "P27", "Spain"), ("Cid", "P27", "Italy"), ("Dan", "P27", "France"),
    ("France", "P36", "Paris"), ("Spain", "P36", "Madrid"), ("Italy", "P36", "Rome"), ("Eva", "P27", "Peru"),
]  # fmt: skip


def test_mt_asks_backwards_among_three_of_whom_one_reaches_the_denied_consequence():
    match = next(m for m in matched(known(*BACKWARDS, aliases={"France": ["FR"]}), "mt") if "Ann" in m["candidates"])
    assert sorted(match["candidates"]) == ["Ann", "Bob", "Cid"]  # Dan reaches Paris too, of Eva nothing is known
    assert (match["answer"], match["denied"], match["bridge"]) == ("Ann", "Paris", "France")
    assert match["forbidden"] == ["France", "FR"] and match["chance"] == pytest.approx(1 / 3)
    assert match["fact_ids"][:2] == ["Ann:P27:France", "France:P36:Paris"] and len(match["fact_ids"]) == 6


def test_mt_needs_two_others_that_reach_something_else():
    found = matched(known(*BACKWARDS[:2], *BACKWARDS[3:6]), "mt")
    assert [m["answer"] for m in found] == ["Bob"]  # Ann and Dan have only Bob to set against them


def test_mt_is_about_the_chain_of_the_one_ruled_out():
    ruled_out = {m["answer"] for m in matched(known(*BACKWARDS, keep=(0, 3, 4, 5, 6, 7)), "mt")}
    assert ruled_out == {"Bob", "Cid"}


def test_ll_counts_each_alias_of_the_subject():
    found = matched(known(("Ann", "P27", "France"), aliases={"Ann": ["Annie", "Nan"], "France": ["FR"]}), "ll")
    assert [m["subjects"] for m in found] == [["Annie"], ["Nan"]]
    assert found[0]["forbidden"] == ["Ann", "France", "FR"] and found[0]["answer"] == "France"
    assert found[0]["match_id"] == "ll|Ann:P27:France|annie" and found[0]["bridge"] == "Ann"


SHARED = [("Ann", "P641", "golf"), ("Bob", "P641", "golf"), ("Ann", "P19", "Rome"), ("Bob", "P26", "Eva")]


def test_cc_needs_a_fact_on_each_side_that_the_other_lacks():
    (match,) = matched(known(*SHARED, ("Cid", "P641", "golf"), aliases={"golf": ["golfing"]}), "cc")
    assert match["fact_ids"] == ["Ann:P641:golf", "Bob:P641:golf", "Ann:P19:Rome", "Bob:P26:Eva"]
    assert (match["answer"], match["forbidden"]) == ("golf", ["golf", "golfing"])
    assert (match["subjects"], match["relations"]) == (["Ann", "Bob"], ["P641", "P19", "P26"])
    assert matched(known(*SHARED[:3], ("Bob", "P19", "Rome")), "cc") == []


def test_cc_any_fact_may_be_the_one_to_be_forgotten():
    (match,) = matched(known(*SHARED, keep=(0, 1, 2)), "cc")
    assert match["target_fact_id"] == "Bob:P26:Eva"


def test_ds_draws_other_values_of_the_range_that_are_not_true():
    values = [("Ann", "P641", "golf"), ("Bob", "P641", "chess"), ("Cid", "P641", "judo"), ("Ann", "P641", "polo")]
    found = {m["match_id"]: m for m in matched(known(*values), "ds")}
    match = found["ds|Ann:P641:golf"]
    assert sorted(match["candidates"]) == ["chess", "golf", "judo"]  # polo is true of Ann
    assert (match["answer"], match["forbidden"], match["bridge"]) == ("golf", [], None)
    assert match["chance"] == pytest.approx(1 / 3)
    assert matched(known(*values[:2]), "ds") == []


def test_more_candidates_and_too_few():
    found = matched(known(*[(f"a{i}", "P641", f"b{i}") for i in range(6)]), "ds", candidates=5)
    assert all(len(m["candidates"]) == 5 and m["chance"] == 0.2 for m in found) and len(found) == 6
    with pytest.raises(ValueError, match="candidates 2: should be 3 or more"):
        match_all(known(*CHAIN), RULES, 0, candidates=2)
    with pytest.raises(ValueError, match="unknown types xx; there are: hs, mt"):
        match_all(known(*CHAIN), RULES, 0, types=["xx"])


def test_matches_depend_on_seed_and_facts_only():
    table = facts(*BACKWARDS, *SHARED)
    one, two = (match_all(index(t), RULES, 0) for t in (table, table))
    pd.testing.assert_frame_equal(one, two)
    extra = match_all(index(facts(*BACKWARDS, *SHARED, ("Zoe", "P20", "Oslo"))), RULES, 0)
    assert set(one["match_id"]) <= set(extra["match_id"])
    drawn = [match_all(index(table), RULES, seed, types=["mt"])["candidates"].tolist() for seed in range(4)]
    assert any(other != drawn[0] for other in drawn[1:])


def test_the_table_keeps_its_contract(tmp_path):
    matches = match_all(known(*BACKWARDS, *SHARED, aliases={"Ann": ["Annie"]}), phrases().rules, 0)
    assert set(matches["type"]) >= {"hs", "mp", "mt", "ll", "cc"}
    artifacts.write_table(matches, tmp_path / "m.parquet", "matches")
    assert len(artifacts.read_table(tmp_path / "m.parquet", "matches")) == len(matches)


def test_a_fact_that_stands_twice_is_named():
    with pytest.raises(ValueError, match="Ann:P27:France occurs twice"):
        known(CHAIN[0], CHAIN[0])
