"""Mixed prompts taken apart: each question inside one, with its own answer, as an item by itself.

Such an item is called `<item_id>#<slot>`, slots from 1. Its task is the prompt's: with the slot where the order says
which side that is (rf_1, ff_2), as it stands for the stress test. All else it has from the item that it asks.
"""

import numpy as np
import pandas as pd

from unlearning.text.numbered import parts as said_parts


def plain(items: pd.DataFrame) -> pd.DataFrame:
    """The items that ask one thing."""
    return items[items["parts"].map(len) == 0]


def stress_test(items: pd.DataFrame) -> pd.Series:
    """Which of `items` are the stress test's prompts, or the questions inside them."""
    return items["task"].str.startswith("stress_")


def of_split(items: pd.DataFrame, split: str | None) -> pd.DataFrame:
    """The items that a run of `split` is asked: its own and those of every run; None: all."""
    return items if split is None else items[items["split"].isna() | (items["split"] == split)]


def part_items(items: pd.DataFrame) -> pd.DataFrame:
    """One item a slot of every mixed prompt in `items`, in their order, its group by the prompt's split.

    KeyError where a prompt asks an item that is not among `items`.
    """
    mixed = items[items["parts"].map(len) > 0]
    rows = mixed[["item_id", "task", "parts"]].explode("parts")
    slot = rows.groupby(level=0).cumcount().to_numpy() + 1
    told = pd.DataFrame(rows["parts"].tolist(), columns=["item_id", "group"])
    own = items.set_index("item_id").loc[told["item_id"]].reset_index(drop=True)
    task, name = rows["task"].to_numpy(dtype=object), np.char.mod("%d", slot).astype(object)
    stress = stress_test(rows).to_numpy()
    return own.assign(
        item_id=rows["item_id"].to_numpy(dtype=object) + "#" + name,
        source_item_id=told["item_id"], group=told["group"], task=np.where(stress, task, task + "_" + name),
    )  # fmt: skip


def part_answers(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Table `answers` of `part_items`: what the model wrote under each number, `part` the slot, item_id as there.

    The tokens and the reason for the end are the whole answer's. A number that is missing is an empty answer.
    """
    counts = items.set_index("item_id")["parts"].map(len)
    rows = answers[answers["item_id"].isin(counts.index[counts > 0])]
    texts = [said_parts(text, counts[ident]) for ident, text in zip(rows["item_id"], rows["text"], strict=True)]
    apart = rows.assign(text=texts).explode("text")
    slot = apart.groupby(level=0).cumcount() + 1
    return apart.assign(part=slot.astype("int32"), item_id=named(apart["item_id"], slot)).reset_index(drop=True)


def named(item_ids: pd.Series, slots: pd.Series) -> pd.Series:
    """`<item_id>#<slot>`; the item_id alone at slot 0."""
    return item_ids.where(slots == 0, item_ids + "#" + slots.astype(str))


def apart(answers: pd.DataFrame, items: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(answers, items) with every mixed prompt replaced by its parts; items that nobody answered are left out."""
    single = plain(items)
    found = part_items(items)
    told = pd.concat([answers[answers["item_id"].isin(single["item_id"])], part_answers(answers, items)])
    every = pd.concat([single, found]) if len(found) else single
    return told.reset_index(drop=True), every[every["item_id"].isin(told["item_id"])].reset_index(drop=True)


def together(table: pd.DataFrame) -> pd.DataFrame:
    """`table`, about items by the names of `part_items`, about the prompts and slots again."""
    return table.assign(item_id=table["item_id"].where(table["part"] == 0, table["item_id"].str.rpartition("#")[0]))
