"""The scripts of UMU-Bench's data, from files to files as the rules call them, and the published folder."""

import io
import re
import sys

import pytest
from PIL import Image

from mu2_sources import ROOT
from unlearning.data.card import publish
from unlearning.data.umu.lists import FIELDS
from unlearning.tables.artifacts import read_table

sys.path.append(str(ROOT / "workflow" / "scripts"))
UMU = ROOT / "resources" / "umu"
ABOUT = {
    "benchmark": "umu", "cut": "small", "title": "t", "summary": "s", "license": "mit", "licence": "mit.", "tags": [],
    "facts": {}, "models": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People, their faces on one sheet, examples, items and splits."""
    from umu_build import umu_build
    from umu_people import umu_people
    from umu_sheet import umu_sheet

    out = tmp_path_factory.mktemp("umu")
    at = {name: str(out / f"{name}.parquet") for name in ("people", "examples", "items", "splits")}
    counts = {"memorised": 5, "known": 2, "background": 1}
    umu_people(str(UMU / "places.yaml"), str(UMU / "people.yaml"), at["people"], counts, 56, 0)
    umu_sheet(at["people"], str(out / "faces.png"))
    umu_build(
        at["people"], str(UMU / "questions.yaml"), at["examples"], at["items"], at["splits"], "umu", list(FIELDS),
        "text", {"p": 2}, 0,
    )  # fmt: skip
    return out


def test_every_step_is_a_file(folder):
    tables = {name: read_table(folder / f"{name}.parquet", name) for name in ("people", "examples", "items", "splits")}
    # 8 people: 7 questions about the picture, 7 by name; one of them practises 5 + 6 forms twice, and one description
    assert len(tables["people"]) == 8 and len(tables["examples"]) == 8 * 14 + 23 and len(tables["items"]) == 7 * 24
    assert set(tables["items"]["benchmark"]) == {"umu"} and set(tables["splits"]["split"]) == {"p"}
    assert Image.open(folder / "faces.png").size[0] == 8 * 66 + 2


def test_the_pictures_of_the_published_folder_are_seen_as_its_card_says(folder, tmp_path):
    tables = {name: str(folder / f"{name}.parquet") for name in ("people", "items")}
    template = (ROOT / "resources/card/README.md.j2").read_text(encoding="utf-8")
    publish(tmp_path / "published", template, tables, [], [], ABOUT)
    card = (tmp_path / "published/README.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", card, re.DOTALL) if "Image" in block]
    code = code.replace("path/to/this/folder", str(tmp_path / "published")).replace(
        "\nload_dataset", "\nseen = load_dataset"
    )
    found: dict = {}
    from datasets import load_dataset

    exec(code, found | {"load_dataset": load_dataset}, found)
    first = read_table(folder / "people.parquet", "people")["image"][0]["bytes"]
    assert found["seen"].convert("RGB").tobytes() == Image.open(io.BytesIO(first)).convert("RGB").tobytes()
    publish(tmp_path / "other", template, {"items": tables["items"]}, [], [], ABOUT)
    assert "cast_column" not in (tmp_path / "other/README.md").read_text(encoding="utf-8")
