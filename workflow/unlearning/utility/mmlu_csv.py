"""MMLU's own files as tasks of the lm-evaluation-harness: dev/<subject>_dev.csv and test/<subject>_test.csv.

No header; six columns: question, four choices, the right one's letter. A choice may read "None", and a question may
run over several lines within quotes. Source: Hendrycks et al. 2021.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

LETTERS = ("A", "B", "C", "D")
NAMES = {split: f"_{split}.csv" for split in ("dev", "test")}


class MmluError(ValueError):
    """A file of MMLU breaks its layout; the message names the file, the row and what is wrong."""


def files(folder: str | Path) -> list[str]:
    """The files of `folder` that are read: every subject's test file and the dev file it takes examples from.

    MmluError where there is no test file, or one without its dev file.
    """
    tests = sorted(Path(folder).glob(f"test/*{NAMES['test']}"))
    if not tests:
        raise MmluError(f"no test/<subject>{NAMES['test']} in {folder}; name the folder that holds MMLU's dev and test")
    examples = [Path(folder, "dev", subject(path) + NAMES["dev"]) for path in tests]
    if missing := [str(path) for path in examples if not path.is_file()]:
        raise MmluError(f"no file {', '.join(missing)}: the worked examples for the test file of the same subject")
    return [str(path) for path in (*tests, *examples)]


def subject(path: str | Path) -> str:
    """The subject that a file's name tells: college_biology of test/college_biology_test.csv."""
    name = Path(path).name
    for ending in NAMES.values():
        if name.endswith(ending):
            return name.removesuffix(ending)
    raise MmluError(f"{name}: the name should end in {' or '.join(NAMES.values())}")


def read(path: str | Path) -> list[dict]:
    """question, choices (four) and answer (index) of every row. MmluError: a row that is no question."""
    rows = []
    with open(path, encoding="utf-8", newline="") as handle:
        for number, cells in enumerate(csv.reader(handle), 1):
            if len(cells) != 6 or cells[5].strip() not in LETTERS:
                raise MmluError(
                    f"{path}, row {number}: should hold a question, four choices and one of {', '.join(LETTERS)}; it "
                    f"holds {len(cells)} cells, the last of them {cells[-1][:20] if cells else ''!r}"
                )
            rows.append({"question": cells[0], "choices": cells[1:5], "answer": LETTERS.index(cells[5].strip())})
    if not rows:
        raise MmluError(f"{path}: the file is empty")
    return rows


def tasks(paths: Iterable[str | Path]) -> list[dict]:
    """One task a subject, mmlu_csv_<subject>, as the harness's dictionary; `paths` as `files` gives them.

    The choices stand under their letters, and the letter after "Answer:" is what is scored; worked examples are the
    first of dev, in their order.
    """
    by_split = {split: {} for split in NAMES}
    for path in paths:
        by_split[next(s for s, ending in NAMES.items() if str(path).endswith(ending))][subject(path)] = path
    return [_task(name, path, by_split["dev"][name]) for name, path in sorted(by_split["test"].items())]


def _task(name: str, test: str | Path, dev: str | Path) -> dict:
    def dataset(**_) -> dict:
        from datasets import Dataset

        return {"test": Dataset.from_list(read(test)), "dev": Dataset.from_list(read(dev))}

    return {
        "task": f"mmlu_csv_{name}",
        "custom_dataset": dataset,
        "test_split": "test",
        "fewshot_split": "dev",
        "fewshot_config": {"sampler": "first_n"},
        "output_type": "multiple_choice",
        "description": f"Questions about {name.replace('_', ' ')}. One of the four choices is right.\n\n",
        "doc_to_text": "{{question.strip()}}\n"
        + "".join(f"{letter}. {{{{choices[{i}]}}}}\n" for i, letter in enumerate(LETTERS))
        + "Answer:",
        "doc_to_choice": list(LETTERS),
        "doc_to_target": "answer",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1.0},
    }
