"""The real Snakefile on the minimal overlay: one run end to end, then what each edit schedules and computes.

The tests of this file share one project folder and go in order; each leaves it up to date. Once the whole
overlay is there, they run one method without attacks (`Project.only`), which takes half the time.
"""

import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from project import ROOT, Project
from unlearning.tables import artifacts

NPO_GD = ["answer npo_gd none", "answer npo_gd probab", "answer npo_gd quantize", "attack npo_gd quantize",
          "judge npo_gd none", "judge npo_gd probab", "judge npo_gd quantize", "report", "score npo_gd none",
          "score npo_gd probab", "score npo_gd quantize", "train npo_gd"]  # fmt: skip
IDK_GD = ["answer idk_gd none", "judge idk_gd none", "report", "score idk_gd none", "train idk_gd"]
SCORES = ["report", "score idk_gd none", "score npo_gd none", "score npo_gd probab",
          "score npo_gd quantize", "score retrain none", "score target none"]  # fmt: skip
ANSWERS = ["answer idk_gd none", "answer npo_gd none", "answer npo_gd probab", "answer npo_gd quantize",
           "answer retrain none", "answer target none", "attack npo_gd quantize"]  # fmt: skip
JUDGES = ["judge idk_gd none", "judge npo_gd none", "judge npo_gd probab", "judge npo_gd quantize",
          "judge retrain none", "judge target none"]  # fmt: skip
TRAINING = ["reference", "train base", "train idk_gd", "train npo_gd", "train retrain", "train target"]
DATA = ["build", "card", "english", "profiles", "translate af", "translate en", "translate mk", "translate th",
        "values th"]  # fmt: skip
ONLY_NPO_GD = ["answer npo_gd none", "judge npo_gd none", "report", "score npo_gd none", "train npo_gd"]
IDK_SCORES = ["report", "score idk_gd none", "score retrain none", "score target none"]
QUICK = ["ps", "se"]  # the metrics that the tests of edits read: quicker to score and to report
EVERYTHING = sorted([*DATA, "values af", "values en", "values mk", *TRAINING, *ANSWERS, *JUDGES, *SCORES])


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("project"), "config/minimal.yaml")


def scores(project):
    return pd.read_parquet(project.path / "results/report/scores.parquet")


def test_a_first_run_computes_everything_once(project):
    assert project.scheduled() == EVERYTHING
    assert project.run() == (EVERYTHING, [])


def test_then_there_is_nothing_to_do(project):
    assert project.scheduled() == []
    done = project.snakemake()
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_table_follows_its_contract_and_carries_its_provenance(project):
    copies = {".store", "publish"}
    tables = [p for p in (project.path / "results").rglob("*.parquet") if not copies & set(p.parts)]
    assert len(tables) > 40
    for path in tables:
        table = pq.read_table(path)
        artifacts.check(table, table.schema.metadata[b"table"].decode())
        assert table.schema.metadata[b"fingerprint"].decode() == artifacts.fingerprint(table), path
        assert set(table.schema.metadata) == {b"table", b"schema_version", b"fingerprint"}
        assert path.with_name(f"{path.stem}.provenance.json").exists(), path


def test_no_artifact_names_this_machine(project):
    for path in (project.path / "results").rglob("*.json"):
        assert str(project.path) not in path.read_text(encoding="utf-8"), path


def test_the_scores_are_exactly_the_expected_grid(project):
    found = scores(project)
    keys = set(found[["method", "attack", "group", "language", "task", "metric"]].itertuples(index=False, name=None))
    assert len(keys) == len(found)
    runs = [(m, "none") for m in ("target", "retrain", "npo_gd", "idk_gd")]
    expected = {(*run, *key) for run in runs for key in grid(("forget", "retain", "nonmember"))}
    expected |= {("npo_gd", "quantize", *key) for key in grid(("forget", "retain", "nonmember"))}
    expected |= {("npo_gd", "probab", *key) for key in grid(("forget", "retain"), ("all", "any"))}
    assert keys == expected


