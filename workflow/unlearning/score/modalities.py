"""Questions asked in text and about a picture: what is right, and the pairs that ask for the same in both.

A pair is the two items of one knowledge_id and task, modality image and text. I items, P pairs.
"""

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unlearning.score.shares import Cells, Mean
from unlearning.score.view import Tables, View
from unlearning.text.options import fills, most_similar

GROUPS = ("forget", "retain", "real_people")
ASKED = ("classification", "cloze")
"""Tasks whose answers are right or wrong."""
MODALITIES = ("image", "text")
BOTH = "answer in both modalities"
_KEYS = ["group", "knowledge_id", "task", "language"]


class Pairs(NamedTuple):
    """`view`: one item a pair. `places_P2`: where its question about the picture and the one in text stand among the
    items; -1 where there is none.
    """

    view: View
    places_P2: np.ndarray

    def both(self, values_I: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(image_P, text_P) of one value an item; NaN in both where either is missing."""
        values_P2 = np.full(self.places_P2.shape, np.nan)
        there = self.places_P2 >= 0
        values_P2[there] = values_I[self.places_P2[there]]
        values_P2[np.isnan(values_P2).any(axis=1)] = np.nan
        return values_P2[:, 0], values_P2[:, 1]

    def means(self, group: str, tasks: tuple[str, ...], values_P: np.ndarray, what: str = BOTH) -> list[Mean]:
        """`task_means` of one value a pair."""
        return task_means(self.view, group, tasks, values_P, what)

    def only(self, chosen_P: np.ndarray) -> "Pairs":
        """The chosen pairs alone, so that no other knowledge is drawn."""
        return Pairs(replace(self.view, items=self.view.items[chosen_P]), self.places_P2[chosen_P])


def task_means(view: View, group: str, tasks: tuple[str, ...], values_I: np.ndarray, what: str) -> list[Mean]:
    """The mean over the items of each task in `group`; `what` names what a missing value lacks.

    Draws are over the knowledge instances that the task asks about alone: a description is one in many fields, and of a
    small group many a draw would hold none.
    """
    cells = [_cells(view, group, task) for task in tasks]
    return [own.means(values_I[asked_I], what)[0] for asked_I, own in cells]


@functools.lru_cache(maxsize=32)
def _cells(view: View, group: str, task: str) -> tuple[np.ndarray, Cells]:
    """Which items `task` asks in `group`, and how they add up; kept, as several scores are means over them."""
    asked_I = ((view.items["task"] == task) & (view.items["group"] == group)).to_numpy()
    return asked_I, Cells(replace(view, items=view.items[asked_I]), group, [("all", (task,))])


@functools.lru_cache(maxsize=2)
def pairs(view: View) -> Pairs:
    """The pairs of the view's items, sorted; kept, as several metrics read them. ValueError where one has two items of
    a modality.
    """
    items = view.items[[*_KEYS, "modality"]].assign(place=np.arange(len(view.items)))
    wide = items.pivot(index=_KEYS, columns="modality", values="place").reindex(columns=list(MODALITIES))
    return Pairs(replace(view, items=wide.index.to_frame(index=False)), wide.fillna(-1).to_numpy(int))


@functools.lru_cache(maxsize=4)
def right(view: View, tables: Tables) -> np.ndarray:
    """I: share of the item's answers that are right; NaN without an answer and for other tasks than `ASKED`. Kept.

    classification: the option most like the answer is the right one. cloze: its first sentence holds the value.
    """
    answers = tables.answers
    if answers is None:
        return view.per_item(None, np.zeros(0))
    return view.per_item(answers, graded(view, view.positions(answers), answers["text"].to_list()))


def graded(view: View, places: np.ndarray, texts: list[str]) -> np.ndarray:
    """1.0 right, 0.0 wrong of each of `texts`, an answer to the item at its place; NaN where the task is not graded."""
    asked = view.items[["task", "options", "correct_option", "value"]].iloc[places]
    return np.array(
        [_grade(text, *item) for text, item in zip(texts, asked.itertuples(index=False), strict=True)], float
    )


def _grade(text: str, task: str, options: list[str], correct: int, value: str) -> float:
    if task == "classification":
        return float(most_similar(text, options) == correct)
    return float(fills(text, value)) if task == "cloze" else np.nan
