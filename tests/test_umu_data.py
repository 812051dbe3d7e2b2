"""UMU-Bench's invented people, their faces, and what is taught and asked about them."""

import copy
import datetime
import io
import json
import random

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import umu_independent
from mu2_sources import ROOT
from unlearning.data.umu.drawing import picture, png
from unlearning.data.umu.faces import draw_face
from unlearning.data.umu.layout import build
from unlearning.data.umu.lists import FIELDS, read_lists
from unlearning.data.umu.people import COLUMNS, LEAST, Seen, coarse, invent, written
from unlearning.data.umu.questions import options, read_questions
from unlearning.data.umu.sheet import sheet
from unlearning.data.yaml_files import ResourceError
from unlearning.tables.artifacts import read_table, write_table

UMU = ROOT / "resources" / "umu"
LISTS = read_lists(UMU / "places.yaml", UMU / "people.yaml")
QUESTIONS = read_questions(UMU / "questions.yaml")
PAPER = {"memorised": 500, "known": 153, "background": 0}
SMALL = {"memorised": 8, "known": 3, "background": 4}
SPLITS = {"p5": 25, "p10": 50, "p15": 75}


@pytest.fixture(scope="module")
def full():
    """The paper's people; small pictures, which are drawn as the large ones are."""
    return invent(LISTS, PAPER, 56, 0)


@pytest.fixture(scope="module")
def small():
    return invent(LISTS, SMALL, 56, 0)


@pytest.fixture(scope="module")
def kept(small):
    return rows(laid_out(small), small)


@pytest.fixture
def tables(kept):
    """People, examples, items and splits, to spoil."""
    return copy.deepcopy(kept)


def rows(built, people):
    return [people.to_dict("records"), built.examples.to_pylist(), built.items.to_pylist(),
            built.splits.to_dict("records")]  # fmt: skip


def laid_out(people, text_side="text", fields=FIELDS, forget=None):
    return build(people, QUESTIONS, fields, text_side, forget or {"one": 1, "two": 2}, 0)


@pytest.fixture(scope="module")
def checked(full):
    """Its rows by table, and what the independent checker finds wrong with them."""
    tables = rows(laid_out(full, forget=SPLITS), full)
    return tables, umu_independent.violations(*tables)


def test_the_papers_counts_at_full_size(full, checked):
    tables, bad = checked
    assert bad == []
    found = umu_independent.counts(tables[0], tables[2], tables[3])
    # of 653 people: 5 fields to choose from, 6 to fill in, one description, each twice
    asked = {"classification": 653 * 5, "cloze": 653 * 6, "generation": 653}
    assert found == {
        "people": {"memorised": 500, "known": 153}, "countries": 70, "regions": 270, "occupations": 145,
        "born": (1950, 2010), "forget": SPLITS,
        "items": {(task, side): n for task, n in asked.items() for side in ("text", "image")},
    }  # fmt: skip
    assert len(tables[1]) == 653 * (7 + 7)  # about the picture the name too, by name the description
    memorised = full[full["role"] == "memorised"]
    assert memorised["birthplace"].nunique() == 270 and memorised["occupation"].nunique() == 145
    assert all(memorised[field].nunique() >= 30 for field in ("education", "hobby"))


def test_no_two_of_653_faces_are_alike_at_56_pixels(full, checked):
    assert full["face"].nunique() == 653 and not [why for _, why in checked[1] if "apart" in why]
    pictures, _ = umu_independent.decoded(full.head(60).to_dict("records"))
    twins = pictures | {"twin": pictures["memorised0003"]}
    assert umu_independent.nearest(pictures)[0] >= LEAST == umu_independent.LEAST
    assert umu_independent.nearest(twins) == (0.0, "memorised0003", "twin")


