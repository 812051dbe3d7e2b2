"""LUME's documents by language models in the real workflow, with an endpoint on loopback."""

import json
import re
from collections import Counter

import pytest

from loopback import Loopback, completion
from lume_independent import violations
from lume_llm_fakes import LumeModel, asking
from project import Project
from test_llm_estimate import estimated, tables
from unlearning.cache import ledger
from unlearning.llm.requests import Request, Sampling
from unlearning.tables.artifacts import read_table

FOLDER, CARD = "results/data/lume/small", "results/publish/lume/small/README.md"
VERIFIERS = ("verifier_1", "verifier_2", "verifier_3")
ROLES = ("writer", "questioner", *VERIFIERS)
TASKS = ("task1", "task2", "task3")
FIELDS = {"genre": "Genre", "city": "Place", "name": "name", "birth_date": "date of birth", "ssn": "Social.+ number",
          "phone": "phone number", "email": "e-mail address", "address": "home address"}  # fmt: skip


def inputs_of(role, user):
    """What a prompt was filled in with."""
    if role == "questioner":
        return {"text": user.partition("\n\n")[2].strip()}
    if role in VERIFIERS:
        return dict(zip(("text", "question"), re.findall("^> (.+)$", user, re.M), strict=True))
    found = {key: m[1] for key, words in FIELDS.items() if (m := re.search(f"^- {words}: (.+)$", user, re.M))}
    if cast := re.search(r"^- Characters: (.+?)\. The first", user, re.M):
        found["characters"] = cast[1].split(", ")
    return found | {"attempts": re.findall("Refused because", user)}


class Endpoint(Loopback):
    """Plays the role that the model is named after; about the first text it says that no question is possible."""

    def __init__(self):
        super().__init__(self._handle)
        self.model, self.asked = LumeModel(), Counter()

    async def _handle(self, call):
        body = json.loads(call.body)
        role = body["model"]
        inputs = inputs_of(role, body["messages"][1]["content"])
        self.asked[role] += 1
        if role == "questioner" and self.asked[role] == 1:
            return completion(call, asking("", ""))
        ident = str(inputs.get("characters"))  # another story for each cast
        return completion(call, self.model.fitting(Request(ident, 0, [], Sampling(), None, inputs, role)))


@pytest.fixture(scope="module")
def endpoint():
    with Endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory, endpoint):
    served = {"kind": "openai", "base_url": endpoint.url, "key_env": None}
    sizes = dict.fromkeys(TASKS, {"forget": 1, "retain": 1})
    overlay = {
        "benchmarks": {"lume": {"kind": "lume", "route": "llm", "sizes": sizes, "nonmembers": 1, "max_rounds": 2,
                                "metrics": ["knowledge"]}},
        "base_models": {"plain": {"architecture": {"hidden": 16, "heads": 2}, "base": {"epochs": 0, "lr": 1e-3},
                                  "target": {"epochs": 1, "lr": 1e-3}}},
        "experiments": {"mu2_minimal": {"enabled": False},
                        "lume": {"benchmark": "lume", "base_models": ["plain"], "splits": ["forget"], "methods": []}},
        "backends": {role: served | {"model": role} for role in ROLES},
        "roles": {role: role for role in ROLES},
        "prices": {role: {"input": 1, "output": 1} for role in ROLES},
    }  # fmt: skip
    project = Project(tmp_path_factory.mktemp("project"), "config/minimal.yaml", "config/written.yaml")
    (project.path / "config/written.yaml").write_text(json.dumps(overlay), encoding="utf-8")
    return project


def table(project, name, contract=None):
    return read_table(project.path / FOLDER / f"{name}.parquet", contract or name)


def test_documents_are_written_asked_about_and_verified_by_no_more_prompts_than_foreseen(project, endpoint):
    one, most = tables(estimated(project.path, "--configfile", *project.overlays).stdout)
    assert not endpoint.asked
    project.snakemake(f"{FOLDER}/default/items.parquet", CARD, "--quiet")
    documents, cut, knowledge = (table(project, name) for name in ("documents", "continuations", "knowledge"))
    assert violations(*(rows.to_dict("records") for rows in (documents, cut, knowledge))) == []
    assert documents["task"].value_counts().to_dict() == {"task1": 2, "task2": 2, "task3": 3}
    told = table(project, "rounds").groupby("id")["verdict"].agg(list)
    assert sorted(map(len, told)) == [1, 1, 1, 2] and (told.map(lambda said: said[-1]) == "accepted").all()
    items = table(project, "default/items", "items")
    assert [(items["task"] == f"{task}_knowledge").sum() for task in TASKS] == [2, 10, 2]
    usage = table(project, "usage/documents", "usage").set_index("role")["prompts"]
    assert usage.to_dict() == {"writer": 5, "questioner": 3, **dict.fromkeys(VERIFIERS, 2)}
    assert endpoint.asked == usage.to_dict()
    assert {role: one[role][0] for role in one} == {"writer": 4, **dict.fromkeys(("questioner", *VERIFIERS), 2)}
    assert all(usage[role] <= most[role][0] for role in usage.index) and set(most) == set(usage.index)
    card = (project.path / CARD).read_text(encoding="utf-8")
    assert "language models wrote stories and biographies, asked and verified, at most 2 rounds" in card
    assert "verifier_3" in card and "`rounds`" in card


def test_a_second_run_with_another_cut_asks_nobody_and_tells_nothing_anew(project, endpoint):
    before, done = dict(endpoint.asked), len(ledger.lines(project.path / "results/.ledger"))
    cut = "workflow/unlearning/data/lume/layout.py"
    project.edit(cut, "completion(text, seed, i))", "completion(text, seed + 1, i))")
    old = table(project, "continuations")
    project.snakemake(f"{FOLDER}/default/items.parquet", "--quiet")
    ran = [line["rule"] for line in ledger.lines(project.path / "results/.ledger")[done:]]
    assert sorted(ran) == ["lume_build", "lume_cut"] and dict(endpoint.asked) == before
    assert (table(project, "continuations")["input"] != old["input"]).any()
