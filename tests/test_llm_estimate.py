"""`make estimate`: what a run's language models would take, without asking anyone and without a key."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unlearning.llm.budget import Budget
from unlearning.llm.estimate import Estimate
from unlearning.llm.requests import Request, Sampling

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "workflow" / "scripts"))

import estimate  # noqa: E402

OVERLAY = """
backends: {served: {kind: openai, model: m, key_env: NO_SUCH_KEY}}
roles: {translator: served, equivalence: served, judge: served}
prices: {m: {input: 1.0, output: 2.0}}
llm: {spending_cap: 0.5}
benchmarks: {mu2: {route: llm, judge: llm, second_judges: [rule]}}
experiments: {mu2_minimal: {score_epochs: [1]}}
"""
MINIMAL = ("--configfile", "config/minimal.yaml")
PAID = (*MINIMAL, "paid.yaml")
# config/minimal.yaml: 10 people x 2 attributes = 20 pairs; 15 colours and 9 hobbies; three languages beside English
PAIRS, LANGUAGES, ROUNDS, TRIES = 20, 3, 3, 3


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in ("config", "profiles", "rules", "resources", "workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "paid.yaml").write_text(OVERLAY)
    return folder


def ran(project: Path, *command: str):
    environment = {k: v for k, v in os.environ.items() if k != "NO_SUCH_KEY"} | {"PYTHONPATH": "workflow"}
    return subprocess.run([sys.executable, *command], cwd=project, env=environment, capture_output=True, text=True)


def estimated(project: Path, *arguments: str):
    return ran(project, "workflow/scripts/estimate.py", *arguments)


def tables(output: str) -> list[dict[str, list[float]]]:
    """(one round, at most): role -> replies, tokens read, tokens written, USD."""
    found = []
    for line in output.splitlines():
        if line.startswith("role "):
            found.append({})
        elif found and len(cells := line.split()) == 7 and cells[1] == "openai":
            found[-1][cells[0]] = [float(cell.replace(",", "")) for cell in cells[3:]]
    return found


def test_every_role_is_counted_before_anything_is_there(project):
    done = estimated(project, *PAID)
    assert done.returncode == 0, done.stderr
    one, most = tables(done.stdout)
    values = (one["translator"][0] - LANGUAGES * PAIRS) / LANGUAGES
    # each pair and value is translated and judged in each language; the refiner is offline, who judges it is not
    assert values > 20 and one["equivalence"][0] == one["translator"][0] + PAIRS
    for role in ("translator", "equivalence"):
        replies, _, written, usd = most[role]
        assert replies == one[role][0] * ROUNDS * TRIES and written == replies * 256
        assert usd == pytest.approx((most[role][1] * 1.0 + written * 2.0) / 1e6, abs=1e-4)
    # 6 people in 4 languages and 2 attributes, and a tenth of the 4 others' 32; of one person five samples more.
    # Five models, two of them after their first epoch too
    items = 6 * 4 * 2 + round(0.1 * 32)
    assert one["judge"][0] == 7 * items + 5 * 8 and most["judge"][0] == TRIES * one["judge"][0]
    assert "yet to be made: 1 mu2_refine, 3 mu2_translate_llm, 8 judge_llm." in done.stdout
    texts = LANGUAGES * (int(values) + 3 * PAIRS)
    assert f"back_translator.service google takes: {texts} texts, at most {ROUNDS * texts:,}." in done.stdout
    assert "Played by no language model, as roles names none for them: refiner." in done.stdout
    assert "warning: the environment variable NO_SUCH_KEY is not set" in done.stdout
    assert "backends.served.key_env" in done.stdout
    assert "Cap (llm.spending_cap): 0.5000 USD; spent or reserved so far: 0.0000; left: 0.5000. It " in done.stdout
    assert not (project / "results").exists()  # nothing is built, nothing reserved


def test_a_run_without_language_models_asks_nothing(project):
    done = estimated(project, *MINIMAL)
    assert done.returncode == 0
    assert done.stdout == "Nothing would be asked: no job that would run asks a language model.\n"


def test_a_wrong_configuration_is_told(project):
    done = estimated(project, *PAID, "--config", "roles={judge: servd}")
    assert done.returncode == 1 and "roles.judge: no backend 'servd'. Did you mean 'served'" in done.stderr


def test_without_the_api_key_a_dry_run_warns_and_a_run_stops_before_its_first_job(project):
    dry = ran(project, "workflow/scripts/dry.py", *PAID)
    assert dry.returncode == 0 and "mu2_translate_llm" in dry.stdout
    assert "warning: the environment variable NO_SUCH_KEY is not set (export NO_SUCH_KEY=…)" in dry.stderr
    run = ran(project, "-m", "snakemake", "--cores", "1", *PAID)
    assert run.returncode == 1 and "NO_SUCH_KEY is not set" in run.stderr and "backends.served.key_env" in run.stderr
    assert not (project / "results/.ledger").exists() and not (project / "results/data").exists()


def seen(*rows: Estimate) -> estimate.Foreseen:
    found = estimate.Foreseen()
    found.one, found.most = [row._replace(replies=1) for row in rows], list(rows)
    return found


def test_what_has_no_price_is_named_and_what_everybody_gave_is_nothing():
    paid, free = Estimate("judge", "openai", "m", 2, 3, 4, 0.25), Estimate("judge", "openai", "free", 2, 3, 4, None)
    own = Estimate("translator", "vllm", "big", 2, 3, 4, None)
    assert "About 0.2500 USD, at most 0.2500 USD by `prices`." in estimate.told(seen(paid, own), True)
    said = estimate.told(seen(paid, free), True)
    assert "at most 0.2500 USD by `prices`, and what free costs, for which prices has no entry." in said
    assert "What it costs cannot be said: prices has no entry for free." in estimate.told(seen(free, own), True)


def test_replies_that_are_stored_are_told_where_nothing_or_something_is_asked():
    judge, none = Estimate("judge", "openai", "m", 2, 3, 4, 0.25), Estimate("judge", "openai", "m", 0, 0, 0, 0.0)
    found = seen(judge)
    found.stored["judge"] = 1200
    assert "\nBesides, 1,200 replies come from the store.\n" in estimate.told(found, True)
    found.one = [none]
    assert "Nothing would be asked: all 1,200 replies come from the store.\n" in estimate.told(found, True)
    found.most = []
    assert estimate.told(found, True) == "Nothing would be asked: all 1,200 replies come from the store."


def test_what_is_spent_stands_beside_the_cap(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "SPENDING", tmp_path / "spending.sqlite")
    assert estimate.spending(None, 1.0) == "Spent so far: 0.0000 USD. There is no cap (llm.spending_cap)."
    assert not list(tmp_path.iterdir())
    budget = Budget(tmp_path / "spending.sqlite", None, {"input": 0.0, "output": 1e6})
    budget.reserve(Request("p", 0, [], Sampling(max_tokens=3), None, {}, "judge"))
    enough = "Cap (llm.spending_cap): 10.0000 USD; spent or reserved so far: 3.0000; left: 7.0000."
    assert estimate.spending(10.0, 7.0) == enough
    assert estimate.spending(10.0, 7.1) == f"{enough} It may stop the run before its end; what came is kept."