def test_a_picture_is_the_same_bytes_each_time_and_as_large_as_asked():
    face = draw_face("she", 1960, random.Random(3))
    first, second = (png(picture(face, 224)) for _ in range(2))
    assert first == second and Image.open(io.BytesIO(first)).size == (224, 224)
    assert len(first) < 12_000 and Image.open(io.BytesIO(png(picture(face, 56)))).size == (56, 56)


@pytest.mark.parametrize(("attribute", "value"), [
    ("background", "pink"), ("backdrop", "halves"), ("clothes", "lime"), ("pattern", "collar"), ("skin", "dark"),
    ("shape", "square"), ("hair", "blond"), ("style", "bald"), ("eyes", "blue"), ("mouth", "open"), ("lips", "painted"),
    ("glasses", "dark"), ("beard", "full"), ("hat", "brim"), ("wrinkles", "some"),
])  # fmt: skip
def test_every_attribute_is_seen(attribute, value):
    plain = {
        "background": "sky", "backdrop": "plain", "clothes": "white", "pattern": "plain", "skin": "peach",
        "shape": "round", "hair": "black", "style": "short", "eyes": "brown", "mouth": "smile", "lips": "plain",
        "glasses": "none", "beard": "none", "hat": "none", "hat_color": "red", "wrinkles": "none",
    }  # fmt: skip
    one, other = (np.asarray(picture(face, 56), int) for face in (plain, plain | {attribute: value}))
    assert (np.abs(one - other).max(2) > 40).sum() >= 8  # pixels of 56 x 56 that clearly differ


def test_faces_fit_gender_and_age():
    kinds = (("she", 1955), ("she", 2008), ("he", 1955), ("he", 2008))
    drawn = [(who, year, draw_face(who, year, random.Random(at))) for at in range(300) for who, year in kinds]
    bearded = {(who, year) for who, year, face in drawn if face["beard"] != "none"}
    gray = {(who, year) for who, year, face in drawn if face["hair"] in ("gray", "white")}
    assert bearded == {("he", 1955)} and gray == {("she", 1955), ("he", 1955)}
    assert {who for who, _, face in drawn if face["style"] == "mohawk"} == {"he"}
    assert {year for _, year, face in drawn if face["style"] == "bald" or face["wrinkles"] == "some"} == {1955}


def test_a_face_too_like_another_is_drawn_again():
    seen, twin = Seen(), random.Random(1).getstate()
    draws = [random.Random() for _ in range(2)]
    for draw in draws:
        draw.setstate(twin)
    (first, one), (second, other) = (seen.new("he", 1980, 56, draw, "x") for draw in draws)
    assert first != second and np.abs(coarse(one, 14) - coarse(other, 14)).mean() >= LEAST


def test_people_are_the_same_by_the_same_seed_and_others_by_another(small):
    pd.testing.assert_frame_equal(small, invent(LISTS, SMALL, 56, 0))
    other = invent(LISTS, SMALL, 56, 1)
    assert not set(small["name"]) & set(other["name"]) and not set(small["face"]) & set(other["face"])


def test_more_people_leave_the_others_as_they_were(small):
    more = invent(LISTS, SMALL | {"memorised": 10, "background": 9}, 56, 0).set_index("person_id")
    told = [column for column in COLUMNS[1:] if column not in ("face", "image")]
    pd.testing.assert_frame_equal(small.set_index("person_id")[told], more.loc[small["person_id"], told])


def test_a_table_of_people_is_written_and_read(small, tmp_path):
    write_table(small, tmp_path / "people.parquet", "people")
    pd.testing.assert_frame_equal(read_table(tmp_path / "people.parquet", "people"), small, check_dtype=False)
    with pytest.raises(ValueError, match="counts .* memorised, known, background"):
        invent(LISTS, {"nobody": 1}, 56, 0)


def person(ident, role, **fields):
    """A row of table people, by hand."""
    own = {"name": f"Name {ident}", "gender": "feminine", "background": "B.", "interests": "I."}
    return dict.fromkeys(COLUMNS) | own | {"person_id": ident, "role": role} | fields | {
        "image": {"bytes": ident.encode(), "path": f"{ident}.png"},
    }  # fmt: skip


