"""`make dry` and `make help`: what would run, as a short table, and every target and variable that there is."""

import re
import subprocess
import sys
from pathlib import Path

from project import Project

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "workflow" / "scripts"))

import dry  # noqa: E402


def test_paths_are_folded_into_one_line():
    assert dry.pattern(["a/b.parquet"]) == "a/b.parquet"
    assert dry.pattern(["a/en.parquet", "a/de.parquet"]) == "a/{de,en}.parquet"
    assert dry.pattern([f"m{i % 9}/s0/e{i % 2}.json" for i in range(18)]) == "{9 names}/s0/{e0,e1}.json"


def test_the_table_counts_jobs_by_rule_and_tells_nothing_to_do():
    jobs = [("answer", "r/ga/none.parquet"), ("score", "s.parquet"), ("answer", "r/npo/none.parquet")]
    assert dry.table(jobs).splitlines() == [
        "rule    jobs  what they make",
        "answer     2  r/{ga,npo}/none.parquet",
        "score      1  s.parquet",
        "all        3",
    ]
    two_depths = dry.table([("a", "x/y.json"), ("a", "x/y/z.json")]).splitlines()
    assert two_depths[1:] == ["a        1  x/y.json", "a        1  x/y/z.json", "all      2"]
    assert dry.table([]) == "Nothing to do: everything is up to date."


DPO = """
experiments: {mu2_minimal: {methods: [npo_gd, dpo_ap]}}
methods: {dpo_ap: {forget: dpo, retain: ap, lr: 1e-4, epochs: 3}}
"""


