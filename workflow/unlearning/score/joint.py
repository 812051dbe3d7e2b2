"""A run's items and tables, mixed prompts apart from the questions asked by themselves."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from unlearning.answer.parts import named, part_answers, part_items
from unlearning.score.view import Tables, View


def apart(view: View) -> View:
    """`view` with the questions that are asked by themselves, and as its `joint` those inside mixed prompts.

    Left out are the items that the run was not asked, and of every table the rows about these.
    """
    mixed = view.items["parts"].map(len) > 0
    single = view.items[~mixed & _asked(view)]
    alone = _with(view, single, lambda table: table[table["item_id"].isin(single["item_id"])])
    told = view.run.answers
    if not mixed.any() or told is None or not told["item_id"].isin(view.items.loc[mixed, "item_id"]).any():
        return alone
    parts = part_items(view.items)

    def of_parts(table: pd.DataFrame) -> pd.DataFrame:
        if "text" in table:
            return part_answers(table, view.items)
        found = table[table["part"] > 0]
        found = found.assign(item_id=named(found["item_id"], found["part"]))
        return found[found["item_id"].isin(parts["item_id"])]

    parts = parts[parts["item_id"].isin(of_parts(told)["item_id"])]
    return replace(alone, joint=_with(view, parts, of_parts))


def _asked(view: View) -> pd.Series:
    """Of each item, whether any table of the run is about it; a run of no such table is asked all."""
    told = [table["item_id"] for table in vars(view.run).values() if table is not None and "item_id" in table]
    return view.items["item_id"].isin(pd.concat(told) if told else view.items["item_id"])


def _with(view: View, items: pd.DataFrame, change: Callable[[pd.DataFrame], pd.DataFrame]) -> View:
    """`view` of `items`, every table of what models did with items changed so."""

    def changed(tables: Tables | None) -> Tables | None:
        if tables is None:
            return None
        told = {name: table for name, table in vars(tables).items() if table is not None}
        return Tables(**{name: change(table) if "item_id" in table else table for name, table in told.items()})

    return replace(
        view,
        items=items,
        **{name: changed(getattr(view, name)) for name in ("run", "target", "retrain", "plain")},
        attacks={name: changed(tables) for name, tables in view.attacks.items()},
    )
