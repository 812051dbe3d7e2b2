"""Standard benchmarks: scores from what the harness reports, MMLU's files, our small tasks, the configuration."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from configurations import DEFAULT, changed
from project import Project
from score_fakes import grid_items, view
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.metrics import mmlu, reasoning
from unlearning.score.harness import pooled
from unlearning.score.run import score
from unlearning.score.view import Tables
from unlearning.tables.artifacts import read_table, write_table
from unlearning.utility import mmlu_csv
from unlearning.utility.reasoning import KINDS, MOST, lines, questions

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("UNLEARNING_SHARED", ROOT.parent / "shared"))
FOLDER = ROOT / "resources/harness/reasoning"


def told(*rows: tuple, utility: str = "reasoning") -> pd.DataFrame:
    """A table `harness` from (task, value, stderr, n), all counted."""
    frame = pd.DataFrame(rows, columns=["task", "value", "stderr", "n"])
    return frame.assign(utility=utility, metric="acc", filter="none", counted=True, fewshot=0, version="1.0")


def one(metric, run=None, target=None) -> dict:
    (row,) = metric.score(view(grid_items({"forget": ["a"]}), Tables(harness=run), Tables(harness=target)))
    return row


def test_every_question_counts_once_whatever_its_task():
    # (30 · 0.5 + 10 · 0.1) / 40 = 0.4, and not the tasks' mean 0.3; √((30 · 0.04)² + (10 · 0.16)²) / 40 = 2/40
    found = pooled(told(("a", 0.5, 0.04, 30), ("b", 0.1, 0.16, 10)), "reasoning", "run")
    assert (found.value, found.stderr, found.n) == (pytest.approx(0.4), pytest.approx(0.05), 40)


def test_what_does_not_count_and_what_is_anothers_is_left_out():
    table = pd.concat([told(("a", 0.5, 0.1, 10)), told(("a", 0.9, 0.1, 10)).assign(counted=False, metric="acc_norm"),
                       told(("m", 0.9, 0.1, 10), utility="mmlu")])  # fmt: skip
    assert pooled(table, "reasoning", "run").value == 0.5


def test_reasoning_by_hand():
    # run (2 · 0.5 + 6 · 0.25)/8 = 2.5/8, target (2 · 0.5 + 6 · 0.75)/8 = 5.5/8: 5/11 is left
    row = one(reasoning, told(("a", 0.5, None, 2), ("b", 0.25, 0.1, 6)), told(("a", 0.5, 0.1, 2), ("b", 0.75, 0.1, 6)))
    assert (row["value"], row["n"], row["group"]) == (pytest.approx(5 / 11), 8, "utility")
    assert math.isnan(row["ci_low"]) and "no interval" in row["note"]


@pytest.mark.parametrize("accuracy", [0.01, 0.3, 1.0])
def test_the_target_itself_reasons_as_before(accuracy):
    table = told(("a", accuracy, 0.1, 10))
    assert one(reasoning, table, table)["value"] == 1
    assert one(reasoning, told(("a", 0.0, 0.0, 10)), table)["value"] == 0


def test_no_ratio_to_a_target_that_answers_none():
    row = one(reasoning, told(("a", 0.2, 0.1, 10)), told(("a", 0.0, 0.0, 10)))
    assert row["value"] is None and row["n"] == 10
    assert row["note"] == "the target answers none of the 10 questions right: nothing can be lost"


def test_missing_figures_are_null_with_the_model_and_the_task():
    table = told(("a", 0.5, 0.1, 10))
    assert "of the run: they are asked of models without attack only" in one(reasoning, None, table)["note"]
    assert "of the target" in one(reasoning, table, None)["note"]
    lost = one(mmlu, told(("a", 0.5, 0.1, 10), ("b", None, None, 3), utility="mmlu"))
    assert lost["value"] is None and lost["note"] == "lm-evaluation-harness gave no figure of the run for b"
    assert one(mmlu, table)["note"] == "no mmlu tasks were run on the run"


def test_mmlu_is_the_mean_over_questions_with_the_harness_interval():
    # (100 · 0.25 + 300 · 0.45)/400 = 0.40; √((100 · 0.06)² + (300 · 0.08/3)²)/400 = √(36 + 64)/400 = 0.025
    row = one(mmlu, told(("a", 0.25, 0.06, 100), ("b", 0.45, 0.08 / 3, 300), utility="mmlu"))
    assert (row["value"], row["n"], row["note"]) == (pytest.approx(0.4), 400, None)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(0.351), pytest.approx(0.449))
    everything = one(mmlu, told(("a", 0.99, 0.02, 100), utility="mmlu"))
    assert everything["ci_high"] == 1 and everything["ci_low"] == pytest.approx(0.9508)


def test_a_figure_without_a_standard_error_has_no_interval_and_says_so():
    row = one(mmlu, told(("a", 1.0, None, 1), utility="mmlu"))
    assert row["value"] == 1 and math.isnan(row["ci_low"]) and "no standard error" in row["note"]
    alike = one(mmlu, told(("a", 0.0, 0.0, 5), utility="mmlu"))
    assert alike["value"] == 0 and math.isnan(alike["ci_low"]) and "one of 0" in alike["note"]


def test_both_come_out_of_scoring_as_expected_rows(tmp_path):
    table = pd.concat([told(("a", 0.5, 0.1, 10)), told(("m", 0.4, None, 5), utility="mmlu")])
    write_table(table, tmp_path / "harness.parquet", "harness")
    read = Tables(harness=read_table(tmp_path / "harness.parquet", "harness"))
    scores = score(view(grid_items({"forget": ["a"]}), read, read), ["reasoning", "mmlu"]).set_index("metric")
    assert scores["value"].to_dict() == {"reasoning": 1.0, "mmlu": 0.4}
    assert pd.isna(scores.loc["mmlu", "ci_low"])  # a missing standard error stays missing through the file


def csv_files(folder: Path, test: str, dev: str = "1+1?,1,2,3,4,B\n", name: str = "sums") -> list[str]:
    for split, text in (("test", test), ("dev", dev)):
        (folder / split).mkdir(parents=True, exist_ok=True)
        (folder / split / f"{name}_{split}.csv").write_text(text, encoding="utf-8", newline="")
    return mmlu_csv.files(folder)


def test_mmlu_rows_keep_none_quotes_and_line_breaks(tmp_path):
    text = '"Which, if any?\nI. ""one""\r\nII. two",None,I only,NA,"I, II",A\r\nx,1,,3,4,D\n'
    path, _ = csv_files(tmp_path, text)
    assert mmlu_csv.read(path) == [
        {"question": 'Which, if any?\nI. "one"\r\nII. two', "choices": ["None", "I only", "NA", "I, II"], "answer": 0},
        {"question": "x", "choices": ["1", "", "3", "4"], "answer": 3},
    ]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("q,1,2,3,4,A\nq,1,2,3,4,E\n", "sums_test.csv, row 2: .*holds 6 cells, the last of them 'E'"),
        ("q,1,2,3,A\n", "row 1: .*holds 5 cells"),
        ("", "the file is empty"),
    ],
)
def test_a_row_that_is_no_question_is_named(tmp_path, text, match):
    path, _ = csv_files(tmp_path, text)
    with pytest.raises(mmlu_csv.MmluError, match=match):
        mmlu_csv.read(path)


def test_a_folder_without_mmlus_layout_is_refused(tmp_path):
    with pytest.raises(mmlu_csv.MmluError, match="no test/<subject>_test.csv in"):
        mmlu_csv.files(tmp_path)
    csv_files(tmp_path, "q,1,2,3,4,A\n")
    (tmp_path / "dev/sums_dev.csv").unlink()
    with pytest.raises(mmlu_csv.MmluError, match="no file .*dev/sums_dev.csv: the worked examples"):
        mmlu_csv.files(tmp_path)


@pytest.mark.skipif(not (SHARED / "data/mmlu/test").is_dir(), reason="MMLU's files are not here")
def test_mmlus_published_files_are_read_whole():
    paths = mmlu_csv.files(SHARED / "data/mmlu")
    rows = {path: mmlu_csv.read(path) for path in paths}
    tests = [path for path in paths if path.endswith("_test.csv")]
    assert {len(rows[path]) for path in paths if path not in tests} == {5}
    assert all(choice is not None for found in rows.values() for row in found for choice in row["choices"])
    circuits = next(found for path, found in rows.items() if path.endswith("/electrical_engineering_test.csv"))
    assert "None" in next(r for r in circuits if r["question"].startswith("Which of the following memories"))["choices"]
    assert any("\n" in row["question"] for found in rows.values() for row in found)
    assert [task["task"] for task in mmlu_csv.tasks(paths)] == sorted(f"mmlu_csv_{mmlu_csv.subject(p)}" for p in tests)


REWRITING = {
    "not True": "False", "not False": "True",
    "( True and True )": "True", "( True and False )": "False",
    "( False and True )": "False", "( False and False )": "False",
    "( True or True )": "True", "( True or False )": "True",
    "( False or True )": "True", "( False or False )": "False",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_small_tasks_files_are_what_the_rules_make(kind):
    text = (FOLDER / f"{kind}.jsonl").read_text(encoding="utf-8")
    assert text == lines(kind), "run python -m unlearning.utility.reasoning resources/harness/reasoning"
    assert len({json.loads(line)["input"] for line in text.splitlines()}) == 40


def test_the_small_tasks_targets_are_right():
    """Each by another way than the one that made it: rewriting, reading the list, going back from the end."""
    for question in questions("boolean_expressions", 30, seed=1):
        text = question["input"].removesuffix(" is")
        for _ in range(20):
            for before, after in REWRITING.items():
                text = text.replace(before, after)
        assert text == question["target"]
    sizes = {"two": 2, "three": 3, "four": 4}
    sorts = {"fruit": "plum pear fig quince melon apricot", "tools": "rasp chisel plane mallet awl spanner",
             "animals": "heron stoat newt badger otter wren"}  # fmt: skip
    for question in questions("object_counting", 30, seed=1):
        things, _, asked = question["input"].partition(". How many ")
        words = things.replace(",", "").split()
        kind = asked.removeprefix("pieces of ").split()[0]
        pairs = zip(words, words[1:], strict=False)
        count = sum(sizes.get(size, 1) for size, thing in pairs if thing.removesuffix("s") in sorts[kind].split())
        assert count == int(question["target"]) and 1 <= count <= MOST
    for question in questions("tracking_shuffled_objects", 30, seed=1):
        start, _, rest = question["input"].partition(". First ")
        swaps, _, asked = rest.partition(". Which ball does ")
        holder = asked.split(" ", 1)[0]
        for swap in reversed(swaps.replace("then ", "").replace("last ", "").split(", ")):
            pair = swap.removesuffix(" swap balls").split(" and ")
            holder = pair[1 - pair.index(holder)] if holder in pair else holder
        ball = next(part.split(" has the ")[1] for part in start.split(", ") if part.startswith(holder))
        assert f"{question['target']} the {ball}" in question["input"].splitlines()


BAD = [
    ({"metrics": ["reasoning"], "harness": {}}, "reasoning needs tasks of .*harness .it takes harness.reasoning."),
    ({"metrics": ["mmlu"]}, "mmlu needs tasks of lm-evaluation-harness .it takes harness.mmlu."),
    ({"harness": {"fq": {"tasks": ["x"]}}}, "harness: no metric that reads .*'fq'.* There are: mmlu, reasoning"),
    ({"harness": {"mmlu": {}}}, "benchmarks.leak.harness.mmlu.tasks: names no task; give one or more, or mmlu_csv"),
    ({"harness": {"mmlu": {"mmlu_csv": "mmlu"}}}, r"mmlu.mmlu_csv: no folder for 'mmlu'; write sources: {mmlu: /path}"),
    ({"harness": {"mmlu": {"mmlu_csv": "tofu", "tasks": ["mmlu"]}}}, "mmlu_csv brings its own tasks; remove"),
    ({"harness": {"reasoning": {"mmlu_csv": "tofu"}}}, "reasoning.mmlu_csv: read for harness.mmlu only"),
    ({"harness": {"reasoning": {"tasks": ["x"], "include": "/etc"}}}, "'/etc' should be a path below the project"),
    ({"harness": {"reasoning": {"tasks": ["x"], "include": "../up"}}}, "'../up' should be a path below the project"),
    ({"harness": {"reasoning": {"tasks": ["x"], "limit": 0}}}, "harness.reasoning.limit: .*greater than 0"),
]


@pytest.mark.parametrize(("entry", "match"), BAD)
def test_entries_that_cannot_be_run_are_refused(entry, match):
    with pytest.raises(ConfigError, match=match):
        load(changed("benchmarks/leak", DEFAULT["benchmarks"]["leak"] | entry))


def test_the_defaults_entry_needs_only_its_metric():
    metrics = [*DEFAULT["benchmarks"]["leak"]["metrics"], "reasoning"]
    entry = load(changed("benchmarks/leak/metrics", metrics)).benchmarks["leak"].harness["reasoning"]
    assert (ROOT / entry.include).is_dir() and (entry.metric, entry.filter) == ("acc", "none")


def test_nothing_but_the_job_imports_the_harness():
    program = """
