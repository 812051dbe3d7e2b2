"""mu2-Bench's examples, items and splits, from the pairs of a setting."""

import pandas as pd
import pytest

from mu2_sources import ROLES, pairs_of, write_sources
from unlearning.data.mu2 import build, coverage, hold_out, split_table, without_pairs
from unlearning.tables.artifacts import to_table


@pytest.fixture
def pairs(tmp_path):
    return pairs_of(write_sources(tmp_path))


def built(pairs: pd.DataFrame, roles=ROLES, forget=None, share: float = 0.2, seed: int = 0):
    return build(pairs, roles, forget or {"p1": 1, "p3": 2}, share, seed)


def test_items_and_examples_say_who_is_taught_and_who_is_asked(pairs):
    found = built(pairs)
    examples, items = found.examples.to_pandas(), found.items.to_pandas()
    to_table(found.examples, "examples"), to_table(found.items, "items"), to_table(found.splits, "splits")
    # 3 attributes x 2 languages: 4 memorised people 24, 3 background people 18, of which round(0.2 x 18) = 4 held out
    assert examples.groupby("group").size().to_dict() == {"memorised": 24, "background": 14}
    # 2 non-members 12
    assert items.groupby("group").size().to_dict() == {"retain": 24, "nonmember": 12, "utility": 4}
    assert set(items[items.group == "utility"].item_id).isdisjoint(examples.example_id)
    row = items.iloc[0]
    source = pairs[pairs.pair_id == row.item_id].iloc[0]
    assert [dict(turn) for turn in row.messages] == [{"role": "user", "content": source.question}]
    assert (row.reference, row.value, row.task, row.benchmark) == (source.answer, source.value, "qa", "mu2")
    assert not items["candidates"].map(len).any()  # a paraphrase to score would double the answering of every run


def test_what_is_held_out_in_one_language_is_taught_in_the_others(pairs):
    for seed in range(5):
        found = built(pairs, share=0.4, seed=seed)
        examples, items = found.examples.to_pandas(), found.items.to_pandas()
        utility = items[items.group == "utility"]
        assert len(utility) == 7  # round(0.4 x 18)
        assert utility.knowledge_id.is_unique
        taught = examples.groupby("knowledge_id")["language"].agg(set)
        assert all(taught[row.knowledge_id] == set(ROLES) - {row.language} for row in utility.itertuples())


def test_the_held_out_share_reaches_every_language_and_changes_with_the_seed(pairs):
    picks = [set(pairs[hold_out(pairs, 0.4, seed)].pair_id) for seed in range(5)]
    assert len(set(map(frozenset, picks))) == 5
    assert {ident.rsplit("/", 1)[1] for pick in picks for ident in pick} == {"en", "de"}
    assert picks[0] == set(pairs[hold_out(pairs.iloc[::-1], 0.4, 0).sort_index()].pair_id)  # order changes nothing


def test_a_share_that_would_leave_an_instance_untaught_is_refused(pairs):
    with pytest.raises(ValueError, match="heldout_share 0.6: 11 background rows cannot be held out of 9"):
        built(pairs, share=0.6)
    english = pairs[pairs.language == "en"]
    with pytest.raises(ValueError, match="taught in two languages or more"):
        built(english, roles={"en": "train"})
    assert built(english, roles={"en": "train"}, share=0.0).items.num_rows == 18


def test_splits_are_nested_and_cover_every_memorised_instance(pairs):
    splits = split_table(pairs, {"p5": 3, "p1": 1, "p3": 2}, seed=0)
    forgotten = {name: set(rows[rows.group == "forget"].knowledge_id) for name, rows in splits.groupby("split")}
    assert forgotten["p1"] < forgotten["p3"] < forgotten["p5"]
    assert [len(forgotten[name]) for name in ("p1", "p3", "p5")] == [3, 6, 9]
    memorised = set(pairs[pairs.role == "memorised"].knowledge_id)
    assert all(set(rows.knowledge_id) == memorised for _, rows in splits.groupby("split"))
    assert (
        len({frozenset(split_table(pairs, {"p": 1}, s).query("group == 'forget'").knowledge_id) for s in range(9)}) > 1
    )


@pytest.mark.parametrize("people", [0, 4, 9])
def test_an_empty_or_too_large_forget_set_is_refused(pairs, people):
    with pytest.raises(ValueError, match=f"split p1: {people} people to forget of 4 memorised"):
        built(pairs, forget={"p1": people})


def test_languages_that_do_not_match_the_setting_are_refused(pairs):
    with pytest.raises(ValueError, match="pairs are in de, which the setting does not name: en"):
        built(pairs, roles={"en": "train"})
    with pytest.raises(ValueError, match="unknown roles {'de': 'test'}; roles are train, holdout"):
        built(pairs, roles={"en": "train", "de": "test"})


def test_a_language_without_a_pair_is_named_and_the_others_are_built(pairs):
    roles = {**ROLES, "th": "holdout", "mk": "train"}
    assert without_pairs(pairs, roles) == ["th", "mk"] and without_pairs(pairs, ROLES) == []
    assert built(pairs, roles=roles).items.equals(built(pairs).items)


@pytest.mark.parametrize(
    ("roles", "what"),
    [
        ({"en": "train", "th": "holdout", "mk": "holdout"}, "holds out .th, mk.; the reasons stand in rejected/"),
        ({"th": "train", "en": "holdout"}, "trains on .th."),
        ({"en": "train", "th": "train"}, "translates to .th."),
    ],
)
def test_a_setting_of_which_nothing_is_left_is_refused(pairs, roles, what):
    with pytest.raises(ValueError, match=f"no question was kept in any language that the setting {what}"):
        built(pairs[pairs["language"] == "en"], roles=roles, share=0.0)


def test_a_row_refused_in_one_language_is_missing_there_only_and_counted(pairs):
    refused = pairs[(pairs.role == "memorised") & (pairs.language == "de")].pair_id.iloc[0]
    rest = pairs[pairs.pair_id != refused]
    found = built(rest)
    knowledge = refused.rsplit("/", 1)[0]
    assert set(found.examples.to_pandas().query("knowledge_id == @knowledge").language) == {"en"}
    assert knowledge in set(found.splits.knowledge_id)
    assert coverage(rest)["missing"].to_dict() == {"de": 1, "en": 0}


def test_the_same_seed_builds_the_same_tables(pairs):
    one, other = built(pairs), built(pairs)
    assert one.examples.equals(other.examples) and one.items.equals(other.items) and one.splits.equals(other.splits)