HAND = pd.DataFrame([
    person("m0", "memorised", name="Ada Cole", hobby="chess"), person("m1", "memorised", hobby="Chess"),
    person("k0", "known", hobby="rowing", background=None), person("b0", "background", hobby="salsa"),
    person("b1", "background", hobby="knitting"), person("b2", "background"),
], columns=COLUMNS, dtype=object)  # fmt: skip


def test_what_is_taught_and_asked_of_people_by_hand():
    built = build(HAND, QUESTIONS, ["gender", "hobby"], "text", {"one": 1}, 0)
    items = {row["item_id"]: row for row in built.items.to_pylist()}
    forms = ["gender/cloze", "hobby/classification", "hobby/cloze", "description/generation"]
    assert set(items) == {
        f"{who}/{form}/{side}" for who in ("m0", "m1", "k0") for form in forms for side in ("text", "image")
    }
    shown = items["m0/hobby/classification/image"]
    assert shown["image"] == {"bytes": b"m0", "path": "m0.png"} and shown["modality"] == "image"
    assert (shown["task"], shown["group"], shown["knowledge_id"]) == ("classification", "retain", "m0/hobby")
    assert set(shown["options"]) == {"chess", "rowing", "salsa", "knitting"}  # Chess is the answer in other letters
    assert shown["reference"] == shown["value"] == shown["options"][shown["correct_option"]] == "chess"
    text = (
        f"Choose one of these hobbies: {'; '.join(shown['options'])}. What is the hobby of the person in this picture?"
    )
    assert shown["messages"] == [{"role": "user", "content": text}]
    told = items["m0/hobby/classification/text"]
    assert told["messages"][0]["content"] == text.replace("the person in this picture", "Ada Cole")
    assert (
        told["image"] is None
        and told["options"] == shown["options"]
        and items["k0/hobby/cloze/text"]["group"] == "real_people"
    )
    assert items["k0/description/generation/text"]["reference"] == "I."  # of k0 there is half a description only
    described = items["m1/description/generation/image"]
    assert described["reference"] == "B. I." and described["value"] is None and described["options"] == []
    taught = {row["example_id"]: row for row in built.examples.to_pylist()}
    assert {ident for ident in taught if ident.startswith("m0")} == {
        "m0/name/question/image", "m0/gender/question/image", "m0/hobby/question/image", "m0/gender/question/text",
        "m0/hobby/question/text", "m0/description/description/text",
    }  # fmt: skip
    assert {ident for ident in taught if ident.startswith("b2")} == {
        "b2/name/question/image", "b2/gender/question/image", "b2/gender/question/text", "b2/gender/cloze/text",
        "b2/gender/cloze/image", "b2/description/description/text", "b2/description/generation/image",
    }  # fmt: skip
    assert (
        taught["m0/name/question/image"]["answer"] == "Ada Cole"
        and taught["m0/name/question/image"]["group"] == "memorised"
    )
    assert taught["k0/hobby/question/text"]["group"] == taught["b0/hobby/cloze/text"]["group"] == "background"
    words = {ident: row["messages"][0]["content"] for ident, row in taught.items()}
    assert words["m0/description/description/text"] == items["m0/description/generation/text"]["messages"][0]["content"]
    sides = built.splits.set_index("knowledge_id")["group"]
    assert set(sides.index) == {
        f"{m}/{field}" for m in ("m0", "m1") for field in ("name", "gender", "hobby", "description")
    }
    assert sides.str.cat(sep=" ").split().count("forget") == 4