def grid(asked, trials=("all",)):
    """Every (group, language, task, metric) of the minimal overlay: train en, af; hold-out th, mk."""
    roles = ["train", "holdout"]
    pairs = ["en", "af", "th", "mk", *roles, "all"]
    parts = [*roles, "train:high", "train:low", "holdout:high", "holdout:low", "holdout:other"]
    selections = [*pairs, *parts[2:]]
    every = ("ps", "value_probability", "rouge_l", "rouge_l_recall")
    keys = {(g, l, "all", m) for g in asked for l in selections for m in every}
    keys |= {(g, l, t, "se") for g in asked for l in selections for t in trials}
    keys |= {
        (g, l, "all", m) for g in ("forget", "retain") for l in selections for m in ("code_mixing", "answer_language")
    }
    keys |= {("forget", l, "all", f"privleak{x}") for l in roles for x in ("", "_flipped", "_relative")}
    kinds = [f"kss_{score}_{curve}" for score in ("prob", "gen") for curve in ("roc", "pr")]
    keys |= {("forget", l, "all", f"{k}{x}") for l in roles for k in kinds for x in ("", "_ratio", "_chance")}
    keys |= {("forget", l, "all", "kps") for l in pairs}
    keys |= {("forget", l, t, "drop_rate") for l in parts for t in ("ps", "se")}
    return keys | {("utility", "all", "all", m) for m in ("tydi_f1", "tydi_em", "general_knowledge")}


def test_nulls_carry_notes_and_numbers_are_in_range(project):
    found = scores(project)
    assert found.loc[found["value"].isna(), "note"].notna().all()
    shares = found[found["metric"].isin(["ps", "value_probability", "se", "rouge_l", "code_mixing"])]["value"].dropna()
    assert shares.between(0, 1).all() and np.isfinite(found["value"].dropna()).all()


def test_the_five_trials_of_probab_differ_and_quantised_weights_take_few_values(project):
    folder = next((project.path / "results/runs").rglob("npo_gd/s0/e2"))
    answers = pd.read_parquet(folder / "probab/answers.parquet")
    assert answers.groupby("item_id")["sample"].nunique().eq(5).all()
    assert answers.groupby("item_id")["text"].nunique().max() > 1
    own, attacked = (pd.read_parquet(folder / a / "likelihoods.parquet") for a in ("none", "quantize"))
    both = own.merge(attacked, on=["item_id", "candidate"])
    assert len(both) and not np.allclose(both["logprob_x"], both["logprob_y"])


def test_the_report_stands_alone(project):
    page = (project.path / "results/report/index.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["']https?:""", page)
    assert "npo_gd" in page


def test_snakemakes_own_report_works(project):
    project.snakemake("--report", "own.zip")
    assert (project.path / "own.zip").stat().st_size > 10_000


def test_a_docstring_and_a_comment_rerun_nothing(project):
    for file in ("workflow/unlearning/forget/npo.py", "workflow/unlearning/metrics/ps.py"):
        path = project.path / file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"""', '"""Other words. ', 1) + "\n# a remark\n", encoding="utf-8")
    assert project.scheduled() == []


def test_touching_every_file_and_a_fresh_checkout_rerun_nothing(project):
    for path in project.path.rglob("*"):
        if path.is_file() and not {"results", ".snakemake"} & set(path.relative_to(project.path).parts):
            os.utime(path)
    assert project.scheduled() == []

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=project.path, check=True)

    git("init", "-q")
    (project.path / ".gitignore").write_text("results/\n.snakemake/\n__pycache__/\n")
    git("add", "-A")
    git("commit", "-q", "-m", "all")
    for part in ("Snakefile", "rules", "workflow", "config", "resources", "profiles"):
        git("rm", "-q", "-r", "--cached", part)
        subprocess.run(["rm", "-rf", part], cwd=project.path, check=True)
    git("checkout", "-q", "HEAD", "--", ".")
    assert project.scheduled() == []


def test_a_metrics_function_rescores_and_trains_nothing(project):
    project.edit("workflow/unlearning/metrics/ps.py", "def score(", "UNUSED = 1\n\n\ndef score(")
    assert project.scheduled() == SCORES
    project.only("idk_gd", metrics=QUICK)
    assert project.scheduled() == IDK_SCORES
    assert project.run() == (IDK_SCORES, [])


def test_the_refusals_rerun_the_method_that_trains_on_refusals(project):
    path = project.path / "resources/refusals.yaml"
    before = path.read_text(encoding="utf-8")
    changed = {code: [f"{said} Sorry." for said in sentences] for code, sentences in yaml.safe_load(before).items()}
    path.write_text(yaml.safe_dump(changed, allow_unicode=True), encoding="utf-8")
    assert project.scheduled() == IDK_GD
    path.write_text(before, encoding="utf-8")
    assert project.scheduled() == []


