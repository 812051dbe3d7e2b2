"""The published folder: it loads as it lies, without a network; its card says what is in it and how it was made."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from mu2_sources import POOLS, ROLES, ROOT, break_file, pairs_of, people, write_sources
from unlearning.data.card import card, kept_and_refused, publish
from unlearning.data.checking import CHECKS, rejected
from unlearning.data.files import build as build_files
from unlearning.data.mu2 import build
from unlearning.data.phrasebook import read_phrasebook, values_table
from unlearning.data.reasons import KNOWN, LEAK, LUME, REVIEW, SCHOOL, reason
from unlearning.tables.artifacts import write_table, write_text
from unlearning.tables.schemas import TABLES

TEMPLATE = (ROOT / "resources/card/README.md.j2").read_text(encoding="utf-8")
ABOUT = {
    "benchmark": "mu2", "cut": "small", "title": "Small μ²: a test", "summary": "Invented people.", "license": "mit",
    "licence": "mit. Invented.", "tags": ["synthetic"], "facts": {"Route": "phrasebook", "Seed": "0"}, "models": {},
}  # fmt: skip


def refused(ident, check="script", round_=0):
    return {"id": ident, "language": ident[-2:], "check": check, "reason": "r", "round": round_, "content": "{}"}


def attempt(ident, language, **texts):
    return {"id": ident, "language": language, "round": 1, **texts, "verdict": "refused", "reasons": ["script: odd"]}


def made(root):
    """(tables by their configuration's name, sources) of a small mu2-Bench of route llm, two German rows refused."""
    (root / "sources").mkdir()
    sources = write_sources(root / "sources")
    pairs = pairs_of(sources)
    pairs["answer"] = pairs["answer"] + ' "ü", ไทย'
    bad = pairs.loc[pairs["language"] == "de", "pair_id"].tolist()[:2]
    pairs = pairs[~pairs["pair_id"].isin(bad)]
    values = [values_table(POOLS, read_phrasebook(sources / f"{code}.yaml", POOLS), code) for code in ("de", "en")]
    kept = pairs["pair_id"].iloc[-1]
    no = [refused(bad[0]), refused(bad[0], "name_kept"), refused(bad[1], "review"), refused(kept)]

    def at(path, name, rows):
        write_table(rows, root / f"results/data/mu2/small/{path}.parquet", name)
        return str(root / f"results/data/mu2/small/{path}.parquet")

    def each(path, name, *rows):
        return [at(f"{path}/{code}", name, own) for code, own in zip(("de", "en"), rows, strict=True)]

    built = zip(("examples", "items", "splits"), build(pairs, ROLES, {"p1": 1}, 0.1, 0), strict=True)
    tables = {f"s1_{name}": at(f"s1/{name}", name, table) for name, table in built} | {
        "profiles": at("profiles", "profiles", people()),
        "english": at("english", "pairs", pairs[pairs["language"] == "en"]),
        "templates": at("templates", "pairs", []),
        "values": each("values", "values", *values),
        "pairs": each("pairs", "pairs", *(pairs[pairs["language"] == code] for code in ("de", "en"))),
        "rejected": each("rejected", "rejected", no, []),
        "rounds_refined": at("rounds/refined", "rounds", []),
        "rounds_pairs": each("rounds/pairs", "rounds", [attempt(bad[0], "de", question="q")], []),
    }
    return tables, sorted(map(str, sources.glob("*.yaml")))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return made(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory):
    """What is published of them."""
    folder = tmp_path_factory.mktemp("published") / "small"
    publish(folder, TEMPLATE, *tables, [], ABOUT)
    return folder


def text(tables, sources=(), about=ABOUT, prompts=()):
    return card(TEMPLATE, tables, sources, prompts, about)


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
types = {name: {f.name: str(f.type) for f in table.features.arrow_schema} for name, table in found.items()}
print(json.dumps([{name: table.to_list() for name, table in found.items()}, types]))
"""


def loaded(folder, tmp_path):
    """{configuration: its rows} and {configuration: {column: its type}} as the `datasets` library loads them, in a
    process that may not use the network."""
    configs = front(folder)[0]["configs"]
    files = {c["config_name"]: str(folder / c["data_files"][0]["path"]) for c in configs}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder), json.dumps(files), str(tmp_path / "cache")],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def documented(body, name):
    """[(column, its type, its description)] of a configuration, by the card's own tables."""
    table = re.search(rf"^\| `{name}` \| [^|]+ \| \[(\w+)\]", body, re.M)[1]
    section = body.split(f"### {table}\n")[1].split("\n### ")[0].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| `([^|]+)` \| (.+) \|$", section, re.M)


def test_every_configuration_loads_without_a_network_with_the_columns_of_the_card(tables, folder, tmp_path):
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere")
    (found, types), (_, body) = loaded(elsewhere, tmp_path), front(elsewhere)
    names = {
        "s1_examples",
        "s1_items",
        "s1_splits",
        "profiles",
        "english",
        "values",
        "pairs",
        "rejected",
        "rounds_pairs",
    }
    assert set(found) == {"default", *names, *(f"file {name}" for name in names)}
    for name in names:
        given = tables[0][name]
        paths = [given] if isinstance(given, str) else given
        expected = [row for path in paths for row in pq.read_table(path).to_pylist()]
        assert found[name] == found[f"file {name}"] == expected and expected, name
        told = documented(body, name)
        assert {column: kind for column, kind, _ in told} == types[name] and all(text for *_, text in told), name
    assert found["default"] == found["s1_items"]


def test_nothing_but_the_loaded_files_and_the_card_is_published_and_no_file_of_an_earlier_time(tables, tmp_path):
    folder = tmp_path / "small"
    (folder / "values").mkdir(parents=True)
    (folder / "values/lv.parquet").write_text("of a language no longer in use")
    publish(folder, TEMPLATE, *tables, [], ABOUT)
    head, body = front(folder)
    claimed = {path for c in head["configs"] for path in folder.glob(c["data_files"][0]["path"])}
    assert {path for path in folder.rglob("*") if path.is_file()} == {*claimed, folder / "README.md"}
    assert {path.name for path in folder.glob("*/*")} == {"de.parquet", "en.parquet"}
    assert not (folder / "rejected/en.parquet").exists()  # without a row `datasets` could not load it
    assert "Without a row, so left out: `templates`, `rounds_refined`.\n" in body


def test_the_front_matter_is_what_the_hub_reads(folder):
    head, _ = front(folder)
    assert 0 < sum(len(pd.read_parquet(path)) for path in folder.rglob("*.parquet")) < 1000
    assert {k: head[k] for k in ("pretty_name", "license", "language", "size_categories", "multilinguality")} == {
        "pretty_name": "Small μ²: a test", "license": "mit", "language": ["de", "en"], "size_categories": ["n<1K"],
        "multilinguality": ["multilingual"],
    }  # fmt: skip
    from huggingface_hub import DatasetCard

    assert DatasetCard.load(folder / "README.md").data.license == "mit"


def test_the_card_counts_what_was_kept_and_what_each_check_refused(tables, folder):
    n = len(pd.read_parquet(folder / "pairs/en.parquet"))
    none = {"name_kept": 0, "review": 0, "script": 0}
    assert kept_and_refused(tables[0]["pairs"], tables[0]["rejected"]) == [
        {"language": "de", "kept": n - 2, "refused": 2, "by": {"name_kept": 1, "review": 1, "script": 1}},
        {"language": "en", "kept": n, "refused": 0, "by": none},
    ]
    _, body = front(folder)
    assert "| language | kept | refused | name_kept | review | script |\n|---|---|---|---|---|---|\n" in body
    assert f"| de | {n - 2} | 2 | 1 | 1 | 1 |\n| en | {n} | 0 | 0 | 0 | 0 |\n" in body


def test_the_card_names_the_checks_that_ran_those_of_language_models_where_there_were_any(tables, folder):
    def told(text):
        return dict(re.findall(r"^- `(\w+)`: (.+)$", text.split("### Checks\n")[1].split("\n## ")[0], re.M))

    by_models = told(front(folder)[1])
    assert (
        set(by_models) == KNOWN - {*LEAK, *LUME, *SCHOOL}
        and {"no_reply", "back_translation", "equivalence", "value_translation"} < KNOWN
    )
    alone = {name: paths for name, paths in tables[0].items() if not name.startswith("rounds")}
    assert set(told(text(alone, tables[1]))) == {*CHECKS, *REVIEW}


def test_a_reason_that_no_card_explains_cannot_be_given(tables):
    with pytest.raises(
        KeyError, match="unknown check 'equivalent'; there are: aliases, answer_contains_value, back_translation"
    ):
        reason("equivalent", "why")
    with pytest.raises(KeyError, match="unknown check 'reviewed'"):
        rejected(pd.read_parquet(tables[0]["english"]), "reviewed", pd.Series(dtype=object), 0)


def test_every_table_that_has_columns_says_what_each_is():
    assert all(column.description for columns in TABLES.values() for column in columns)


def test_the_card_says_in_which_language_nothing_was_kept(tables, tmp_path):
    paths, sources = tables
    assert "No row was kept" not in text(paths, sources)
    write_table([], tmp_path / "de.parquet", "pairs")
    body = text({**paths, "pairs": [str(tmp_path / "de.parquet"), paths["pairs"][1]]}, sources)
    assert (
        body.count("No row was kept") == 1 and "\n**No row was kept in de**: the data have no question in it.\n" in body
    )


def test_the_licence_stands_at_the_end(folder):
    _, body = front(folder)
    assert body.rstrip().endswith("mit. Invented.") and "- Route: phrasebook" in body


def test_equal_data_give_equal_cards_wherever_they_lie(tables, folder, tmp_path):
    first = (folder / "README.md").read_text("utf-8")
    moved, sources = made(tmp_path)
    assert text(moved, sources) == first
    assert str(tmp_path) not in first and str(Path(tables[1][0]).parent) not in first
    break_file(tmp_path / "sources/de.yaml", "Drachen", "Winddrachen")
    assert text(moved, sources) != first


def test_models_and_the_versions_of_their_prompts_are_told_and_no_more_of_their_settings(tables, tmp_path):
    prompt = tmp_path / "translator.yaml"
    prompt.write_text("user: 'Say {{ word }}'\nreply: text\n")
    settings = {
        "kind": "openai",
        "model": "m|1",
        "revision": None,
        "key_env": "KEY_HERE",
        "base_url": "http://models.internal",
    }
    made = text(tables[0], [], ABOUT | {"models": {"translator": settings}}, [prompt])
    assert "| translator | openai | m\\|1 | – |" in made and "translator@" in made
    assert "KEY_HERE" not in made and "models.internal" not in made
    prompt.write_text("user: 'Please say {{ word }}'\nreply: text\n")
    assert text(tables[0], [], ABOUT | {"models": {"translator": settings}}, [prompt]) != made


def test_words_of_the_configuration_cannot_break_the_card(tables, tmp_path):
    hostile = 'x: "y"\n---\n# heading\n{{ 7*7 }}'
    write_text(tmp_path / "README.md", text(tables[0], [], ABOUT | {"title": hostile, "facts": {"Route": hostile}}))
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
    tables = {f"default_{name}": str(folder / f"default/{name}.parquet") for name in ("examples", "items", "splits")}
    about = ABOUT | {"benchmark": "mine", "license": "unknown", "licence": "unknown. Set it."}
    folder = tmp_path / "publish/mine"
    publish(folder, TEMPLATE, tables, [str(tmp_path / "mine.csv")], [], about)
    found, _ = loaded(folder, tmp_path)
    assert set(found) == {"default", *tables, *(f"file {name}" for name in tables)}
    assert [row["reference"] for row in found["default_items"]] == ["I.", "You."]
    head, body = front(folder)
    assert head["license"] == "unknown" and head["multilinguality"] == ["monolingual"]
    assert "Checks" not in body and "| mine.csv | `" in body and str(tmp_path) not in body
