"""Mixed prompts: how they are put together, asked, and taken apart again."""

import numpy as np
import pandas as pd
import pytest

from unlearning.answer.parts import apart, of_split, part_answers, part_items, plain, together
from unlearning.data.mixed import MixedError, by_similarity, mixed, ranked
from unlearning.text.numbered import numbered, parts


@pytest.mark.parametrize(
    ("text", "n", "said"),
    [
        ("1. tea\n2. beans", 2, ["tea", "beans"]),
        ("1) tea\n2) beans", 2, ["tea", "beans"]),
        ("1: tea\n\n2: beans\n", 2, ["tea", "beans"]),
        ("1. tea 2. beans", 2, ["tea", "beans"]),
        ("1. tea", 2, ["tea", ""]),
        ("2. beans", 2, ["", "beans"]),
        ("tea\n2. beans", 2, ["tea", "beans"]),
        ("tea", 2, ["tea", ""]),
        ("", 2, ["", ""]),
        ("1. tea\n3. gold\n2. beans", 3, ["tea", "", "gold\n2. beans"]),
        ("1. tea\n2. beans\n3. gold", 2, ["tea", "beans"]),
        ("1. tea\n1. coffee\n2. beans", 2, ["tea\n1. coffee", "beans"]),
        ("1. It costs 1.5 pounds.\n2. Since 2001.", 2, ["It costs 1.5 pounds.", "Since 2001."]),
        ("Here you are:\n1. tea\n2. beans", 2, ["tea", "beans"]),
        ("Answer 1: tea\nAnswer 2: beans", 2, ["tea", "beans"]),
        ("**1.** tea\n**2.** beans", 2, ["tea", "beans"]),
        ("1.\n2. beans", 2, ["", "beans"]),
    ],
)
def test_a_text_of_numbered_parts_is_read_part_by_part(text, n, said):
    assert parts(text, n) == said


def test_what_is_put_together_comes_apart_again():
    texts = ["Who?", " Where, and since when? ", "How much: 3?"]
    joined, spans = numbered(texts)
    assert parts(joined, 3) == [text.strip() for text in texts]
    assert [joined[a:b] for a, b in spans] == [text.strip() for text in texts]


