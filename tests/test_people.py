"""mu2-Bench's invented people: names, values, and what may not change them."""

import pytest

from mu2_sources import POOLS, people
from unlearning.data.profiles import draw_profiles
from unlearning.data.text import fold
from unlearning.tables.artifacts import to_table


def test_the_same_seed_draws_the_same_people_and_another_seed_others():
    assert people().equals(people())
    assert not people().equals(people(seed=1))
    to_table(people(), "profiles")


def test_more_people_or_another_attribute_leave_a_person_as_they_were():
    few, many = people(memorised=3), people(memorised=8, background=9)
    first = [f"memorised{i:04d}" for i in range(3)]
    assert (
        few[few.person_id.isin(first)]
        .reset_index(drop=True)
        .equals(many[many.person_id.isin(first)].reset_index(drop=True))
    )
    all_three, two = people(2, 1, 0), people(2, 1, 0, attributes=("month", "toy"))
    assert two.equals(all_three[all_three.attribute != "fruit"].reset_index(drop=True))


@pytest.mark.parametrize("seed", range(5))
def test_no_two_people_share_a_name_or_all_values(seed):
    drawn = people(memorised=20, nonmember=8, background=8, seed=seed)  # all 36 combinations are taken
    assert drawn.groupby("person_id")["name"].first().is_unique
    assert drawn.groupby("person_id")["value"].agg(tuple).is_unique
    assert drawn.groupby("role")["person_id"].nunique().to_dict() == {"memorised": 20, "nonmember": 8, "background": 8}


WIDE = {"number": {str(number): "a number" for number in range(10_000)}}


def test_no_two_of_very_many_people_share_a_name():
    names = draw_profiles(WIDE, {"memorised": 1_500}, ["number"], 0, set())["name"]
    assert names.is_unique  # unchecked draws of 1,500 would repeat some


def test_one_role_is_drawn_the_same_however_many_the_others_are():
    few, many = (draw_profiles(WIDE, {"memorised": n, "background": 5}, ["number"], 0, set()) for n in (2, 20))
    assert (
        few[few.role == "background"]
        .reset_index(drop=True)
        .equals(many[many.role == "background"].reset_index(drop=True))
    )


def test_no_name_holds_a_banned_word_and_only_whole_words_are_banned():
    names = people(memorised=30)["name"].unique()
    first = {fold(name.split()[0]) for name in names}
    counts = {"memorised": 30}
    again = draw_profiles(POOLS, counts, ["month", "toy", "fruit"], 0, first)["name"].unique()
    assert not first & {word for name in again for word in fold(name).split()}
    letters = {word[:3] for word in first}  # beginnings of names are no words
    kept = draw_profiles(POOLS, counts, ["month", "toy", "fruit"], 0, letters)["name"].unique()
    assert len(set(kept) & set(names)) > 20


def test_a_full_name_can_be_banned_too():
    name = people(memorised=1)["name"].iloc[0]
    assert draw_profiles(POOLS, {"memorised": 1}, ["month"], 0, {fold(name)})["name"].iloc[0] != name


@pytest.mark.parametrize(
    ("counts", "attributes", "message"),
    [
        ({"memorised": 37}, ["month", "toy", "fruit"], "37 people need different combinations of values.*have 36"),
        ({"memorised": 1}, ["job"], r"unknown \['job'\]"),
        ({"memorised": 1}, [], "at least one of month, toy, fruit"),
        ({"member": 1}, ["toy"], "for memorised, nonmember, background"),
        ({"memorised": -1}, ["toy"], "for memorised, nonmember, background"),
    ],
)
def test_people_that_cannot_be_drawn_are_refused(counts, attributes, message):
    with pytest.raises(ValueError, match=message):
        draw_profiles(POOLS, counts, attributes, 0, set())
