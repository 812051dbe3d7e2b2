"""The shared task's aggregate: one number for forgetting and keeping over LUME's three tasks.

task_aggregate = harmonic mean of the 12 values {task} × {forget, retain} × {regurgitation, knowledge}, each forget one
as 1 − v; 0 if any is 0, null if any is null. The values stand beside it as tasks `<task>:<group>:<metric>`, forget ones
as they enter. 0–1, high is good. Source: SemEval-2025 task 4 (LUME), evaluation.
"""

from itertools import product

import numpy as np

from unlearning.metrics import knowledge, rouge_l
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.bootstrap import interval
from unlearning.score.rows import row
from unlearning.score.shares import Cells
from unlearning.score.view import View

NEEDS = ("answers",)
ITEMS = ("documents",)
ROWS = (
    (
        "task_aggregate",
        ("all",),
        "all",
        (
            "all",
            "task1:forget:regurgitation", "task1:forget:knowledge", "task1:retain:regurgitation",
            "task1:retain:knowledge", "task2:forget:regurgitation", "task2:forget:knowledge",
            "task2:retain:regurgitation", "task2:retain:knowledge", "task3:forget:regurgitation",
            "task3:forget:knowledge", "task3:retain:regurgitation", "task3:retain:knowledge",
        ),
    ),
)  # fmt: skip
TASKS, GROUPS = ("task1", "task2", "task3"), ("forget", "retain")
PROMPTS = {"regurgitation": "completion", "knowledge": "knowledge"}


def score(view: View) -> list[dict]:
    """Thirteen rows: the aggregate and its twelve values; its n = the instances of both groups."""
    value, draws, n = parts(view)
    low = [key for key in value if np.isnan(value[key])]
    note = f"no {', '.join(low)}" if low else None
    total = harmonic_mean(np.array(list(value.values())))
    bounds = interval(harmonic_mean(np.stack(list(draws.values()), axis=1)), min(n.values()))
    rows = [
        row("task_aggregate", "all", "all", value[key], n[key], interval(draws[key], n[key]),
            f"no such question with an answer: {key}" if key in low else None, key)
        for key in value
    ]  # fmt: skip
    return [row("task_aggregate", "all", "all", float(total), sum(n.values()), bounds, note), *rows]


def parts(view: View) -> tuple[dict[str, float], dict[str, np.ndarray], dict[str, int]]:
    """By `<task>:<group>:<metric>`: the value as it enters the mean, its bootstrap draws, its knowledge instances."""
    scores = {"regurgitation": rouge_l.item_scores(view)[0], "knowledge": knowledge.exact(view)}
    value, draws, n = {}, {}, {}
    for group, (metric, values_I) in product(GROUPS, scores.items()):
        cells = Cells(view, group, [("all", (f"{task}_{PROMPTS[metric]}",)) for task in TASKS])
        means, known, drawn = cells.average(values_I)
        for s, task in enumerate(TASKS):
            key = f"{task}:{group}:{metric}"
            value[key], draws[key] = (1 - v if group == "forget" else v for v in (float(means[s]), drawn[:, s]))
            n[key] = int((known[:, s] > 0).sum())
    order = [f"{task}:{group}:{metric}" for task, group, metric in product(TASKS, GROUPS, PROMPTS)]
    return tuple({key: found[key] for key in order} for found in (value, draws, n))
