"""lm-evaluation-harness on a tiny random model, against the same figures computed directly."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
import torch
import yaml

from unlearning.models.load import save_model
from unlearning.models.small import small_model
from unlearning.models.tokenizer import train_tokenizer
from unlearning.tables.artifacts import read_table
from unlearning.utility import mmlu_csv
from unlearning.utility.harness import HarnessError, draw, run
from unlearning.utility.reasoning import questions

ROOT = Path(__file__).resolve().parents[1]
BBH = Path(os.environ.get("UNLEARNING_SHARED", ROOT.parent / "shared"), "data/bbh/boolean_expressions.json")
KIND = "tracking_shuffled_objects"
TASK = f"small_reasoning_{KIND}"
FOLDER = "resources/harness/reasoning"
SUMS = [("What is\n1 + 1?", ["1", "2", "None", "4"], 1), ("3 x 3?", ["None", "6", "9", "12"], 2)]


@pytest.fixture(scope="module")
def model():
    texts = [question["input"] for question in questions(KIND)]
    tokenizer = train_tokenizer(texts, 500, "words")
    shape = {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 64, "init_std": 0.5, "max_length": 1024}
    return small_model(shape, tokenizer, seed=3).eval(), tokenizer


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """From the project's folder, as jobs run; what `datasets` reads is cached in the test's own folder."""
    import datasets

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def likeliest(network, tokenizer, prompt: str, choices: list[str]) -> int:
    """Index of the choice with the highest log p(choice | prompt), summed over its tokens."""
    start = len(tokenizer(prompt)["input_ids"])
    scores = []
    for choice in choices:
        ids = torch.tensor([tokenizer(f"{prompt} {choice}")["input_ids"]])
        with torch.no_grad():
            logprobs = network(ids).logits.log_softmax(-1)
        scores.append(sum(float(logprobs[0, t - 1, ids[0, t]]) for t in range(start, ids.shape[1])))
    return max(range(len(scores)), key=scores.__getitem__)


def test_the_script_gives_the_accuracy_of_the_likeliest_choice(model, tmp_path):
    network, tokenizer = model
    for split in ("dev", "test"):
        (tmp_path / split).mkdir()
        lines = [f'"{q}",{",".join(choices)},{mmlu_csv.LETTERS[i]}\n' for q, choices, i in SUMS]
        (tmp_path / split / f"sums_{split}.csv").write_text("".join(lines), encoding="utf-8", newline="")
    save_model(network, tokenizer, tmp_path / "model.json")
    spec = importlib.util.spec_from_file_location("script_harness", ROOT / "workflow/scripts/harness.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.harness(
        str(tmp_path / "model.json"),
        str(tmp_path / "harness.parquet"),
        {"reasoning": {"tasks": [TASK], "include": FOLDER, "limit": 25}, "mmlu": {"tasks": [], "fewshot": 1}},
        mmlu_files=mmlu_csv.files(tmp_path),
        device="cpu",
    )
    rows = read_table(tmp_path / "harness.parquet", "harness").set_index("utility")

    told = yaml.safe_load(Path(FOLDER, f"{KIND}.yaml").read_text(encoding="utf-8"))
    asked = [questions(KIND)[i] for i in draw(40, 25, 0, TASK)]
    letters = told["doc_to_choice"]
    right = [
        letters[likeliest(network, tokenizer, f"{told['description']}Question: {q['input']}\nAnswer:", letters)]
        == q["target"]
        for q in asked
    ]
    accuracy = sum(right) / 25
    assert 0 < accuracy < 1  # or the comparison would say little
    row = rows.loc["reasoning"]
    assert (row["task"], row["n"], row["fewshot"], bool(row["counted"])) == (TASK, 25, 0, True)
    assert row["value"] == pytest.approx(accuracy)
    assert row["stderr"] == pytest.approx((accuracy * (1 - accuracy) / 24) ** 0.5)

    def posed(question, choices):
        return "\n".join([question, *(f"{a}. {c}" for a, c in zip("ABCD", choices, strict=True)), "Answer:"])

    head = "Questions about sums. One of the four choices is right.\n\n" + posed(*SUMS[0][:2]) + " B\n\n"
    found = [likeliest(network, tokenizer, head + posed(q, c), list("ABCD")) == i for q, c, i in SUMS]
    assert (rows.loc["mmlu", "value"], rows.loc["mmlu", "n"]) == (sum(found) / 2, 2)
    assert (rows.loc["mmlu", "task"], rows.loc["mmlu", "fewshot"]) == ("mmlu_csv_sums", 1)


def generating(folder: Path, rows: list[dict]) -> str:
    """A folder with one local task that generates: what a person would write for tasks of their own."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "own.jsonl").write_text(text, encoding="utf-8")
    return defined(folder, data_files={"test": "own.jsonl"})


