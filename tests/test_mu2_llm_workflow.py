"""Route llm in the real workflow: an OpenAI-compatible endpoint on loopback builds the data; prompts and faults.

The tests share one project and go in order.
"""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest

from mu2_llm_server import BOOKS, Endpoint
from project import Project, label
from unlearning.cache import ledger
from unlearning.llm.budget import Budget
from unlearning.tables.artifacts import read_table

FOLDER = "results/data/mu2/minimal"
ITEMS = f"{FOLDER}/four/items.parquet"
PUBLISHED = "results/publish/mu2/minimal"
VALUES = sum(len(BOOKS["en"].attributes[name].values) for name in ("favourite_colour", "hobby"))
EVERYTHING = [
    "build", "card", "english", "profiles", "templates", "translate af", "translate en", "translate mk", "translate th",
    "values af", "values en", "values mk", "values th",
]  # fmt: skip


def fault(role, language, inputs, shown):
    """Macedonian has no right word for pink; the first Thai question about a hobby gives the answer away."""
    if role != "translator":
        return None
    if language == "mk" and inputs.get("english_value") == "pink" and "question" not in inputs:
        return {"translation": BOOKS["mk"].attributes["favourite_colour"].values["blue"]}
    if language == "th" and inputs["attribute"] == "hobby" and "question" in inputs and not shown:
        entry = BOOKS["th"].attributes["hobby"]
        filled = {part: getattr(entry, part).replace("{name}", inputs["name"]) for part in ("question", "answer")}
        filled["paraphrase"] = entry.paraphrase.replace("{name}", inputs["name"])
        said = {part: text.replace("{value}", inputs["value"]) for part, text in filled.items()}
        return said | {"question": f"{said['question']} {inputs['value']}"}
    return None


@pytest.fixture(scope="module")
def endpoint():
    with Endpoint(fault) as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory, endpoint):
    project = Project(tmp_path_factory.mktemp("project"), "config/minimal.yaml", "config/llm.yaml")
    overlay = {
        "benchmarks": {"mu2": {"route": "llm", "back_translator": {"service": "reverse"}}},
        "backends": {"served": {"kind": "openai", "model": "m", "base_url": endpoint.url, "key_env": "PLANTED"}},
        "roles": dict.fromkeys(("refiner", "translator", "equivalence"), "served"),
        "prices": {"m": {"input": 1.0, "output": 2.0}},
    }
    (project.path / "config/llm.yaml").write_text(json.dumps(overlay), encoding="utf-8")
    return project


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("PLANTED", "sk-planted-key-0123456789")


def computed(project, *targets) -> tuple[list[str], list[str]]:
    """What a run of `targets` computes and restores, as labels."""
    folder = project.path / "results/.ledger"
    before = len(ledger.lines(folder))
    project.snakemake(*targets, "--quiet")
    lines = ledger.lines(folder)[before:]
    return tuple(sorted(label(l["output"]) for l in lines if l["action"] == a) for a in ("computed", "restored"))


def scheduled(project, *targets) -> list[str]:
    rows = [line.split("\t") for line in project.snakemake("--summary", *targets).stdout.splitlines() if "\t" in line]
    at = {name: i for i, name in enumerate(rows[0])}
    return sorted({label(r[at["output_file"]]) for r in rows[1:] if r[at["plan"]] != "no update"} - {None})


def table(project, path, name):
    return read_table(project.path / FOLDER / f"{path}.parquet", name)