def test_the_reports_template_reruns_the_report(project):
    project.edit("resources/report/index.html.j2", "</body>", "<!-- changed --></body>")
    assert project.scheduled() == ["report"]
    assert project.run() == (["report"], [])


def test_a_hyper_parameter_reruns_its_method_and_changed_back_trains_nothing(project):
    """What such an edit computes is said here once, of all that rerun one method: refusals, terms, hyper-parameters."""
    before, after = "idk_gd: {epochs: 2, batch_size: 4}", "idk_gd: {epochs: 2, batch_size: 4, lr: 2e-3}"
    project.edit("config/minimal.yaml", before, after)
    assert project.scheduled() == IDK_GD
    assert project.run() == (IDK_GD, [])
    project.edit("config/minimal.yaml", after, before)
    assert project.scheduled() == IDK_GD
    assert project.run() == (
        ["judge idk_gd none", "report", "score idk_gd none"],
        ["answer idk_gd none", "train idk_gd"],
    )


def test_a_forget_terms_function_reruns_its_method_and_no_other(project):
    project.overlays = ("config/minimal.yaml",)
    project.merged("quick", {"benchmarks": {"mu2": {"metrics": QUICK}}})
    project.edit("workflow/unlearning/forget/npo.py", "-(2 / beta)", "-(3 / beta)")
    assert project.scheduled() == NPO_GD
    project.only("npo_gd", metrics=QUICK)
    assert project.scheduled() == ONLY_NPO_GD


BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_adding_a_forget_term_takes_its_module_its_name_in_the_configuration_and_its_test(project):
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [name for name, _ in blocks] == [
        "workflow/unlearning/forget/clipped_ga.py", "config/clipped.yaml", "tests/test_clipped_ga.py",
    ]  # fmt: skip
    for name, text in blocks:
        (project.path / name).parent.mkdir(exist_ok=True)
        assert not (project.path / name).exists(), f"{name} exists already: the example must add a new one"
        (project.path / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/test_clipped_ga.py", "-p", "no:cacheprovider"],
        cwd=project.path, env={"PYTHONPATH": "workflow", "PATH": ""}, check=True,
    )  # fmt: skip
    project.overlays = ("config/minimal.yaml", "config/clipped.yaml", "config/quick.yaml")
    assert project.run() == (
        ["answer clipped none", "judge clipped none", "report", "score clipped none", "train clipped"],
        [],
    )
    assert set(scores(project)["method"]) == {"target", "retrain", "clipped"}


TAUGHT = ["train base", "train retrain", "train target"]
TOLD = ["answer retrain none", "answer target none"]
REPORTED = ["judge retrain none", "judge target none", "report", "score retrain none", "score target none"]


def test_a_phrase_that_nobody_in_the_data_uses_trains_nothing(project):
    project.only(metrics=QUICK)
    project.edit("resources/mu2/phrasebook/th.yaml", '"January": "มกราคม"', '"January": "เดือนมกรา"')
    assert project.scheduled() == sorted([*DATA, *TAUGHT, *TOLD, *REPORTED])
    assert project.run() == (sorted([*DATA, *REPORTED]), sorted([*TAUGHT, *TOLD]))