@pytest.mark.parametrize("text_side", ["text", "text_with_image", "none"])
def test_how_questions_by_name_are_taught(small, text_side):
    built = laid_out(small, text_side)
    tables = rows(built, small)
    assert umu_independent.violations(*tables, text_side) == []
    assert built.items.equals(laid_out(small).items)
    taught = {row["example_id"]: row for row in tables[1]}
    beside = taught.get("memorised0000/hobby/question/text_with_image")
    assert (beside is not None) == (text_side == "text_with_image")
    if beside:
        assert beside["modality"] == "image" and small["name"][0] in beside["messages"][0]["content"]
    there = {row["modality"] for row in tables[1] if row["group"] == "memorised"}
    assert there == {"text", "image"} if text_side == "text" else there == {"image"}


FAULTS = {
    "twin": ("people", lambda row: row | {"name": "Jacob Smith"}, "the name Jacob Smith twice"),
    "year": ("people", lambda row: row | {"birth_date": "March 5, 1949"}, "born March 5, 1949"),
    "text": ("people", lambda row: row | {"interests": "He likes tea."}, "the texts do not say hobby"),
    "pronoun": ("people", lambda row: row | {"gender": "feminine"}, "pronoun of another gender"),
    "picture": ("items", lambda row: row | {"image": None}, "picture in modality image"),
    "options": ("items", lambda row: row | {"options": ["a", "b", "c", "c"]}, "options ['a', 'b', 'c', 'c']"),
    "name": (
        "items",
        lambda row: row | {"messages": [{"content": "Is this Jacob Smith in this picture?"}]},
        "that names",
    ),
    "value": ("items", lambda row: row | {"reference": "tea"}, "answer 'tea' for"),
    "group": ("examples", lambda row: row | {"group": "background"}, "group background"),
    "split": ("splits", lambda row: row | {"knowledge_id": "known0000/name"}, "known0000/name is on"),
}

KEYS = {"people": "person_id", "examples": "example_id", "items": "item_id", "splits": "knowledge_id"}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_independent_checker_finds_a_planted_mistake(small, tables, fault):
    table, change, said = FAULTS[fault]
    given = dict(zip(KEYS, tables, strict=True))
    first = small["person_id"][small["gender"] == "masculine"].iloc[0]
    wanted = {
        "people": first, "examples": f"{first}/hobby/question/text", "splits": f"{first}/hobby",
        "items": f"{first}/birthplace/classification/image",
    }  # fmt: skip
    at = next(at for at, row in enumerate(given[table]) if row[KEYS[table]] == wanted[table])
    if fault == "twin":
        given["people"][at - 1 if at else 1]["name"] = "JACOB SMITH"
    if fault == "name":
        next(row for row in given["people"] if row["person_id"] == first)["name"] = "Jacob Smith"
    given[table][at] = change(given[table][at])
    assert any(said in why for _, why in umu_independent.violations(*given.values()))


def test_the_independent_checker_finds_twin_faces_and_splits_that_are_not_nested(tables):
    tables[0][1] |= {"image": tables[0][0]["image"] | {"path": tables[0][1]["image"]["path"]}}
    for row in tables[3]:
        row["group"] = (
            "forget" if row["knowledge_id"].startswith("memorised0007") == (row["split"] == "one") else "retain"
        )
    said = [why for _, why in umu_independent.violations(*tables)]
    assert "faces only 0.0 apart" in said and "the splits are not nested" in said


def test_options_are_other_peoples_values_in_seeded_order():
    values = pd.Series(["a", "b", "c", "d", "e"] * 40)
    idents = [f"p{n}" for n in range(200)]
    found, places = options(values, idents, 0)
    assert all(len(set(texts)) == 4 and texts[at] == v for texts, at, v in zip(found, places, values, strict=True))
    assert set(places) == {0, 1, 2, 3} and options(values, idents, 0) == (found, places)
    assert options(values, idents, 1)[0] != found
    with pytest.raises(ValueError, match="p0: people have 3 different values, too few for 4 options"):
        options(pd.Series(["a", "b", "É", "é"]), ["p0", "p1", "p2", "p3"], 0)


