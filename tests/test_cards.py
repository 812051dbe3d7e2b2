"""Dataset cards: the folder loads as it lies, without a network; the card says what is in it and how it was made."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from mu2_sources import ROLES, ROOT, break_file, pairs_of, write_sources
from unlearning.data.card import card, kept_and_refused
from unlearning.data.checking import CHECKS
from unlearning.data.files import build as build_files
from unlearning.data.mu2 import build
from unlearning.tables.artifacts import write_table, write_text
from unlearning.tables.schemas import TABLES

TEMPLATE = (ROOT / "resources/card/README.md.j2").read_text(encoding="utf-8")
ABOUT = {
    "benchmark": "mu2", "cut": "small", "title": "Small μ²: a test", "summary": "Invented people.", "license": "mit",
    "licence": "mit. Invented.", "tags": ["synthetic"], "facts": {"Route": "phrasebook", "Seed": "0"}, "models": {},
}  # fmt: skip


def refused(ident, check="script", round_=0):
    return {"id": ident, "language": ident[-2:], "check": check, "reason": "r", "round": round_, "content": "{}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data folder of a small mu2-Bench with two refused German rows, and its card."""
    sources = write_sources(tmp_path_factory.mktemp("sources"))
    pairs = pairs_of(sources)
    pairs["answer"] = pairs["answer"] + ' "ü", ไทย'
    folder = tmp_path_factory.mktemp("project") / "results/data/mu2/small"
    built = build(pairs, ROLES, {"p1": 1}, 0.1, 0)
    for name, table in zip(("examples", "items", "splits"), built, strict=True):
        write_table(table, folder / f"s1/{name}.parquet", name)
    bad = pairs.loc[pairs["language"] == "de", "pair_id"].tolist()[:2]
    for code in ROLES:
        own = pairs[(pairs["language"] == code) & ~pairs["pair_id"].isin(bad)]
        write_table(own, folder / f"pairs/{code}.parquet", "pairs")
        rows = [
            refused(bad[0]),
            refused(bad[0], "name_kept"),
            refused(bad[1], "review"),
            refused(own["pair_id"].iloc[0]),
        ]
        write_table(rows if code == "de" else [], folder / f"rejected/{code}.parquet", "rejected")
    write_text(folder / "README.md", text(folder, sources))
    return folder


def text(folder, sources, about=ABOUT, prompts=()):
    settings = [folder / f"s1/{name}.parquet" for name in ("examples", "items", "splits")]
    pairs, rejected = ([folder / f"{t}/{code}.parquet" for code in ("de", "en")] for t in ("pairs", "rejected"))
    return card(TEMPLATE, folder, settings, pairs, rejected, sorted(sources.glob("*.yaml")), prompts, about)


def front(folder):
    _, head, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


LOAD = """
import json, socket, sys
def refuse(*_, **__): raise RuntimeError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from datasets import get_dataset_config_names, load_dataset
folder, files, cache = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
found = {name: load_dataset(folder, name, split="train", cache_dir=cache) for name in get_dataset_config_names(folder)}
found["default"] = load_dataset(folder, split="train", cache_dir=cache)
for name, path in files.items():
    found["file " + name] = load_dataset("parquet", data_files=path, split="train", cache_dir=cache)
print(json.dumps({name: table.to_list() for name, table in found.items()}))
"""


def loaded(folder, tmp_path):
    """{configuration: its rows} as the `datasets` library loads them, in a process that may not use the network."""
    configs = front(folder)[0]["configs"]
    files = {c["config_name"]: str(folder / c["data_files"][0]["path"]) for c in configs}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder), json.dumps(files), str(tmp_path / "cache")],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return files, json.loads(done.stdout)


def test_every_configuration_loads_by_name_and_by_file_without_a_network(folder, tmp_path):
    elsewhere = shutil.copytree(folder, tmp_path / "published")
    files, found = loaded(elsewhere, tmp_path)
    assert set(files) == {"s1_examples", "s1_items", "s1_splits", "pairs_de", "pairs_en"}
    assert set(found) == {*files, "default", *(f"file {name}" for name in files)}
    for name, path in files.items():
        expected = pq.read_table(path).to_pylist()
        assert found[name] == found[f"file {name}"] == expected and expected, name
    assert found["default"] == found["s1_items"]


def test_the_front_matter_is_what_the_hub_reads(folder):
    head, _ = front(folder)
    rows = sum(len(pd.read_parquet(folder / c["data_files"][0]["path"])) for c in head["configs"])
    assert rows < 1000
    assert {k: head[k] for k in ("pretty_name", "license", "language", "size_categories", "multilinguality")} == {
        "pretty_name": "Small μ²: a test", "license": "mit", "language": ["de", "en"], "size_categories": ["n<1K"],
        "multilinguality": ["multilingual"],
    }  # fmt: skip
    from huggingface_hub import DatasetCard

    assert DatasetCard.load(folder / "README.md").data.license == "mit"