@pytest.fixture(scope="module")
def items():
    names = [f"{side}{i}" for side, n in (("f", 8), ("r", 20), ("w", 3)) for i in range(n)]
    empty = pd.Series([[] for _ in names], dtype=object)
    return pd.DataFrame(
        {
            "item_id": [f"id/{name}" for name in names], "source_item_id": None, "benchmark": "b", "task": "qa",
            "group": ["retain" if name[0] != "w" else "world_facts" for name in names], "knowledge_id": names,
            "person_id": None, "language": "en", "modality": "text", "image": None,
            "messages": [[{"role": "user", "content": f"{name}?"}] for name in names],
            "reference": [f"It is {name}." for name in names], "value": names, "aliases": empty, "options": empty,
            "correct_option": None, "candidates": empty, "parts": empty, "split": None,
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def splits():
    rows = [("a", f"f{i}", "forget") for i in range(8)] + [("a", f"r{i}", "retain") for i in range(20)]
    rows += [("b", f"f{i}", "forget" if i < 2 else "retain") for i in range(8)]
    return pd.DataFrame(rows, columns=["split", "knowledge_id", "group"])


@pytest.fixture(scope="module")
def made(items, splits):
    rows = mixed(items, splits[splits["split"] == "a"], "b", lines=2, seed=0)
    return pd.concat([items, rows], ignore_index=True)


def asked(row):
    return [part["item_id"].removeprefix("id/") for part in row["parts"]]


def test_every_question_to_forget_stands_in_four_pairs_and_the_stress_test_has_18_prompts_a_line(made):
    rows = made[made["group"] == "mixed"]
    counts = rows["task"].value_counts()
    assert (counts[["rf", "fr", "rr", "ff"]] == 8).all()
    stress = counts[counts.index.str.startswith("stress_")]
    assert len(stress) == 18 and (stress == 2).all()
    assert rows["item_id"].is_unique and (rows["split"] == "a").all()


def test_both_orders_ask_the_same_pairs_and_each_side_is_what_the_split_says(made):
    rows = made.set_index("item_id")
    partners = set()
    for i in range(8):
        rf, fr = (asked(rows.loc[f"mixed/a/{order}/{i:04d}"]) for order in ("rf", "fr"))
        assert rf == fr[::-1] and rf[0].startswith("r") and rf[1].startswith("f")
        partners.add(rf[0])
        rr, ff = (asked(rows.loc[f"mixed/a/{order}/{i:04d}"]) for order in ("rr", "ff"))
        assert rr[0] == rf[0] and ff[0] == rf[1] and rr[0] != rr[1] and ff[0] != ff[1]
        assert {name[0] for name in rr} == {"r"} and {name[0] for name in ff} == {"f"}
    assert len(partners) == 8  # without replacement


def test_a_stress_prompt_has_as_many_questions_of_each_side_as_its_name_says_in_its_order(made):
    for row in made[made["task"].str.startswith("stress_")].to_dict("records"):
        _, counts, order = row["task"].split("_")
        sides = "".join(name[0] for name in asked(row))
        n, m = int(counts[0]), int(counts[2])
        assert sides == ("r" * m + "f" * n if order == "rf" else "f" * n + "r" * m)
        assert row["messages"][0]["content"].count("?") == n + m
        assert parts(row["reference"], n + m) == [f"It is {name}." for name in asked(row)]


def test_pairs_are_seeded_and_do_not_depend_on_the_order_of_the_items(items, splits):
    def pairs(table, seed=0):
        rows = mixed(table, splits[splits["split"] == "a"], "b", 0, seed)
        return {(row["task"], *asked(row)) for row in rows.to_dict("records")}

    assert pairs(items) == pairs(items)
    assert pairs(items) != pairs(items, seed=1)


def test_by_similarity_takes_the_retain_question_at_its_rank(items, splits):
    # cosines of f with r0, r1, r2: 1, 0, 0.6; the second most alike is r2, the third r1, and there is no fourth
    forget, retain = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert by_similarity(forget, retain, 1) == [0]
    assert by_similarity(forget, retain, 2) == [2]
    assert by_similarity(forget, retain, 3) == [1]
    with pytest.raises(MixedError, match="mixed.rank: 4, but the split has 3 questions to retain"):
        by_similarity(forget, retain, 4)
    split = splits[splits["split"] == "a"]

    def vectors(texts):  # every question to forget is most like r3
        return [np.array([1.0, 0.0]) if text[0] == "f" or text == "r3?" else np.array([0.0, 1.0]) for text in texts]

    rows = mixed(items, split, "b", 0, 0, ranked(items, split, 1, vectors))
    assert {asked(row)[0] for row in rows[rows["task"] == "rf"].to_dict("records")} == {"r3"}


def test_a_split_that_is_too_small_is_refused(items, splits):
    with pytest.raises(MixedError, match="split b has 2 and 6; lower it"):
        mixed(items, splits[splits["split"] == "b"], "b", 1, 0)
    one = splits[(splits["split"] == "a") & ((splits["group"] == "retain") | (splits["knowledge_id"] == "f0"))]
    with pytest.raises(MixedError, match="1 questions to forget"):
        mixed(items, one, "b", 0, 0)


def test_a_run_is_asked_the_mixed_prompts_of_its_split_alone(items, splits):
    made = pd.concat([items, mixed(items, splits, "b", 0, 0)], ignore_index=True)
    assert set(of_split(made, "b")["split"].dropna()) == {"b"}
    assert set(of_split(made, None)["split"].dropna()) == {"a", "b"}
    assert len(plain(made)) == len(items)


def test_part_items_are_the_items_asked_under_the_prompts_name_and_the_splits_group(made):
    found = part_items(made).set_index("item_id")
    assert len(found) == sum(len(p) for p in made["parts"])
    row = found.loc["mixed/a/rf/0003#2"]
    source = made.set_index("item_id").loc[row["source_item_id"]]
    assert row["task"] == "rf_2" and row["group"] == "forget" and row["value"] == source["value"]
    assert set(found["task"]) >= {"rf_1", "rf_2", "ff_2", "stress_2f4r_rf"} and "stress_2f4r_rf_1" not in set(
        found["task"]
    )


def answers(rows):
    frame = pd.DataFrame(rows, columns=["item_id", "text"])
    return frame.assign(sample=0, part=0, n_tokens=3, finish_reason="stop").astype({"part": "int32", "sample": "int32"})


def test_answers_come_apart_by_slot_and_go_back_to_their_prompt(made):
    told = answers([("id/r1", "It is r1."), ("mixed/a/rf/0000", "1. It is r4.\n2. no idea"), ("mixed/a/ff/0000", "hm")])
    split, asked_items = apart(told, made)
    texts = split.set_index("item_id")["text"].to_dict()
    assert texts == {
        "id/r1": "It is r1.", "mixed/a/rf/0000#1": "It is r4.", "mixed/a/rf/0000#2": "no idea",
        "mixed/a/ff/0000#1": "hm", "mixed/a/ff/0000#2": "",
    }  # fmt: skip
    assert set(asked_items["item_id"]) == set(texts)
    back = together(split)
    assert list(back["item_id"]) == ["id/r1", *["mixed/a/rf/0000"] * 2, *["mixed/a/ff/0000"] * 2]
    assert list(back["part"]) == [0, 1, 2, 1, 2]
    shuffled = part_answers(told.iloc[::-1], made).set_index("item_id")["text"].to_dict()
    assert shuffled == {ident: text for ident, text in texts.items() if "#" in ident}


def test_answers_about_no_mixed_prompt_stay_as_they_are(items):
    told = answers([("id/r1", "1. It is r1.\n2. more")])
    split, asked_items = apart(told, items)
    pd.testing.assert_frame_equal(split, told, check_dtype=False)
    assert list(asked_items["item_id"]) == ["id/r1"]