def estimated(project) -> str:
    """What `make estimate` prints."""
    command = [sys.executable, "workflow/scripts/estimate.py", "--configfile", *project.overlays]
    environment = os.environ | {"PYTHONPATH": "workflow"}
    return subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_data_are_built_by_the_endpoint_with_no_more_prompts_than_were_foreseen(project, endpoint):
    most = estimated(project).partition("At most")[2]
    assert computed(project, ITEMS, f"{PUBLISHED}/README.md") == (EVERYTHING, [])
    cells = [line.split() for line in most.splitlines()]
    foreseen = {row[0]: int(row[3].replace(",", "")) for row in cells if row[1:3] == ["openai", "m"]}
    for role in ("refiner", "translator", "equivalence"):
        assert 0 < sum(n for (who, _), n in endpoint.asked.items() if who == role) <= foreseen[role]
    usd = float(re.search(r"at most ([0-9.]+) USD", most)[1])
    assert 0 < Budget(project.path / "results/.llm/spending.sqlite", None, {}).spent() <= usd
    assert endpoint.asked["translator", "af"] == VALUES + len(table(project, "english", "pairs"))
    english = table(project, "english", "pairs")
    af = table(project, "pairs/af", "pairs")
    assert list(af["knowledge_id"]) == list(english["knowledge_id"])
    values = BOOKS["af"].attributes
    assert list(af["value"]) == [values[r.attribute].values[r.english_value] for r in af.itertuples()]
    assert table(project, "rejected/af", "rejected").empty and table(project, "rejected/en", "rejected").empty


def test_a_value_without_translation_rejects_its_pairs_only(project):
    english, rejected = table(project, "english", "pairs"), table(project, "rejected/mk", "rejected")
    pink = english[english["english_value"] == "pink"]
    assert len(pink) and set(rejected["id"]) == set(pink["knowledge_id"] + "/mk")
    assert set(rejected["check"]) == {"value_translation"} and set(rejected["round"]) == {3}
    tried = table(project, "rounds/values/mk", "rounds").query("id == 'favourite_colour/pink'")
    assert list(tried["round"]) == [1, 2, 3] and set(tried["verdict"]) == {"refused"}
    assert len(table(project, "values/mk", "values")) == VALUES - 1
    assert len(table(project, "pairs/mk", "pairs")) == len(english) - len(pink)


def test_a_question_that_gives_its_answer_away_is_asked_for_again(project):
    rounds = table(project, "rounds/pairs/th", "rounds")
    hobby = rounds[rounds["id"].str.contains("/hobby/")]
    assert set(hobby.loc[hobby["round"] == 1, "verdict"]) == {"refused"}
    assert all(
        any(r.startswith("question_hides_value") for r in found) for found in hobby.query("round == 1")["reasons"]
    )
    assert set(hobby.loc[hobby["round"] == 2, "verdict"]) == {"accepted"} and hobby["round"].max() == 2
    assert table(project, "rejected/th", "rejected").empty


def test_what_it_took_is_counted_by_role_and_adds_up_to_what_was_asked(project, endpoint):
    usage = table(project, "usage/pairs/af", "usage").set_index("role")
    pairs = len(table(project, "english", "pairs"))
    assert usage["prompts"].to_dict() == {"translator": pairs, "equivalence": pairs}
    # what comes back is the English of every language, so jobs share the questions whether it means the same
    every = pd.concat(read_table(path, "usage") for path in (project.path / FOLDER / "usage").rglob("*.parquet"))
    assert every["asked"].sum() == endpoint.asked.total() and every["from_store"].sum() > 0
    spent = Budget(project.path / "results/.llm/spending.sqlite", None, {}).spent()
    assert every["cost"].sum() == pytest.approx(spent)
    # 100 tokens read at 1 USD, 10 written at 2 USD per million, each prompt
    assert usage.at["translator", "cost"] == pytest.approx(pairs * (100 * 1 + 10 * 2) / 1e6)
    assert table(project, "usage/pairs/en", "usage").empty


def test_what_is_asked_already_is_not_foreseen_again(project, endpoint):
    before, lost = endpoint.asked.copy(), project.path / FOLDER / "usage/pairs/mk.parquet"
    kept, took = lost.read_bytes(), table(project, "usage/pairs/mk", "usage")
    lost.unlink()
    n = (took["asked"] + took["from_store"]).sum()
    assert estimated(project).startswith(f"Nothing would be asked: all {n} replies come from the store.")
    lost.write_bytes(kept)
    assert endpoint.asked == before


