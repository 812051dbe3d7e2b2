"""Which of a benchmark's items are asked: all, some groups, or what a split forgets."""

from collections.abc import Sequence

import pandas as pd

from unlearning.answer.decoding import AnswerError


def select(
    items: pd.DataFrame,
    groups: Sequence[str] | None = None,
    splits: pd.DataFrame | None = None,
    split: str | None = None,
    only: str = "all",
) -> pd.DataFrame:
    """Items of `groups` (None: every group) and, with `only` = "forget", of the knowledge that `split` forgets.

    `groups` are the items' own, before a split turns some of "retain" into "forget". Order is kept.
    Raises AnswerError for an unknown group, split or `only`, and where nothing is left.
    """
    if only not in ("all", "forget"):
        raise AnswerError(f"only: {only!r}, should be all or forget")
    if groups is not None:
        present = sorted(items["group"].unique())
        unknown = sorted(set(groups) - set(present))
        if unknown:
            raise AnswerError(f"groups {unknown} are not in the items; the items' groups are {', '.join(present)}")
        items = items[items["group"].isin(groups)]
    if only == "forget":
        items = items[items["knowledge_id"].isin(_forgotten(splits, split))]
    if items.empty:
        raise AnswerError(f"no items left: groups {groups or 'all'}, only {only}, split {split}")
    return items.reset_index(drop=True)


def questions(items: pd.DataFrame) -> pd.DataFrame:
    """The items that ask something: of a bare document (no messages) only the likelihood can be asked."""
    return items[items["messages"].map(len) > 0].reset_index(drop=True)


def _forgotten(splits: pd.DataFrame | None, split: str | None) -> set[str]:
    if splits is None or split is None:
        raise AnswerError("asking only what is forgotten needs the table of splits and the name of one")
    rows = splits[splits["split"] == split]
    if rows.empty:
        known = ", ".join(sorted(splits["split"].unique()))
        raise AnswerError(f"unknown split {split!r}; the splits are {known}")
    return set(rows.loc[rows["group"] == "forget", "knowledge_id"])