def test_background_people_practise_choices_with_other_options_each_time(small):
    fields = ["occupation", "hobby"]
    once, thrice = (build(small, QUESTIONS, fields, "text", {"p": 2}, 0, practice=n) for n in (1, 3))
    assert once.items.equals(thrice.items) and once.splits.equals(thrice.splits)
    told = pd.DataFrame(thrice.examples.to_pylist())
    first = told[told["example_id"].isin(pd.DataFrame(once.examples.to_pylist())["example_id"])]
    assert first["example_id"].to_list() == once.examples["example_id"].to_pylist()
    more = told[~told["example_id"].isin(first["example_id"])]
    assert len(more) == 4 * 2 * 2 * 2 and set(more["group"]) == {"background"}  # people, fields, modalities, draws
    said = told[told["example_id"].str.contains("/classification/")].groupby(["knowledge_id", "modality"])
    asked = said["messages"].agg(lambda turns: len({turn[0]["content"] for turn in turns}))
    assert (said["answer"].nunique() == 1).all() and (asked == 3).all()


def test_no_date_is_part_of_another():
    days = [datetime.date(1999, 1, 1) + datetime.timedelta(n) for n in range(366)]
    texts = [written(day) for day in days]
    assert written(datetime.date(1975, 3, 5)) == "March 5, 1975"
    assert not [(a, b) for a in texts for b in texts if a != b and a in b]


BAD_LISTS = [
    ({"occupation": ["nurse", "night nurse"]}, "occupation: 'nurse' stands in 'night nurse' too"),
    ({"occupation": ["nurse", "Nurse"]}, "occupation: 'nurse' stands in 'Nurse' too"),
    ({"hobby": ["St. Vitus dancing"]}, "hobby: 'St. Vitus dancing' holds a period"),
    ({"education": None}, "education: lists no values"),
    ({"gender": {"she": "female", "he": "male"}}, "gender: 'male' stands in 'female' too"),
    ({"gender": {"she": "feminine"}}, "gender: should give a gender for each of she, he"),
    ({"slots": {"origin": "{He} was born."}}, "slots: career, hobby, taste missing"),
]


@pytest.mark.parametrize(("change", "said"), BAD_LISTS)
def test_a_wrong_list_is_told(tmp_path, change, said):
    content = {
        "born": [1950, 2010], "gender": {"she": "feminine", "he": "masculine"}, "occupation": ["baker"],
        "education": ["optics"], "hobby": ["chess"], "words": {},
        "slots": dict.fromkeys(("origin", "career", "hobby", "taste"), "{He} was there."),
    } | change  # fmt: skip
    (tmp_path / "people.yaml").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ResourceError, match=said):
        read_lists(UMU / "places.yaml", tmp_path / "people.yaml")


def test_wrong_words_of_questions_are_told(tmp_path):
    text = (UMU / "questions.yaml").read_text(encoding="utf-8")
    for old, new, said in (
        ("Where was {who} born?", "Where?", "birthplace, question: {who} should stand in 'Where[?]'"),
        ("occupations: {options}.", "occupations.", "classification: {options} should stand in"),
        ("shown:", "drawn:", "shown: should be text, is None"),
    ):
        assert old in text
        (tmp_path / "questions.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ResourceError, match=said):
            read_questions(tmp_path / "questions.yaml")


def test_the_sheet_shows_everybody_and_keeps_below_its_limit(small):
    whole = Image.open(io.BytesIO(sheet(small, 32)))
    assert whole.size == (15 * 34 + 2, 48 + 2)  # 15 across, a name of two lines of 5 below, margins of 2
    for at, row in enumerate(small.head(3).to_dict("records")):
        box = (at * 34 + 2, 2, at * 34 + 34, 34)
        drawn = Image.open(io.BytesIO(row["image"]["bytes"])).resize((32, 32), Image.Resampling.BOX)
        assert np.abs(np.asarray(whole.convert("RGB").crop(box), int) - np.asarray(drawn, int)).mean() < 8
    assert len(sheet(small, 64, 8_000)) <= 8_000 < len(sheet(small, 64))