def defined(folder: Path, **data) -> str:
    """`folder` with the definition of the task own_words on its `data`."""
    task = {
        "task": "own_words", "dataset_path": "json", "dataset_kwargs": data,
        "test_split": "test", "output_type": "generate_until",
        "doc_to_text": "{{input}}", "doc_to_target": "{{target}}",
        "generation_kwargs": {"until": ["\n\n"], "do_sample": False, "max_gen_toks": 6}, "num_fewshot": 0,
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }  # fmt: skip
    (folder / "own.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
    return str(folder)


def test_generated_answers_are_those_of_greedy_decoding(model, tmp_path):
    network, tokenizer = model
    asked = [question["input"].splitlines()[0] for question in questions(KIND, 6)]
    written = []
    for prompt in asked:
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        made = network.generate(ids, max_new_tokens=6, do_sample=False, pad_token_id=tokenizer.pad_token_id)
        written.append(tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True))
    targets = [text if i < 4 else f"{text}!" for i, text in enumerate(written)]
    rows = [{"input": prompt, "target": target} for prompt, target in zip(asked, targets, strict=True)]
    (found,) = run(network, tokenizer, "reasoning", ["own_words"], "exact_match", "none", generating(tmp_path, rows))
    assert (found["value"], found["n"]) == (pytest.approx(4 / 6), 6)


@pytest.mark.skipif(not BBH.is_file(), reason="Big-Bench Hard's files are not here")
def test_big_bench_hards_own_files_are_local_tasks(model, tmp_path):
    (tmp_path / BBH.name).symlink_to(BBH)
    folder = defined(tmp_path, data_files={"test": BBH.name}, field="examples")
    (found,) = run(*model, "reasoning", ["own_words"], "exact_match", "none", folder, limit=4)
    assert (found["value"], found["n"]) == (0, 4)  # random weights write no True or False


def test_a_task_that_does_not_report_the_metric_says_what_it_reports(model):
    with pytest.raises(HarnessError, match=f"{TASK} reports no metric 'f1' with filter 'none'; it reports metric acc"):
        run(*model, "reasoning", [TASK], "f1", include=FOLDER, limit=1)


def test_a_task_that_nobody_knows_is_named_with_the_nearest(model, monkeypatch):
    from lm_eval import tasks

    class Few(tasks.TaskManager):
        """The harness without its own tasks, which take it seconds to find."""

        def __init__(self, include_path, include_defaults=False):
            super().__init__(include_path=include_path, include_defaults=False)

    monkeypatch.setattr(tasks, "TaskManager", Few)
    with pytest.raises(HarnessError, match=f"no task 'small_resoning', nor .*{FOLDER}. Did you mean 'small_reasoning'"):
        run(*model, "reasoning", ["small_resoning"], include=FOLDER)


def test_data_that_cannot_be_had_are_told_with_the_ways_out(model, tmp_path):
    folder = generating(tmp_path, [{"input": "a", "target": "b"}])
    (tmp_path / "own.jsonl").unlink()
    with pytest.raises(HarnessError, match="the data of own_words cannot be had .*own.jsonl.*local tasks .include."):
        run(*model, "reasoning", ["own_words"], "exact_match", include=folder)


def test_the_draw_is_the_same_for_every_model_and_another_for_every_task():
    assert draw(100, 5, 0, "a") == draw(100, 5, 0, "a") != draw(100, 5, 0, "b")
    assert draw(3, 5, 0, "a") == [0, 1, 2]
