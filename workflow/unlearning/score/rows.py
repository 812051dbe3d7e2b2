"""Rows of the table `scores` without the columns that name the run."""

import numpy as np
import pandas as pd

from unlearning.score.bootstrap import interval, mean_draws
from unlearning.score.view import View
from unlearning.seeds import seed_for

COLUMNS = ("group", "language", "task", "metric", "value", "n", "ci_low", "ci_high", "note")


def row(
    metric: str,
    group: str,
    language: str,
    value: float | None,
    n: int,
    bounds: tuple[float, float] = (float("nan"), float("nan")),
    note: str | None = None,
    task: str = "all",
) -> dict:
    """One row; `note` is needed where `value` is None or NaN."""
    return dict(zip(COLUMNS, (group, language, task, metric, value, n, *bounds, note), strict=True))


def bootstrap_seed(view: View, group: str) -> int:
    """The seed of a group's draws: the same for every metric, so that metrics move together from draw to draw."""
    return seed_for(view.seed, "bootstrap", group)


def mean_rows(
    view: View, metric: str, values_I: np.ndarray, what: str, groups: tuple[str, ...] = (), task: str = "all"
) -> list[dict]:
    """Mean over knowledge instances of each instance's mean over languages, for every group and selection.

    `values_I` holds one value an item (NaN where there is none), `what` names it for the notes ("likelihoods").
    """
    rows = []
    for group in groups or view.groups:
        values_NL = view.spread(values_I, group)
        values_NS = view.instances(values_NL)
        draws_BS = mean_draws(values_NS, bootstrap_seed(view, group), view.draws)
        notes = _missing(view, values_I, group, what)
        for s, name in enumerate(view.selections):
            values_N = values_NS[~np.isnan(values_NS[:, s]), s]
            n = len(values_N)
            value = float(values_N.mean()) if n else None
            bounds = interval(draws_BS[:, s], n)
            rows.append(row(metric, group, name, value, n, bounds, notes[name], task))
    return rows


def _missing(view: View, values_I: np.ndarray, group: str, what: str) -> dict[str, str | None]:
    """For each selection how many questions have no value, or that there are none; None where all have one."""
    positions, _, languages = view.layout(group)
    columns = pd.Index(view.codes, dtype=object).get_indexer(languages)
    asked_L, lost_L = (
        dict(zip(view.codes, np.bincount(columns[chosen & (columns >= 0)], minlength=len(view.codes)), strict=True))
        for chosen in (np.ones(len(columns), bool), np.isnan(values_I[positions]))
    )
    notes: dict[str, str | None] = {}
    for name, codes in view.selections.items():
        asked, lost = sum(asked_L[c] for c in codes), sum(lost_L[c] for c in codes)
        notes[name] = f"{lost} of {asked} questions have no {what}" if lost else None
        if not asked:
            notes[name] = f"no {group} questions in {', '.join(codes) or 'any language'}"
    return notes
