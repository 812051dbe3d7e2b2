"""Shares of items, and statistics of them, with bootstrap draws over knowledge instances.

Unlike a mean over instances, an item counts once, however many an instance has. N instances, S cells, B draws, I items.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unlearning.score.bootstrap import interval, resample
from unlearning.score.languages import names
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View


class Mean(NamedTuple):
    """A mean: its value (NaN where there is none), its draws, the knowledge instances it rests on, what it lacks."""

    value: float
    drawn_B: np.ndarray
    n: int
    note: str | None


class Cells:
    """The cells (language selection × kind of question) of one group of items, and how items add up in them."""

    def __init__(self, view: View, group: str, chosen: Sequence[tuple[str, Sequence[str]]]):
        """`chosen`: one (name of a language selection, tasks) a cell."""
        self.view, self.group = view, group
        self.positions, self.rows, languages = view.layout(group)
        tasks = view.items["task"].to_numpy(dtype=object)[self.positions]
        codes = {name: np.isin(languages.astype(str), view.selections[name]) for name in {name for name, _ in chosen}}
        members = [codes[name] & np.isin(tasks.astype(str), list(own)) for name, own in chosen]
        self.member_IS = np.stack(members, axis=1) if members else np.zeros((len(self.positions), 0), bool)

    def by_instance(self, values_I: np.ndarray) -> np.ndarray:
        """N×S: the sum of a value over each instance's items in each cell; NaN counts nothing."""
        values = np.nan_to_num(values_I[self.positions])[:, None] * self.member_IS
        total = np.zeros((int(self.rows.max()) + 1 if len(self.rows) else 0, values.shape[1]))
        np.add.at(total, self.rows, values)
        return total

    def average(self, values_I: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(mean_S, known_NS, drawn_BS) of one value an item, NaN where it has none: the mean over the items of each
        cell, how many of each instance's have a value, and the mean in every draw.
        """
        total, known = self.by_instance(values_I), self.by_instance((~np.isnan(values_I)).astype(float))
        return share(total.sum(0), known.sum(0)), known, share(*self.draws(total, known))

    def means(self, values_I: np.ndarray, what: str) -> list[Mean]:
        """`average` of each cell, with the number of questions that have no `what` ("verdict") as its note."""
        values, known, drawn = self.average(values_I)
        asked, n, told = self.member_IS.sum(axis=0), (known > 0).sum(0), known.sum(0)
        found = []
        for s, value in enumerate(values):
            lost = int(asked[s] - told[s])
            note = f"{lost} of {asked[s]} questions have no {what}" if lost else None
            note = note if asked[s] else f"no such {self.group} questions"
            found.append(Mean(float(value), drawn[:, s], int(n[s]), note))
        return found

    def draws(self, *sums_NS: np.ndarray) -> list[np.ndarray]:
        """B×S of each array: its sum over the instances of every draw; the same draws for all."""
        n = len(sums_NS[0])
        if not n:
            return [np.full((self.view.draws, sums.shape[1]), np.nan) for sums in sums_NS]
        drawn = [
            [counts_BN @ sums for sums in sums_NS]
            for counts_BN in resample(n, bootstrap_seed(self.view, self.group), self.view.draws)
        ]
        return [np.concatenate(parts) for parts in zip(*drawn, strict=True)]


def task_rows(
    view: View, metric: str, values_I: np.ndarray, kinds: dict[str, tuple[str, ...]], what: str
) -> list[dict]:
    """The mean of one value an item (NaN where there is none), by group, kind of question and selection of languages.

    `kinds`: name -> tasks. `what` names what a missing value lacks ("verdict"). n = knowledge instances with a value.
    """
    chosen = [(name, kind, own) for kind, own in kinds.items() for name in names("pairs", view.languages)]
    rows = []
    for group in view.groups:
        cells = Cells(view, group, [(name, own) for name, _, own in chosen])
        for mean, (name, kind, _) in zip(cells.means(values_I, what), chosen, strict=True):
            rows.append(row(metric, group, name, mean.value, mean.n, interval(mean.drawn_B, mean.n), mean.note, kind))
    return rows


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