def test_a_dry_run_is_a_short_table_and_agrees_with_snakemakes_own(tmp_path):
    project = Project(tmp_path / "project")
    (project.path / "dpo.yaml").write_text(DPO)
    command = [sys.executable, "workflow/scripts/dry.py", "--configfile", "config/minimal.yaml", "dpo.yaml"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
    rows = {row[0]: int(row[1]) for row in map(str.split, done.stdout.splitlines()[1:])}
    own = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", *command[2:]],
        cwd=project.path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    counted = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", own.stdout + own.stderr, re.M)}
    del counted["total"], counted["all"]  # the rule all makes no file
    assert rows.pop("all") == sum(rows.values()) and rows == counted
    assert "Reason" not in done.stdout + done.stderr
    # a method that prefers refusals has a table of its own, with those of its 3 epochs; others' stays as it is
    lines = done.stdout.splitlines()
    assert any(re.match(r"reference +1 .*/ref_logprobs/one\.parquet", line) for line in lines)
    assert any(re.match(r"refusal_reference +1 .*/ref_logprobs/one~e3\.parquet", line) for line in lines)


def test_a_dry_run_of_a_wrong_configuration_fails_with_its_message(tmp_path):
    project = Project(tmp_path / "project")
    command = [sys.executable, "workflow/scripts/dry.py", "--config", "only=mu3"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True)
    assert done.returncode and "no enabled experiment measures 'mu3'" in done.stdout + done.stderr
    assert "what they make" not in done.stdout and "Nothing to do" not in done.stdout


def test_help_names_every_target_and_variable():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = set(re.findall(r"^(\w+):", makefile, re.M)) - {"help"}
    assert targets == set(re.findall(r"^make (\w+)", shown, re.M))
    given = set(re.findall(r"^(\w+) \?=", makefile, re.M)) | {"SECTIONS"}
    assert given == set(re.findall(r"^(\w+)=", shown, re.M))


LEAK = """
experiments:
  mu2_minimal: {enabled: false}
  leak_small: {enabled: true, methods: [ga]}
  facts_of_a_file: {benchmark: mquake, base_models: [leak_small], splits: [forget], methods: []}
benchmarks:
  mquake:
    {kind: leak, facts: mquake, source: own, per_type: 1, practice: 5, metrics: [accuracy, fq]}
sources: {own: SOURCE}
"""


def test_leak_resistant_data_come_from_the_invented_world_or_from_a_file_that_has_to_be_there(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml", "leak.yaml")
    (project.path / "leak.yaml").write_text(LEAK.replace("SOURCE", str(tmp_path)))
    refused = project.snakemake("--dry-run", "--quiet", check=False)
    assert refused.returncode and "benchmarks.mquake.file: no file" in refused.stdout + refused.stderr
    (tmp_path / "MQuAKE-CF-3k.json").write_text("[]")
    told = project.snakemake("--dry-run")
    counted = dict(re.findall(r"^(\w+) +(\d+)$", told.stdout + told.stderr, re.M))
    assert [counted[f"leak_{step}"] for step in ("collect", "questions", "quality", "build")] == ["2"] * 4
    # target, retrained and an unlearned model, attacked in three ways; of the other benchmark target and retrained
    assert counted["answer"] == "8" and not [rule for rule in counted if rule.startswith("mu2")]


LUME = """
experiments:
  mu2_minimal: {enabled: false}
  own: {benchmark: lume, base_models: [plain], splits: [forget], methods: [ga, npo], score_epochs: [1, 2]}
  theirs: {benchmark: paper, base_models: [plain], splits: [forget], methods: []}
  written: {benchmark: models, base_models: [plain], splits: [forget], methods: []}
base_models:
  plain: {architecture: {hidden: 16, heads: 2}, base: {epochs: 0, lr: 1e-3}, target: {epochs: 2, lr: 1e-3}}
benchmarks:
  lume: {kind: lume, documents_only: true, metrics: [regurgitation, knowledge, mia, task_aggregate, final]}
  paper: {kind: lume, route: published, source: own, metrics: [regurgitation, knowledge]}
  models: {kind: lume, route: llm, metrics: [knowledge]}
sources: {own: SOURCE}
backends: {served: {kind: openai, model: m, base_url: "http://127.0.0.1:9/v1", key_env: null}}
roles: {writer: served, questioner: served, verifier_1: served, verifier_2: served, verifier_3: served}
"""


def test_lumes_documents_come_by_three_routes_are_cut_apart_and_nothing_is_judged(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml", "lume.yaml")
    (project.path / "lume.yaml").write_text(LUME.replace("SOURCE", str(tmp_path)))
    refused = project.snakemake("--dry-run", "--quiet", check=False)
    assert refused.returncode and "benchmarks.paper.published: no file" in refused.stdout + refused.stderr
    for side in ("forget", "retain"):
        (tmp_path / f"{side}.jsonl").write_text("{}")
    told = project.snakemake("--dry-run")
    counted = dict(re.findall(r"^(\w+) +(\d+)$", told.stdout + told.stderr, re.M))
    steps = ("documents", "documents_llm", "published", "cut", "sheet", "build")
    assert [counted[f"lume_{step}"] for step in steps] == ["1", "1", "1", "2", "2", "3"]
    # target and retrained model of each, and in one job a method its epochs: two and the last
    assert counted["answer"] == "6" and counted["answer_epochs_lume_plain_npo"] == "1" and counted["score"] == "12"
    assert not {"judge", "judge_llm", "harness"} & set(counted) and counted["card"] == "3"


SEPS = """
experiments:
  mu2_minimal: {enabled: false}
  own: {benchmark: seps, base_models: [plain], splits: [p1], methods: [ga_gd]}
base_models:
  plain: {architecture: {hidden: 16, heads: 2}, base: {epochs: 0, lr: 1e-3}, target: {epochs: 2, lr: 1e-3}}
methods: {ga_gd: {candidates: {epochs: [5, 10]}, select: seps_h_avg}}
benchmarks:
  seps:
    {kind: seps, people: {memorised: 6, background: 10}, mixed: {stress_lines: 0}, forget: {p1: 1}, metrics: [rouge_l]}
"""


def test_candidates_are_asked_judged_and_embedded_for_what_their_criterion_reads(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml", "seps.yaml")
    (project.path / "seps.yaml").write_text(SEPS)
    told = project.snakemake("--dry-run")
    counted = dict(re.findall(r"^(\w+) +(\d+)$", told.stdout + told.stderr, re.M))
    # answers of target, retrained model, the method and its two candidates, whose cosines are to the target's answers
    assert counted["answer"] == "5" and "likelihood" not in counted
    # the benchmark's own metric reads neither verdicts nor embeddings: those are the candidates' and the target's
    assert counted["judge"] == counted["embed"] == "3" and "embed_references" not in counted
    assert counted["score_for_criterion"] == "2" and counted["select"] == "1"


SCHOOL = """
experiments:
  mu2_minimal: {enabled: false}
  own: {benchmark: facts, base_models: [plain], splits: [gone], methods: []}
  written: {benchmark: models, base_models: [plain], splits: [gone], methods: []}
base_models:
  plain: {architecture: {hidden: 16, heads: 2}, base: {epochs: 0, lr: 1e-3}, target: {epochs: 2, lr: 1e-3}}
benchmarks:
  facts: &own
    kind: files
    source: own
    columns: {options: choices, correct_option: answer}
    sets:
      gone: {file: own.jsonl, group: forget}
      biology: {file: "school:biology", group: retain}
      chemistry: {file: "school:chemistry", group: retain}
    splits: {gone: [gone]}
    metrics: [accuracy]
  models: {<<: *own, school: {route: llm}}
sources: {own: SOURCE}
backends: {served: {kind: openai, model: m, base_url: "http://127.0.0.1:9/v1", key_env: null}}
roles: {writer: served, verifier_1: served, verifier_2: served}
"""


def test_school_questions_come_by_two_routes_beside_a_file_of_ones_own(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml", "school.yaml")
    (project.path / "school.yaml").write_text(SCHOOL.replace("SOURCE", str(tmp_path)))
    (tmp_path / "own.jsonl").write_text("{}")
    told = project.snakemake("--dry-run")
    counted = dict(re.findall(r"^(\w+) +(\d+)$", told.stdout + told.stderr, re.M))
    assert (counted["school_questions"], counted["school_questions_llm"], counted["files_build"]) == ("2", "2", "2")
