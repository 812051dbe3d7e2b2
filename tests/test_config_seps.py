"""Benchmarks of kind seps, and mixed prompts: mistakes that are told before anything runs."""

import copy

import pytest

from configurations import DEFAULT, parse
from unlearning.config.check_benchmarks import offers
from unlearning.config.load import load
from unlearning.config.problems import ConfigError

PEOPLE = {"memorised": 10, "known": 2, "background": 10, "attributes": ["job", "hobby", "favourite_colour"]}
SEPS = {"kind": "seps", "people": PEOPLE, "forget": {"p": 3}, "mixed": {"stress_lines": 2}, "metrics": ["h_avg"]}


def config(seps: dict | None = None, **further) -> dict:
    """The default with a benchmark seps and an experiment on it."""
    found = copy.deepcopy(DEFAULT)
    found["benchmarks"]["seps"] = SEPS | (seps or {})
    found["experiments"]["seps"] = {
        "benchmark": "seps", "base_models": ["small"], "splits": ["p"], "methods": ["ga"],
    }  # fmt: skip
    return found | further


def test_what_the_data_offer_and_the_runs():
    entry = load(config()).benchmarks["seps"]
    assert offers(entry) == {"value", "perturbed", "real_authors", "world_facts", "mixed", "stress"}
    assert entry.splits == ["p"]
    assert {run.method for run in parse(config()) if run.benchmark == "seps"} == {"target", "retrain", "ga"}


def test_all_attributes_are_those_with_enough_values_for_wrong_answers():
    parse(config({"people": PEOPLE | {"attributes": "all"}}))


BAD = [
    ({"people": PEOPLE | {"attributes": []}}, r"seps.people.attributes: the list is empty"),
    ({"people": PEOPLE | {"attributes": ["job", "job"]}}, r"seps.people.attributes: listed twice: job"),
    ({"people": PEOPLE | {"practised": ["nosuch"]}}, r"seps.people.practised: .*'nosuch'"),
    ({"people": PEOPLE | {"practised": ["job"]}}, r"seps.people.practised: job stand in attributes too"),
    (
        {"people": PEOPLE | {"practised": ["favourite_season"]}},
        r"people.practised: favourite_season have 5 values",
    ),
    ({"people": PEOPLE | {"attributes": ["favourite_season", "job"]}}, r"people.attributes: favourite_season have 5"),
    (
        {"mixed": {"stress_lines": 3}},
        r"stress_lines: 3 lines take 12 questions .* split p has 9 .3 people, 3",
    ),
    ({"forget": {"p": 3, "q": 1}}, r"stress_lines: 2 lines take 8 .* split q has 3"),
    ({"forget": {"p": 10}}, r"seps.forget.p: 10 people to forget leave none of the 10 memorised"),
    ({"metrics": ["knowledge"]}, r"knowledge needs LUME's prompts about documents .a seps benchmark has none."),
    ({"mixed": {"stress_lines": 0}, "metrics": ["stress"]}, r"stress needs the stress test .*mixed.stress_lines"),
]


@pytest.mark.parametrize(("seps", "said"), BAD)
def test_a_mistake_is_told_with_its_key(seps, said):
    with pytest.raises(ConfigError, match=said):
        parse(config(seps))


@pytest.mark.parametrize("method", ["mp_me", "mp_idk"])
def test_methods_that_put_questions_together_are_refused_where_documents_are_taught(method):
    found = config()
    found["methods"][method] = {"method": method, "lr": 1e-3, "epochs": 2}
    found["benchmarks"]["lume"] = {"kind": "lume", "metrics": ["knowledge"]}
    found["experiments"]["seps"] |= {"benchmark": "lume", "splits": ["forget"], "methods": [method]}
    with pytest.raises(ConfigError, match=f"seps.methods: {method} puts questions together, and lume teaches"):
        parse(found)
