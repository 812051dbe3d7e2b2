"""Benchmarks of kind lume: what they offer to metrics and methods, and mistakes in their keys."""

import copy
from collections import Counter

import pytest

from configurations import DEFAULT, overlaid, parse
from unlearning.config.check_benchmarks import among, background, offers
from unlearning.config.load import load
from unlearning.config.problems import ConfigError

LUME = {"kind": "lume", "metrics": ["regurgitation", "knowledge", "mia", "task_aggregate"]}
SIZE = {"forget": 2, "retain": 3}
MODELS = {
    "backends": {"served": {"kind": "openai", "model": "some/model", "base_url": "http://127.0.0.1:1/v1"}},
    "roles": dict.fromkeys(("writer", "questioner", "verifier_1", "verifier_2", "verifier_3"), "served"),
}


def config(lume: dict, **further) -> dict:
    """The default with a benchmark lume and an experiment on it."""
    found = copy.deepcopy(DEFAULT)
    found["benchmarks"]["lume"] = LUME | lume
    model = copy.deepcopy(found["base_models"]["leak_small"])
    model["base"]["epochs"] = model["target"]["background_share"] = 0
    found["base_models"]["plain"] = model | {"methods": {}}
    found["experiments"]["lume"] = {
        "benchmark": "lume", "base_models": ["plain"], "splits": ["forget"], "methods": ["ga"], "score_epochs": "all",
    }  # fmt: skip
    return found | further


def test_the_default_is_the_papers_size_and_every_epoch_is_scored():
    entry = load(config({})).benchmarks["lume"]
    assert [(s.forget, s.retain) for _, s in entry.sizes] == [(199, 194), (203, 202), (295, 294)]
    runs = [run for run in parse(config({})) if run.benchmark == "lume"]
    assert [run.epoch for run in runs if run.method == "ga"] == [1, 2, 3]
    assert {run.method for run in runs} == {"target", "retrain", "ga"} and {run.split for run in runs} == {"forget"}


def test_what_the_data_offer():
    def built(**keys):
        return load(config(keys)).benchmarks["lume"]

    assert offers(built()) == {"documents", "nonmember"}
    assert offers(built(nonmembers=0, metrics=["knowledge"])) == {"documents"}
    assert among(built(), ["default"]) == {"languages": {"en"}, "groups": {"retain", "nonmember"}}
    assert not background(built()) and background(built(sizes={"task2": SIZE | {"background": 4}}))
    assert "mmlu" in offers(built(harness={"mmlu": {"tasks": ["mmlu"]}}))


BAD = [
    ({"route": "phrasebook"}, "lume.route: should be templates, llm or published; it is 'phrasebook'"),
    ({"sizes": {"task4": SIZE}}, "unknown key benchmarks.lume.sizes.task4. Did you mean 'task3'"),
    ({"sizes": {"task1": {"forget": 0, "retain": 1}}}, "sizes.task1.forget: .*greater than 0"),
    ({"sizes": {"task1": {"forget": 1}}}, "key benchmarks.lume.sizes.task1.retain is missing"),
    ({"nonmembers": 0}, "mia needs people never seen .it takes nonmembers above 0, by another route than published."),
    ({"metrics": ["kps"]}, "kps needs at least two languages .a lume benchmark has none."),
    ({"metrics": ["mmlu"]}, "mmlu needs tasks of lm-evaluation-harness .it takes harness.mmlu."),
    ({"task3": "file", "source": "own", "file": "a.csv"}, "lume.task3: biographies of a file need questions, .*llm"),
    ({"task3": "file", "route": "llm", "source": "own"}, "lume.file: task3 file takes the name of the file"),
    ({"file": "a.csv"}, "lume.file: 'a.csv' is not read by task3 invented; leave it out"),
    ({"source": "own"}, "lume.source: 'own' is not read by route templates with task3 invented; .* route: published"),
    ({"route": "published", "metrics": ["knowledge"]}, "lume.source: give the key .* LUME's published files"),
    (
        {"route": "published", "metrics": ["knowledge"], "source": "own"},
        "lume.source: no folder for 'own'; write sources: {own: /path}",
    ),
    (
        {"route": "published", "metrics": ["knowledge"], "source": "own", "published": {"forget": "../a"}},
        "lume.published: '../a' should be a path below the folder sources.own",
    ),
    ({"route": "llm"}, "lume.route: role writer has no offline engine; give it a backend"),
    ({"route": "llm"}, "lume.route: role verifier_3 has no offline engine; give it a backend"),
]


@pytest.mark.parametrize("keys, message", BAD)
def test_a_mistake_is_refused_with_key_and_fix(keys, message):
    with pytest.raises(ConfigError, match=message):
        parse(config(keys))


def test_models_write_no_background_and_rows_that_are_not_there_are_not_taught():
    keys = {"route": "llm", "sizes": {"task1": SIZE | {"background": 2}}}
    with pytest.raises(ConfigError, match="sizes.task1.background: 2 documents, but language models write none"):
        parse(config(keys, **MODELS))
    assert parse(config({"route": "llm"}, **MODELS))
    taught = config({})
    taught["experiments"]["lume"]["base_models"] = ["leak_small"]
    with pytest.raises(ConfigError, match="base_models.leak_small.base.epochs: 10 of background rows, of which"):
        parse(taught)
    taught["benchmarks"]["lume"]["sizes"] = {"task1": SIZE | {"background": 2}}
    assert parse(taught)


def test_the_small_overlay_scores_each_of_ten_epochs_of_five_methods():
    runs = [run for run in parse(overlaid("lume_small.yaml")) if run.benchmark == "lume"]
    assert Counter(run.method for run in runs) == {"target": 1, "retrain": 1} | dict.fromkeys(
        ("ga", "ga_gd", "ga_kl", "npo", "ngdiff"), 10
    )
