"""Means that SEPS is made of: of questions asked alone and of the same ones in pairs, one to forget and one to retain.

Bootstrap draws of one group are the same for either, as they are about the same knowledge, so that what is combined of
them moves together from draw to draw.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unlearning.score.bootstrap import interval
from unlearning.score.rows import row
from unlearning.score.shares import Cells, Mean
from unlearning.score.view import View

SLOTS = {"retain": ("rf_1", "fr_2"), "forget": ("fr_1", "rf_2")}
"""Where a pair asks the questions of a group, as tasks of `View.joint`."""

UNASKED = "the run was not asked mixed prompts"


def alone(view: View, group: str, values_I: np.ndarray, what: str) -> Mean:
    """Mean over the questions of `group` asked alone; where there are pairs, over those of them that stand in pairs."""
    asked_I = view.items["group"].to_numpy() == group
    if view.joint is not None:
        paired = view.joint.items.loc[_in_slots(view.joint, group, SLOTS[group]), "source_item_id"]
        asked_I &= view.items["item_id"].isin(paired).to_numpy()
    return _means(view, group, asked_I, values_I, None, what)[0]


def inside(view: View, group: str, tasks: tuple[str, ...], values_I: np.ndarray, what: str) -> list[Mean]:
    """Means over the questions of `group` inside mixed prompts, one a task; `values_I` of the items of `view.joint`."""
    if view.joint is None:
        return [Mean(float("nan"), np.full(view.draws, np.nan), 0, UNASKED) for _ in tasks]
    return _means(view.joint, group, _in_slots(view.joint, group, tasks), values_I, tasks, what)


def combined(formula: Callable[[np.ndarray], np.ndarray], means: dict[str, Mean], n: int | None = None) -> Mean:
    """`formula` of several means, stacked on the last axis, and of their draws; n: the fewest instances, or as told."""
    value = formula(np.array([mean.value for mean in means.values()]))
    drawn = formula(np.stack([mean.drawn_B for mean in means.values()], axis=-1))
    notes: dict[str, list[str]] = {}  # what the same is said of, once
    for name, mean in means.items():
        if mean.note:
            notes.setdefault(mean.note, []).append(name)
    said = [why if len(names) == len(means) else f"{', '.join(names)}: {why}" for why, names in notes.items()]
    return Mean(
        float(value), drawn, min(mean.n for mean in means.values()) if n is None else n, "; ".join(said) or None
    )


def mean_row(metric: str, group: str, mean: Mean, task: str = "all") -> dict:
    """A row over all languages."""
    return row(metric, group, "all", mean.value, mean.n, interval(mean.drawn_B, mean.n), mean.note, task)


def _in_slots(view: View, group: str, tasks: tuple[str, ...]) -> np.ndarray:
    return (view.items["task"].isin(tasks) & (view.items["group"] == group)).to_numpy()


def _means(view: View, group: str, asked_I: np.ndarray, values_I: np.ndarray, tasks, what: str) -> list[Mean]:
    """Over the items `asked_I` alone, so that no other knowledge is drawn; one mean a task, or one of all (None)."""
    own = replace(view, items=view.items[asked_I])
    cells = Cells(own, group, [("all", (task,)) for task in tasks] if tasks else [("all", own.tasks)])
    return cells.means(values_I[asked_I], what)
