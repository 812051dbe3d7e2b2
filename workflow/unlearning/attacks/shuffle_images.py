"""Show the pictures of other people: a model that reads pictures then speaks of whom it sees.

Which is a check of a benchmark with pictures rather than an attack; metric `picture_use` reads it. Ours.
"""

import numpy as np
import pandas as pd

from unlearning.answer.decoding import AnswerError
from unlearning.seeds import seed_for

KIND = "prompts"
PARAMS = {}
ITEMS = ("modalities",)
NEEDS = ("questions", "seed")
CHANGES_PICTURE = True


def prompts(items: pd.DataFrame, questions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """`items`, those about pictures with the picture of another person, who is the same in all of a person's items.

    Pictures go round among the people of a group of `questions`, all items of the benchmark, in an order drawn by the
    seed, so that each is shown once and nobody as themselves. Forget and retain are one group: so the target is asked
    once for all splits, and one person to forget is enough. Column `shown_value`: the shown person's value of the same
    field and task; missing in text, where they have no such field, and where a group has one person only, who keeps
    the picture. AnswerError where every group has.
    """
    pictured = questions[questions["modality"] == "image"].assign(group=questions["group"].replace("forget", "retain"))
    shown: dict[str, str] = {}
    for group, people in pictured.groupby("group")["person_id"].unique().items():
        if len(people) < 2:
            continue
        order = np.random.default_rng(seed_for(seed, "shuffle_images", group)).permutation(np.sort(people))
        shown |= dict(zip(order, np.roll(order, 1), strict=True))
    if not shown:
        raise AnswerError("shuffle_images: every group has at most one person with pictures; it takes two to swap")
    pictures = pictured.drop_duplicates("person_id").set_index("person_id")["image"]
    values = pd.Series(pictured["value"].to_numpy(), index=_fields(pictured, pictured["person_id"]))
    about = items["modality"] == "image"
    who = items["person_id"].map(shown).where(about)
    told = values.reindex(_fields(items, who)).to_numpy()
    return items.assign(image=who.map(pictures).where(who.notna(), items["image"]), shown_value=told)


def _fields(items: pd.DataFrame, people: pd.Series) -> pd.MultiIndex:
    """(one of `people`, field, task) of each item."""
    field = [k.removeprefix(f"{p}/") for k, p in zip(items["knowledge_id"], items["person_id"], strict=True)]
    return pd.MultiIndex.from_arrays([people, field, items["task"]])
