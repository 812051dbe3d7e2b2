"""Ask for the same knowledge in another language: what was unlearned in one may still be known in another.

The other question is the benchmark's own, so the attack fits benchmarks that ask in several languages, and what counts
as right is the answer in the other language. Translating questions that have no such twin is not there. Beyond
leak-resistant unlearning; for the effect see μ²-Bench.
"""

import pandas as pd

from unlearning.answer.decoding import AnswerError

KIND = "prompts"
PARAMS = {"to": "en"}
AMONG = {"to": "languages"}
ITEMS = ("languages",)
NEEDS = ("questions",)
CHANGES_REFERENCE = True
ASKED = ["messages", "language", "reference", "value", "aliases", "options", "correct_option", "candidates", "parts"]
"""What comes from the question in the other language; identity, group and knowledge stay the item's own."""


def prompts(items: pd.DataFrame, to: str, questions: pd.DataFrame) -> pd.DataFrame:
    """`items` asked in language `to`; items in it, or whose knowledge no question in it asks for, are left out.

    `questions`: all items of the benchmark. Twins have the same knowledge_id and task; of several the first by item_id.
    AnswerError where no item has a twin.
    """
    keys = ["knowledge_id", "task"]
    there = questions[questions["language"] == to].sort_values("item_id").drop_duplicates(keys).set_index(keys)
    place = there.index.get_indexer(pd.MultiIndex.from_frame(items[keys]))
    kept = (place >= 0) & (items["language"] != to).to_numpy()
    if not kept.any():
        raise AnswerError(f"translate: none of {len(items)} items in other languages is asked in {to!r} too")
    twins = there.iloc[place[kept]]
    own = items[kept].reset_index(drop=True)
    return own.assign(source_item_id=twins["item_id"].to_numpy(), **{c: twins[c].to_numpy() for c in ASKED})