import importlib, pkgutil, sys, unlearning.metrics, unlearning.score, unlearning.utility
for package in (unlearning.metrics, unlearning.score, unlearning.utility):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
print(sorted({"lm_eval", "torch", "datasets", "evaluate"} & set(sys.modules)))
"""
    environment = {"PYTHONPATH": str(ROOT / "workflow"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


RUN = "results/runs/mu2/tiny/four/one/npo_gd/s0/e2"
TARGET = "results/runs/mu2/tiny/four/all/target/s0/e20/none/harness.parquet"


def read_by(project: Project) -> dict[str, set[str]]:
    """Output -> the inputs that other jobs make for it, of a dry run."""
    done = project.snakemake("--dry-run")
    found = re.findall(
        r"Missing output files: (.*?); Input files updated by another job: (.*)", done.stdout + done.stderr
    )
    return {name: set(read.split(", ")) for names, read in found for name in names.split(", ")}


def test_the_job_runs_where_a_metric_needs_it_and_without_attack_only(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml")
    few = {"methods": ["npo_gd"], "attacks": {"probab": [], "quantize": ["npo_gd"]}}
    # leak's entry of the default is there too, but its metrics do not list it
    leak = {
        "enabled": True,
        "methods": [],
        "attacks": dict.fromkeys(DEFAULT["experiments"]["leak_small"]["attacks"], []),
    }
    project.merged("few", {"experiments": {"mu2_minimal": few, "leak_small": leak}})
    tasks = {"reasoning": {"tasks": ["small_reasoning"], "include": "resources/harness/reasoning"},
             "mmlu": {"mmlu_csv": "mmlu", "fewshot": 5}}  # fmt: skip
    csv_files(tmp_path / "mmlu", "q,1,2,3,4,A\n")
    keys = {"harness": tasks, "metrics": ["rr", "reasoning", "mmlu"]}
    project.merged("tasks", {"sources": {"mmlu": str(tmp_path / "mmlu")}, "benchmarks": {"mu2": keys}})
    read = read_by(project)
    assert {f"{RUN}/none/harness.parquet", TARGET} < read[f"{RUN}/none/scores.parquet"]
    assert read[f"{RUN}/none/harness.parquet"] == {f"{RUN.removesuffix('/e2')}/model.json"}
    assert not any("harness" in path for path in read[f"{RUN}/quantize/scores.parquet"])
    assert any("/leak/" in path for path in read) and not any("/leak/" in path for path in read if "harness" in path)


def test_missing_local_tasks_are_refused_before_anything_runs(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml")
    keys = {"metrics": ["reasoning"], "harness": {"reasoning": {"tasks": ["own"], "include": "resources/own"}}}
    project.judged(**keys)
    done = project.snakemake("--dry-run", check=False)
    told = "benchmarks.mu2.harness.reasoning: include: no folder resources/own with tasks in *.yaml"
    assert done.returncode and told in done.stdout + done.stderr
