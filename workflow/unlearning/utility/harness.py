"""Standard benchmarks through EleutherAI's lm-evaluation-harness (`lm_eval`), on a model that is loaded already.

Its tasks are taken by name: its own, whose data come from the Hugging Face Hub, or those of a local folder in its YAML
format. No code comes with data or models; a local folder's own Python (`!function`) is run, as it is the user's.
Only this module imports `lm_eval`.
"""

import contextlib
import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unlearning.config.problems import nearest
from unlearning.seeds import seed_for

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BOOTSTRAP = 1000  # draws of the harness's own standard errors, for metrics that have no closed form


class HarnessError(ValueError):
    """The tasks cannot be run; the message names the task and the fix."""


def run(
    network: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    utility: str,
    tasks: Sequence[str | dict],
    metric: str = "acc",
    filter: str = "none",
    include: str | None = None,
    limit: int | None = None,
    fewshot: int | None = None,
    batch_size: int = 16,
    seed: int = 0,
) -> list[dict]:
    """Rows of the table `harness`: what the harness reports of every task in `tasks`, groups and tags taken apart.

    `tasks`: names of tasks, groups or tags, or tasks as the harness's own dictionaries. Rows of `metric` and `filter`
    are those that count. `include`: a folder of local tasks, whose data files are named from there. `limit`: questions
    drawn per task, by `seed` and the task's name, the same for every model; None takes all. `fewshot`: worked examples
    before each question, unless the task itself fixes 0. `seed` also chooses these. HarnessError for a task that the
    harness does not know, whose data cannot be had, or that does not report `metric` and `filter`.
    """
    import torch
    from lm_eval.evaluator import evaluate
    from lm_eval.models.huggingface import HFLM

    for seeded in (random.seed, np.random.seed, torch.manual_seed):  # tasks may draw when they are read, or sample
        seeded(seed % 2**32)
    loaded = load(tasks, include)
    for task in loaded.values():
        if fewshot is not None and task.get_config("num_fewshot") != 0:
            task.set_config(key="num_fewshot", value=fewshot)
        elif task.get_config("num_fewshot") is None:
            task.set_config(key="num_fewshot", value=0)
        task.set_fewshot_seed(seed=seed)
    drawn = {name: draw(len(task.eval_docs), limit, seed, name) for name, task in loaded.items()} if limit else None
    model = HFLM(pretrained=network, backend="causal", tokenizer=tokenizer, batch_size=batch_size)
    told = evaluate(model, {"tasks": loaded}, samples=drawn, bootstrap_iters=BOOTSTRAP, log_samples=False)
    rows = [row for name in loaded for row in _rows(told, utility, name, metric, filter)]
    for name in loaded:
        if not any(row["counted"] for row in rows if row["task"] == name):
            there = sorted(f"metric {row['metric']}, filter {row['filter']}" for row in rows if row["task"] == name)
            raise HarnessError(
                f"harness.{utility}: task {name} reports no metric {metric!r} with filter {filter!r}; it reports "
                f"{'; '.join(there)}. Set harness.{utility}.metric and filter to one of these"
            )
    return rows


def load(tasks: Sequence[str | dict], include: str | None = None) -> dict:
    """Task name -> the harness's task, of all `tasks` and of the groups among them; HarnessError as in `run`."""
    from lm_eval.tasks import TaskManager

    folder = Path(include).resolve() if include else None
    names = [task for task in tasks if isinstance(task, str)]
    manager = TaskManager(include_path=folder, include_defaults=False)
    if not set(names) <= set(manager.all_tasks):  # reading the harness's own 14,000 files takes seconds
        manager = TaskManager(include_path=folder)
    for name in names:
        if name not in manager.all_tasks:
            where = f"nor does the folder {include}" if include else "and no folder of local tasks is given (include)"
            raise HarnessError(
                f"lm-evaluation-harness has no task {name!r}, {where}.{nearest(name, manager.all_tasks)} "
                "`lm_eval ls tasks` lists its own"
            )
    with contextlib.chdir(folder or Path.cwd()):
        try:
            return manager.load(list(tasks))["tasks"]
        except (OSError, ConnectionError) as error:
            told = ", ".join(names)
            raise HarnessError(
                f"the data of {told} cannot be had ({error}). Tasks of the harness take theirs from the Hugging Face "
                "Hub; without network give local tasks (include), or for MMLU its own files (mmlu_csv)"
            ) from error


def draw(n: int, limit: int, seed: int, task: str) -> list[int]:
    """At most `limit` of 0 … n − 1, sorted: the questions of `task` that are asked; the same for every model."""
    return sorted(random.Random(seed_for(seed, "harness", task)).sample(range(n), min(limit, n)))


def _rows(told: dict, utility: str, task: str, metric: str, filter: str) -> Iterable[dict]:
    results = told["results"][task]
    for key, value in results.items():
        name, comma, chosen = key.partition(",")
        if comma and not name.endswith("_stderr"):
            yield {
                "utility": utility, "task": task, "metric": name, "filter": chosen,
                "counted": (name, chosen) == (metric, filter), "value": _number(value),
                "stderr": _number(results.get(f"{name}_stderr,{chosen}")), "n": results["sample_len"],
                "fewshot": told["n-shot"][task], "version": str(told["versions"][task]),
            }  # fmt: skip


def _number(value: object) -> float | None:
    """`value` as a number; None for the harness's "N/A" and what is not finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
