"""Drop rate: how much of the target's score on the forget set is gone, by resource level and script.

(Mem − Unlearned)/Mem × 100, per cent, of PS (task ps) and SE (task se), each a mean over knowledge instances; 0 = as
before, 100 = all gone, high is good. Null where the target's score is 0. Source: μ²-Bench, Tables 3, 4, 32–35.
"""

import numpy as np

from unlearning.score.bootstrap import interval, mean_draws
from unlearning.score.items import correct, probability
from unlearning.score.languages import names
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View

NEEDS = ("likelihoods", "verdicts", "target:likelihoods", "target:verdicts")
ROWS = (("drop_rate", ("forget",), "partitions", ("ps", "se")),)
TASKS = {"ps": probability, "se": correct}


def score(view: View) -> list[dict]:
    """One row per task and group of languages, over the instances that both models have values for."""
    rows = []
    chosen = names("partitions", view.languages)
    for task, measure in TASKS.items():
        before, after = (
            view.instances(view.spread(measure(view, tables), "forget"), chosen) for tables in (view.target, view.run)
        )
        before, after = np.where(np.isnan(after), np.nan, before), np.where(np.isnan(before), np.nan, after)
        drawn = np.split(mean_draws(np.hstack([before, after]), bootstrap_seed(view, "forget"), view.draws), 2, axis=1)
        for s, name in enumerate(chosen):
            known = ~np.isnan(before[:, s])
            rows.append(_row(task, name, before[known, s], after[known, s], drop_rate(drawn[0][:, s], drawn[1][:, s])))
    return rows


def drop_rate(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """100·(before − after)/before, per cent; NaN where before is 0."""
    return 100 * (before - after) / np.where(before > 0, before, np.nan)


def _row(task: str, name: str, before: np.ndarray, after: np.ndarray, draws: np.ndarray) -> dict:
    n = len(before)
    if not n:
        note = "no forget questions with values of both the target and the run"
        return row("drop_rate", "forget", name, None, 0, note=note, task=task)
    value = float(drop_rate(before.mean(), after.mean()))
    note = f"the target's {task} is 0: nothing to drop from" if np.isnan(value) else None
    return row("drop_rate", "forget", name, value, n, interval(draws, n), note, task)