def test_the_card_counts_what_was_kept_and_what_each_check_refused(folder):
    paths = [[folder / f"{table}/{code}.parquet" for code in ROLES] for table in ("pairs", "rejected")]
    n = len(pd.read_parquet(folder / "pairs/en.parquet"))
    none = {"name_kept": 0, "review": 0, "script": 0}
    assert kept_and_refused(*paths) == [
        {"language": "de", "kept": n - 2, "refused": 2, "by": {"name_kept": 1, "review": 1, "script": 1}},
        {"language": "en", "kept": n, "refused": 0, "by": none},
    ]
    _, body = front(folder)
    assert "| language | kept | refused | name_kept | review | script |\n|---|---|---|---|---|---|\n" in body
    assert f"| de | {n - 2} | 2 | 1 | 1 | 1 |\n| en | {n} | 0 | 0 | 0 | 0 |\n" in body
    assert all(f"- `{check}`: " in body for check in CHECKS)


def test_the_card_says_in_which_language_nothing_was_kept(folder, tmp_path):
    there, sources = shutil.copytree(folder, tmp_path / "there"), write_sources(tmp_path)
    assert "No row was kept" not in text(there, sources)
    write_table([], there / "pairs/de.parquet", "pairs")
    body = text(there, sources)
    assert (
        body.count("No row was kept") == 1 and "\n**No row was kept in de**: the data have no question in it.\n" in body
    )


def test_the_card_describes_every_column_of_every_table_and_gives_the_licence(folder):
    _, body = front(folder)
    for table in ("examples", "items", "splits", "pairs"):
        section = body.split(f"### {table}\n")[1].split("\n### ")[0].split("\n## ")[0]
        for column in TABLES[table]:
            assert f"| `{column.name}` | {column.type} | {column.description}" in section
    assert body.rstrip().endswith("mit. Invented.") and "- Route: phrasebook" in body


def test_equal_data_give_equal_cards_wherever_it_lies(folder, tmp_path):
    sources = write_sources(tmp_path)
    there = shutil.copytree(folder, tmp_path / "elsewhere/results/data/mu2/small")
    first, second = text(folder, sources), text(there, sources)
    assert first == second
    assert str(tmp_path) not in first and str(folder.parents[3]) not in first
    changed = break_file(sources / "de.yaml", "Drachen", "Winddrachen")
    assert text(folder, changed.parent) != first


def test_models_and_the_versions_of_their_prompts_are_told_and_no_more_of_their_settings(folder, tmp_path):
    prompt = tmp_path / "translator.yaml"
    prompt.write_text("user: 'Say {{ word }}'\nreply: text\n")
    settings = {
        "kind": "openai",
        "model": "m|1",
        "revision": None,
        "key_env": "KEY_HERE",
        "base_url": "http://models.internal",
    }
    made = text(folder, tmp_path, ABOUT | {"models": {"translator": settings}}, [prompt])
    assert "| translator | openai | m\\|1 | – |" in made and "translator@" in made
    assert "KEY_HERE" not in made and "models.internal" not in made
    prompt.write_text("user: 'Please say {{ word }}'\nreply: text\n")
    assert text(folder, tmp_path, ABOUT | {"models": {"translator": settings}}, [prompt]) != made


def test_words_of_the_configuration_cannot_break_the_card(folder, tmp_path):
    hostile = 'x: "y"\n---\n# heading\n{{ 7*7 }}'
    write_text(tmp_path / "README.md", text(folder, tmp_path, ABOUT | {"title": hostile, "facts": {"Route": hostile}}))
    head, body = front(tmp_path)
    assert head["pretty_name"] == 'x: "y" --- # heading {{ 7*7 }}'
    assert "\n# heading" not in body and "{{ 7*7 }}" in body


def test_a_files_benchmark_has_a_card_that_loads(tmp_path):
    (tmp_path / "mine.csv").write_text("question,answer\nWho?,I.\nYou?,You.\n")
    one = {"file": str(tmp_path / "mine.csv"), "group": "retain", "rows": [0, 1]}
    spec = {
        "language": "en", "columns": {"question": "question", "answer": "answer"},
        "sets": {"a": one, "b": {**one, "rows": [1, 2]}}, "splits": {"s": ["b"]},
    }  # fmt: skip
    folder = tmp_path / "results/data/mine/whole"
    for name, table in zip(("examples", "items", "splits"), build_files(spec, "mine"), strict=True):
        write_table(table, folder / f"default/{name}.parquet", name)
    tables = [folder / f"default/{name}.parquet" for name in ("examples", "items", "splits")]
    about = ABOUT | {"benchmark": "mine", "license": "unknown", "licence": "unknown. Set it."}
    write_text(folder / "README.md", card(TEMPLATE, folder, tables, [], [], [tmp_path / "mine.csv"], [], about))
    files, found = loaded(folder, tmp_path)
    assert set(files) == {"default_examples", "default_items", "default_splits"}
    assert [row["reference"] for row in found["default_items"]] == ["I.", "You."]
    head, body = front(folder)
    assert head["license"] == "unknown" and head["multilinguality"] == ["monolingual"]
    assert "Checks" not in body and "| mine.csv | `" in body and str(tmp_path) not in body