def test_what_is_published_says_nothing_of_the_endpoint_or_the_cost(project, endpoint):
    published = [path for path in (project.path / PUBLISHED).rglob("*") if path.is_file()]
    names = {str(path.relative_to(project.path / PUBLISHED)) for path in published}
    alone = {"README.md", "profiles.parquet", "templates.parquet", "english.parquet", "rounds_refined.parquet",
             "rejected/mk.parquet", *(f"four_{name}.parquet" for name in ("examples", "items", "splits"))}  # fmt: skip
    each = ("values", "pairs", "rounds_values", "rounds_pairs")
    assert names == alone | {f"{table}/{code}.parquet" for table in each for code in ("af", "en", "mk", "th")}
    assert endpoint.url.encode() in (project.path / FOLDER / "pairs/af.provenance.json").read_bytes()
    for path in published:
        said = path.read_text("utf-8") if path.suffix == ".md" else str(pq.read_table(path).to_pylist())
        assert said and endpoint.url not in said and "PLANTED" not in said, path


TRANSLATE = ["translate af", "translate mk", "translate th"]
VALUES_OF = ["values af", "values mk", "values th"]


@pytest.mark.parametrize(
    ("prompts", "after"),
    [
        (["translator_value"], ["build", *TRANSLATE, *VALUES_OF]),
        (["translator_pair"], ["build", *TRANSLATE]),
        (["equivalence_pair"], ["build", "english", "translate af", "translate en", *TRANSLATE[1:]]),
        (["refiner"], ["build", "english", "translate af", "translate en", *TRANSLATE[1:]]),
        (["backtranslator", "judge_single"], []),  # neither is used: texts come back through the phrasebooks
    ],
    ids=lambda found: "+".join(found) if len(found) < 3 else "",
)
def test_a_changed_prompt_schedules_its_consumers_and_what_follows_only(project, prompts, after):
    paths = [project.path / f"resources/prompts/{prompt}.yaml" for prompt in prompts]
    texts = [(path, path.read_text(encoding="utf-8"), path.stat().st_mtime_ns) for path in paths]
    for path, text, _ in texts:
        assert "JSON object" in text
        path.write_text(text.replace("JSON object", "object in JSON"), encoding="utf-8")
    assert scheduled(project, ITEMS) == after
    for path, text, changed in texts:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(changed, changed))


def test_a_changed_prompt_is_asked_again_by_its_consumers_only(project, endpoint):
    before, pairs = endpoint.asked.copy(), len(table(project, "english", "pairs"))
    project.edit("resources/prompts/translator_pair.yaml", "- Write natural", "- Write plain, natural")
    assert computed(project, ITEMS) == (["build", *TRANSLATE], [])
    now = endpoint.asked - before
    assert now["translator", "af"] == pairs and not now["equivalence", "en"] and not now["refiner", "en"]


def test_the_key_is_nowhere(project):
    for path in project.path.rglob("*"):
        if path.is_file():
            assert b"sk-planted-key" not in path.read_bytes(), path


def test_an_endpoint_that_is_gone_stops_with_the_way_out(project, endpoint):
    project.edit("resources/prompts/refiner.yaml", "You are a careful", "You are a very careful")
    path = project.path / "config/llm.yaml"
    overlay = json.loads(path.read_text(encoding="utf-8"))
    gone = overlay | {
        "backends": {"served": overlay["backends"]["served"] | {"base_url": "http://127.0.0.1:9/v1", "attempts": 1}}
    }
    path.write_text(json.dumps(gone), encoding="utf-8")
    done = project.snakemake(ITEMS, "--quiet", check=False)
    path.write_text(json.dumps(overlay), encoding="utf-8")
    assert done.returncode and "127.0.0.1:9" in done.stderr and "sk-planted" not in done.stdout + done.stderr
