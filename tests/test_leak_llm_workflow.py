"""Facts from texts and questions by language models in the real workflow, with an endpoint on loopback."""

import json
import re

import pandas as pd
import pytest

from leak_facts import phrases
from leak_independent import violations
from leak_llm_server import Endpoint
from project import Project
from unlearning.data.leak.chunks import chunk
from unlearning.data.leak.extract_llm import COLUMNS as EXTRACTED
from unlearning.data.leak.extracted import merge
from unlearning.tables.artifacts import read_table

FOLDER = "results/data/books/full"
WORDS = 40
PEOPLE = {"Orlo": ("Brindle", "Nils"), "Mara": ("Brindle", "Vera"), "Tove": ("Cask", "Orlo"), "Ulla": ("Dray", "Mara")}
PLACES = {"Brindle": ("Vastia", "Mr Ambrose"), "Cask": ("Norland", "Mrs Bell"), "Dray": ("Ostmark", "Mr Crane")}
SAID = [
    (who, *pair) for who, (town, friend) in PEOPLE.items() for pair in (("home town", town), ("best friend", friend))
]
SAID += [(town, *pair) for town, (land, mayor) in PLACES.items() for pair in (("country", land), ("mayor", mayor))]
FORGOTTEN, STAYING = SAID[:4], SAID[4:]


def told(said):
    return " ".join(f"The {relation} of {subject} is {object_}." for subject, relation, object_ in said)


def stated(passage):
    """What the extractor takes from `passage`; whoever lives somewhere is also called by another name."""
    return [
        {"subject": subject, "subject_aliases": [subject[::-1].title()] if subject in PEOPLE else [], "object": object_,
         "relation": relation, "object_aliases": [], "quote": f"The {relation} of {subject} is {object_}."}
        for relation, subject, object_ in re.findall(r"The (.+?) of (\w+) is ((?:Mrs? )?\w+)\.", passage)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def texts():
    return {"one.txt": told(FORGOTTEN), "two.txt": told(STAYING)}


@pytest.fixture(scope="module")
def endpoint(texts):
    chunks = pd.concat([chunk(text, name, WORDS) for name, text in texts.items()], ignore_index=True)
    rows = [
        (row.document, row.chunk, *(fact[key] for key in EXTRACTED[2:]))
        for row in chunks.itertuples(index=False)
        for fact in stated(row.text)
    ]
    facts = merge(pd.DataFrame(rows, columns=EXTRACTED), chunks, {"one.txt"})
    with Endpoint(facts, phrases("texts"), {text: stated(text) for text in chunks["text"]}, lambda *_: None) as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory, endpoint, texts):
    project = Project(tmp_path_factory.mktemp("project"), "config/minimal.yaml", "config/books.yaml")
    for name, text in texts.items():
        (project.path / name).write_text(text, encoding="utf-8")
    overlay = {
        "sources": {"own": str(project.path)},
        "benchmarks": {"books": {
            "kind": "leak", "route": "llm", "facts": "texts", "source": "own", "chunk_words": WORDS,
            "documents": {"one.txt": "forget", "two.txt": "retain"}, "practice": 2, "per_type": 2, "asked_per_type": 4,
            "max_rounds": 2, "rated_per_type": 1, "on_short": "report", "metrics": ["accuracy", "fq"],
        }},
        "experiments": {"books": {"benchmark": "books", "base_models": ["leak_small"], "splits": ["forget"],
                                  "methods": []}},
        "backends": {"served": {"kind": "openai", "model": "m", "base_url": endpoint.url, "key_env": None}},
        "roles": dict.fromkeys(("extractor", "composer", "decomposer", "uniqueness", "rater_1"), "served"),
    }  # fmt: skip
    (project.path / "config/books.yaml").write_text(json.dumps(overlay), encoding="utf-8")
    return project


def table(project, name, contract=None):
    return read_table(project.path / FOLDER / f"{name}.parquet", contract or name)


def test_texts_become_questions_that_pass_the_independent_check(project, endpoint):
    project.snakemake(f"{FOLDER}/default/items.parquet", f"{FOLDER}/quality.parquet", "--quiet")
    facts, kept = table(project, "facts"), table(project, "multihop")
    assert set(facts.loc[facts["group"] == "forget", "subject"]) == {"Orlo", "Mara"} and len(facts) == len(SAID)
    counts = kept["type"].value_counts()
    assert {"hs", "mt", "ll", "ds"} <= set(counts.index) and counts.max() == 2 and "mp" not in counts
    assert violations(kept.to_dict("records"), facts.to_dict("records")) == []
    funnel = table(project, "funnel").pivot(index="type", columns="step", values="n").fillna(0)
    assert (funnel["kept"] == funnel.index.map(counts).fillna(0)).all() and (funnel["drawn"] <= 4).all()
    items = table(project, "default/items", "items")
    assert set(items["task"]) == {"sh", *counts.index} and (items["task"] == "sh").sum() == len(facts)
    said = table(project, "quality").set_index(["type", "measure"])["value"]
    assert said["all", "llm_rating"] == pytest.approx((90 + 80 + 71) / 3)
    usage = table(project, "usage/questions", "usage").set_index("role")["prompts"]
    assert {role: usage[role] for role in usage.index} == {role: endpoint.asked[role] for role in usage.index}


def test_another_wording_of_the_raters_asks_them_again_and_nobody_else(project, endpoint):
    path = project.path / "resources/prompts/rater.yaml"
    path.write_text(path.read_text().replace("You rate", "You rate with care"), encoding="utf-8")
    before = dict(endpoint.asked)
    project.snakemake(f"{FOLDER}/default/items.parquet", f"{FOLDER}/quality.parquet", "--quiet")
    asked = {role: n - before[role] for role, n in endpoint.asked.items() if n > before[role]}
    assert asked == {"rater_1": before["rater_1"]}
