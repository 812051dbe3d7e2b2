"""UMU-Bench's real people, read from a table and pictures of one's own."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import umu_independent
from mu2_sources import ROOT
from project import Project
from unlearning.data.files_spec import FilesError
from unlearning.data.umu.layout import build
from unlearning.data.umu.lists import FIELDS, read_lists
from unlearning.data.umu.people import invent
from unlearning.data.umu.questions import read_questions
from unlearning.data.umu.real import joined, picture_files, read_profiles, read_real

UMU = ROOT / "resources" / "umu"
LISTS = read_lists(UMU / "places.yaml", UMU / "people.yaml")
GENDERS = [*LISTS.genders.values()]
ROWS = [
    {"id": "a1", "name": "Anna Real", "image": "faces/anna.jpg", "gender": "feminine", "birthplace": "Vienna, Austria",
     "birth_date": "1961-02-03", "occupation": "chemist", "background": "She was a chemist.", "interests": "Tea."},
    {"id": "b2", "name": "Bo Real", "image": "bo.png", "birth_date": "1999-12-31"},
]  # fmt: skip


def folder(path: Path, rows=ROWS, name="profiles.csv") -> Path:
    """A table of `rows` with the pictures of ROWS: a wide red one, a high blue one."""
    (path / "faces").mkdir(exist_ok=True)
    Image.new("RGB", (300, 200), "red").save(path / "faces/anna.jpg")
    Image.new("RGBA", (40, 90), "blue").save(path / "bo.png")
    (path / "no.png").write_text("no picture", encoding="utf-8")
    Image.fromarray(np.full((30, 30), 40_000, np.uint16)).save(path / "grey16.png")
    if not (path / "link.png").is_symlink():
        (path / "link.png").symlink_to(UMU / "places.yaml")
    frame = pd.DataFrame(rows, dtype=object)
    if name.endswith(".csv"):
        frame.to_csv(path / name, index=False)
    elif name.endswith(".parquet"):
        frame.to_parquet(path / name)
    else:
        frame.to_json(path / name, orient="records", lines=name.endswith(".jsonl"))
    return path / name


@pytest.mark.parametrize("name", ["profiles.csv", "profiles.parquet", "profiles.json", "profiles.jsonl"])
def test_profiles_are_read_from_every_kind_of_file(tmp_path, name):
    found = read_profiles(folder(tmp_path, name=name)).to_dict("records")
    assert found[0] == dict.fromkeys(("education", "hobby")) | ROWS[0] | {"birth_date": "February 3, 1961"}
    assert {field for field, value in found[1].items() if value is not None} == {"id", "name", "image", "birth_date"}
    assert picture_files(tmp_path / name) == [str(tmp_path / "bo.png"), str(tmp_path / "faces/anna.jpg")]


def test_pictures_are_cut_to_squares(tmp_path):
    people = read_real(folder(tmp_path), GENDERS, 56)
    images = [Image.open(io.BytesIO(image["bytes"])) for image in people["image"]]
    assert [(i.format, i.mode, i.size) for i in images] == [("PNG", "RGB", (56, 56))] * 2
    assert [np.asarray(i)[28, 28].argmax() for i in images] == [0, 2]  # red, blue
    assert people["person_id"].tolist() == ["real-a1", "real-b2"] and people["face"].isna().all()
    assert people["image"][0]["path"] == "real-a1.png" and set(people["role"]) == {"known"}


def test_what_is_see_through_is_white(tmp_path):
    path = folder(tmp_path, [ROWS[0], {"id": "c", "name": "Cy Real", "image": "clear.png"}])
    Image.new("RGBA", (30, 30), (200, 0, 0, 0)).save(tmp_path / "clear.png")
    image = read_real(path, GENDERS, 28)["image"][1]
    assert Image.open(io.BytesIO(image["bytes"])).getextrema() == ((255, 255),) * 3


def test_half_a_description_is_asked_for(tmp_path):
    people = read_real(folder(tmp_path), GENDERS, 28).assign(interests=None)
    people = pd.concat([invent(LISTS, {"memorised": 5}, 28, 0), people])
    items = build(people, read_questions(UMU / "questions.yaml"), ["gender"], "text", {"one": 1}, 0).items.to_pylist()
    told = {row["item_id"]: row["reference"] for row in items if row["task"] == "generation"}
    assert told["real-a1/description/generation/text"] == "She was a chemist."
    assert not any(ident.startswith("real-b2") for ident in told)


def test_they_are_asked_about_what_is_known_of_them(tmp_path):
    path = folder(tmp_path)
    people = joined(invent(LISTS, {"memorised": 5}, 56, 0), read_real(path, GENDERS, 56), path)
    built = build(people, read_questions(UMU / "questions.yaml"), FIELDS, "text", {"one": 1}, 0)
    items = built.items.to_pylist()
    asked = {row["item_id"] for row in items if row["group"] == "real_people" and row["modality"] == "image"}
    assert asked == {f"real-{rest}/image" for rest in (
        "a1/gender/cloze", "a1/birthplace/classification", "a1/birthplace/cloze", "a1/birth_date/classification",
        "a1/birth_date/cloze", "a1/occupation/classification", "a1/occupation/cloze", "a1/description/generation",
        "b2/birth_date/classification", "b2/birth_date/cloze",
    )}  # fmt: skip
    tables = [people.to_dict("records"), built.examples.to_pylist(), items, built.splits.to_dict("records")]
    found = umu_independent.violations(*tables)
    assert found == []


def row(at=1, **cells):
    """ROWS with some cells of one row changed."""
    return [own | cells if number == at else own for number, own in enumerate(ROWS)]


BAD = [
    (row(image="nowhere.png"), "profiles.csv, line 3, image: no picture 'nowhere.png' in the table's folder; mend"),
    (row(image="../bo.png"), "line 3, image: '../bo.png' should be a path below the table's folder; copy"),
    (row(image="/bo.png"), "line 3, image: '/bo.png' should be a path below"),
    (row(image=""), "line 3, image: is empty; everybody needs"),
    (row(id="A1"), "line 3, id: 'A1' occurs twice; keep one"),
    (row(id="a/1"), "line 3, id: 'a/1' holds a slash"),
    (row(name="anna real"), "line 3, name: 'anna real' occurs twice"),
    (row(birth_date="3 May"), "line 3, birth_date: '3 May' is no date; write it as 1984-12-31"),
    (row(0, birthplace="St. Gallen"), "line 2, birthplace: 'St. Gallen' holds a period"),
    (row(image="no.png"), "line 3, image: no.png is no picture of 8 bits a colour .*; save it as PNG or JPEG"),
    (row(image="grey16.png"), "line 3, image: grey16.png is no picture of 8 bits a colour"),
    (row(image="link.png"), "line 3, image: 'link.png' should be a path below"),
    (row(name="Bo\nReal"), "name: has several lines; write it in one"),
    (row(birth_date="1984-12-31x"), "line 3, birth_date: '1984-12-31x' is no date"),
    (row(0, hobby="golf; tennis"), "line 2, hobby: 'golf; tennis' holds a semicolon, which separates options"),
    (
        row(0, occupation="judge advocate"),
        "line 2, occupation: of 'judge advocate' and somebody else's 'judge'",
    ),
    (row(0, occupation="tail"), "line 2, occupation: of 'tail' and somebody else's 'tailor'"),
    ([own | {"hobbies": "golf"} for own in ROWS], "column 'hobbies' is not read; rename it to 'hobby'"),
    (row(gender="male"), "line 3, gender: 'male' should be feminine or masculine, or empty"),
    ([{"id": "a", "name": "A B"}], "no column image; columns are id, name"),
    (row(name="Jacob Smith"), "line 3, name: 'Jacob Smith' is an invented person's name too"),
    (row(0, hobby="tea"), "line 2, birthplace: 'Vienna, Austria' has 2 other values to be told from, 3 are needed"),
]


@pytest.mark.parametrize(("rows", "said"), BAD)
def test_a_mistake_is_told_with_file_row_and_column(tmp_path, rows, said):
    path, people = folder(tmp_path, rows), invent(LISTS, {"memorised": 2}, 56, 0)
    people.loc[people.index[0], "name"] = "Jacob Smith"
    if "tea" not in [own.get("hobby") for own in rows]:
        people = pd.concat([people, people.assign(name="X", occupation=["judge", "tailor"], birthplace=["x", "y"],
                                                  birth_date=["May 1, 1960", "May 2, 1960"])])  # fmt: skip
    with pytest.raises(FilesError, match=said):
        joined(people, read_real(path, GENDERS, 28), path)


def test_a_picture_that_is_not_there_is_told_before_anything_runs(tmp_path):
    project = Project(tmp_path / "project", "config/own.yaml")
    (tmp_path / "real").mkdir()
    folder(tmp_path / "real")
    (tmp_path / "real/bo.png").unlink()
    umu = {"kind": "umu", "people": {"memorised": 8}, "forget": {"p": 2}, "source": "own", "real": "profiles.csv",
           "metrics": ["rouge_l"]}  # fmt: skip
    run = {"benchmark": "umu", "base_models": ["small"], "splits": ["p"], "methods": ["ga"]}
    overlay = {"only": "umu", "benchmarks": {"umu": umu}, "experiments": {"umu": run},
               "sources": {"own": str(tmp_path / "real")},
               "base_models": {"small": {"architecture": {"vision": {"layers": 1}}}}}  # fmt: skip
    (project.path / "config/own.yaml").write_text(json.dumps(overlay), encoding="utf-8")
    done = project.snakemake("--dry-run", check=False)
    said = done.stdout + done.stderr
    assert done.returncode and "benchmarks.umu.real: " in said and "line 3, image: no picture 'bo.png'" in said
