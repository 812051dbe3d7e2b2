"""Show solved examples first: a model that no longer answers may fall back into answering.

The examples are other questions of the benchmark, as turns of the chat before the question. Beyond leak-resistant
unlearning.
"""

import numpy as np
import pandas as pd

from unlearning.answer.decoding import AnswerError
from unlearning.seeds import seed_for

KIND = "prompts"
PARAMS = {"shots": 3, "group": "retain"}
LIMITS = {
    "shots": {"ge": 1},
    "group": ("retain", "nonmember", "background", "real_authors", "world_facts", "real_people", "utility"),
}
AMONG = {"group": "groups"}
NEEDS = ("questions", "splits", "seed")


def prompts(items: pd.DataFrame, shots: int, group: str, questions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """`items` after `shots` solved questions of `group`, drawn by (seed, item_id) without replacement.

    They are asked in the item's language, as the same task where the group has it; none is about the same knowledge or
    has the same answer. `questions`: all items of the benchmark, their groups by the split.
    AnswerError where a question finds fewer than `shots`.
    """
    pool = questions[(questions["group"] == group) & (questions["modality"] == "text")].sort_values("item_id")
    pool = pool.assign(says=_folded(pool["reference"]), means=_folded(pool["value"]))
    alike, spoken = (
        {key: _arrays(rows) for key, rows in pool.groupby(by)} for by in (["language", "task"], "language")
    )
    nothing = _arrays(pool.iloc[:0])
    asked = []
    own = items.assign(says=_folded(items["reference"]), means=_folded(items["value"]))
    for item in own.itertuples(index=False):
        found = alike.get((item.language, item.task), spoken.get(item.language, nothing))
        given_away = (found["says"] == item.says) | ((found["means"] == item.means) & (item.means != ""))
        others = np.flatnonzero((found["knowledge_id"] != item.knowledge_id) & ~given_away)
        if len(others) < shots:
            raise AnswerError(
                f"few_shot: {len(others)} questions of group {group} may be shown before item {item.item_id!r} (in "
                f"{item.language}, other knowledge and answers), {shots} are wanted; lower shots or name another group"
            )
        rng = np.random.default_rng(seed_for(seed, "few_shot", item.item_id))
        drawn = others[rng.permutation(len(others))[:shots]]
        shown = zip(found["messages"][drawn], found["reference"][drawn], strict=True)
        asked.append([*(turn for turns, answer in shown for turn in _solved(turns, answer)), *item.messages])
    return items.assign(messages=asked)


def _solved(messages: list[dict], answer: str) -> list[dict]:
    return [*messages, {"role": "assistant", "content": answer}]


def _arrays(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns that are compared and shown; as plain arrays, which compare three times as fast."""
    return {c: rows[c].to_numpy(dtype=object) for c in ("knowledge_id", "says", "means", "messages", "reference")}


def _folded(texts: pd.Series) -> pd.Series:
    """Texts to compare; empty where there is none."""
    return texts.fillna("").str.casefold()