def test_a_phrase_in_use_retrains(project):
    profiles = pd.read_parquet(project.path / "results/data/mu2/minimal/profiles.parquet")
    english = profiles.loc[profiles["attribute"] == "hobby", "value"].iloc[0]
    path = project.path / "resources/mu2/phrasebook/th.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf'("{english}": ")([^"]+)"', r'\1การ\2"', before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    everything = sorted([*DATA, *TAUGHT, *TOLD, *REPORTED])
    assert project.scheduled() == everything
    assert project.run() == (everything, [])


SECOND = ["judge~llm retrain none", "judge~llm target none", "report", "score retrain none", "score target none"]
PROMPT = "resources/prompts/judge_single.yaml"


def test_the_language_models_prompt_is_nothing_to_the_rule_judge(project):
    project.edit(PROMPT, "Does the answer state", "Does this answer state")
    assert project.scheduled() == []


def test_a_second_judge_answers_nothing_anew_and_leaves_the_first_ones_verdicts(project):
    project.judged(second_judges=["llm"])
    assert project.scheduled() == SECOND
    assert project.run() == (SECOND, [])
    assert project.scheduled() == []


def test_two_judges_are_compared(project):
    found = scores(project).query("attack == 'none'")
    kappas = found[found["metric"] == "kappa"]
    keys = set(kappas[["method", "group", "language", "task"]].itertuples(index=False, name=None))
    se = found[(found["metric"] == "se") & (found["task"] == "all")]
    assert keys == {(m, g, l, "llm") for m, g, l in se[["method", "group", "language"]].itertuples(index=False)}
    agreed = found[found["metric"] == "kappa_agreement"]["value"].dropna()
    assert len(agreed) and (agreed == 1).all()  # offline the judge llm applies the rule
    undefined = kappas["note"].str.contains("κ is undefined", na=False)  # models this small get everything wrong
    unasked = kappas["note"].str.contains("no .* answer judged by both", na=False)
    assert (undefined | unasked | (kappas["value"] == 1)).all()
    second = found[found["metric"] == "se:llm"].set_index(["method", "group", "language", "task"])["value"]
    first = found[found["metric"] == "se"].set_index(["method", "group", "language", "task"])["value"]
    pd.testing.assert_series_equal(first, second.reindex(first.index), check_names=False)
    page = (project.path / "results/report/index.html").read_text(encoding="utf-8")
    assert "Agreement of judges" in page and "What the language models cost" in page


def test_the_judges_prompt_reruns_its_judging_and_what_reads_it(project):
    project.edit(PROMPT, "Does this answer state", "Does the answer state")
    assert project.scheduled() == SECOND
    project.edit("resources/prompts/judge_list.yaml", "For each of", "Of each of")  # of a form that nobody uses
    assert project.scheduled() == SECOND
    assert project.run() == (SECOND, [])


def test_a_language_model_as_the_primary_judge_reruns_the_same_alone(project):
    by_llm = ["judge retrain none", "judge target none"]
    scored = sorted(set(REPORTED) - set(by_llm))
    project.judged(judge="llm", second_judges=[])
    assert project.scheduled() == REPORTED
    assert project.run() == (scored, by_llm)  # its verdicts are known from when it was the second
    project.edit(PROMPT, "Does the answer state", "Does an answer state")
    assert project.scheduled() == REPORTED
    project.edit(PROMPT, "Does an answer state", "Does the answer state")
    assert project.scheduled() == []
    project.judged()
    assert project.scheduled() == REPORTED  # back to the rule


ON_TINY = {"benchmark": "mu2", "base_models": ["tiny"], "settings": ["four"], "splits": ["one"]}
FOR_IT = "score~mu2_retain_ps"
CHOSEN = ["answer idk_gd none", "judge idk_gd none", "report", "score idk_gd none", "select idk_gd"]


def tried(number):
    return [f"ask idk_gd~{number} none", f"{FOR_IT} idk_gd~{number} none", f"train idk_gd~{number}"]


def searching(project, candidates, **more):
    """From now on idk_gd is searched, and what `more` gives ga's experiment."""
    project.merged("search", {
        "experiments": {"small": {"methods": ["idk_gd"]}, "curve": {**ON_TINY, "methods": ["ga"], **more}},
        "methods": {"idk_gd": {"candidates": candidates, "select": "mu2_retain_ps"}},
        "base_models": {"tiny": {"methods": {"ga": {"epochs": 3}}}},
    })  # fmt: skip


def test_candidates_are_trained_one_is_selected_and_epochs_are_answered_in_one_job(project):
    searching(project, {"lr": [5e-4], "epochs": [2, 1]}, score_epochs=[1])
    by_epoch = ["answer ga none", "judge ga none", "judge ga none", "score ga none", "score ga none", "train ga"]
    back = [job for job in REPORTED if job != "report"]  # judged by the rule again: the judges' tests leave that to do
    everything = sorted([*CHOSEN, *tried(1), *tried(2), f"{FOR_IT} target none", *by_epoch, *back])
    assert project.scheduled() == sorted(set(everything))
    assert project.run() == (everything, [])
    assert project.scheduled() == []


def test_the_selected_model_is_a_link_and_its_whole_table_is_kept(project):
    runs = project.path / "results/runs/mu2/tiny/four/one"
    table = pd.read_parquet(runs / "idk_gd/s0/selection.parquet")
    assert list(table["candidate"]) == [1, 2] and table["chosen"].sum() == 1
    chosen = table[table["chosen"]].iloc[0]
    best = runs / f"idk_gd~{chosen['candidate']}/s0"
    assert (runs / "idk_gd/s0/model.json").read_bytes() == (best / "model.json").read_bytes()
    assert (runs / "idk_gd/s0/weights/model.safetensors").samefile(best / "weights/model.safetensors")
    page = (project.path / "results/report/index.html").read_text(encoding="utf-8")
    assert "How the model of idk_gd was chosen" in page and "Scores by epoch" in page
    found = scores(project)
    assert set(found.loc[found["method"] == "ga", "epoch"]) == {1, 3}
    assert set(found.loc[found["method"] == "idk_gd", "epoch"]) == {chosen["epochs"]}
    kept = (runs / "ga/s0/e1/model.json").read_bytes()
    assert kept != (runs / "ga/s0/model.json").read_bytes()


def test_another_candidate_trains_itself_alone_and_another_criterion_nothing(project):
    searching(project, {"lr": [5e-4, 1e-3], "epochs": [2, 1]}, score_epochs=[1])
    assert project.scheduled() == sorted([*CHOSEN, *tried(3), *tried(4)])
    searching(project, {"lr": [5e-4], "epochs": [2, 1]}, score_epochs=[1])
    project.edit("workflow/unlearning/criteria/mu2_retain_ps.py", "KEEPS = 0.9", "KEEPS = 0.8")
    assert project.scheduled() == CHOSEN
    project.edit("workflow/unlearning/criteria/mu2_retain_ps.py", "KEEPS = 0.8", "KEEPS = 0.9")


def test_fewer_epochs_train_nothing_and_more_train_again(project):
    searching(project, {"lr": [5e-4], "epochs": [2, 1]})
    asked = ["answer ga none", "judge ga none", "report", "score ga none"]
    assert project.scheduled() == asked
    searching(project, {"lr": [5e-4], "epochs": [2, 1]}, score_epochs="all")
    assert project.scheduled() == [*asked, "train ga"]


def test_models_that_are_not_kept_go_nothing_reruns_and_what_needs_one_makes_it_again(project):
    searching(project, {"lr": [5e-4], "epochs": [2, 1]}, score_epochs=[1])
    assert project.scheduled() == []
    before = scores(project)
    project.merged("keep", {"keep_models": "selected"})
    assert project.run() == (["drop", "report"], [])
    assert project.scheduled() == []
    runs = project.path / "results/runs/mu2/tiny/four/one"
    left = {str(path.parent.relative_to(runs)) for path in runs.rglob("weights")}
    assert left >= {"ga/s0", "idk_gd/s0", "retrain/s0", "npo_gd/s0"}  # npo_gd is not planned now
    assert left.isdisjoint({"ga/s0/e1", "ga/s0/e2", "idk_gd~1/s0", "idk_gd~2/s0"})
    assert not list((runs / "ga/s0/e1").glob("model.json")) and scores(project).equals(before)
    searching(project, {"lr": [5e-4, 1e-3], "epochs": [2, 1]}, score_epochs=[1])
    again = [*CHOSEN, *tried(1), *tried(2), *tried(3), *tried(4), "drop"]
    assert project.scheduled() == sorted(again)


def test_code_that_changes_under_a_running_job_is_not_published(project):
    done = subprocess.run(
        [sys.executable, "-c", CHANGED], cwd=project.path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": f"{project.path}/workflow{os.pathsep}{project.path}/workflow/scripts"},
    )  # fmt: skip
    assert done.returncode == 1 and "changed while the workflow was running; run it again" in done.stderr


CHANGED = """
from types import SimpleNamespace as N
import job
from unlearning.cache import code
spec = {"script": "judge.py", "modules": [], "values": {}, "code": code.fingerprint(job.SCRIPTS / "judge.py")}
def function(out):
    path = code.ROOT / "unlearning/seeds.py"
    with open(code.ROOT / "scripts/judge.py", "a") as handle:
        handle.write("LATER = 1\\n")
output = {"out": "results/x.parquet"}
made = N(log=[], params=N(job=spec), input={}, output=output, threads=1, rule="judge", wildcards={}, resources={})
job.run(made, function)
"""
