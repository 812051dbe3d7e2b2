"""The sheet on which two people each judge every story."""

import pandas as pd

from unlearning.data.lume.near import Index
from unlearning.review.rows import FILLED

COLUMNS = (
    "id", "review", "genre", "characters", "city", "text", "question", "answer", "most_alike", "decision", "comment",
    "reviewer",
)  # fmt: skip
REVIEWS = ("first", "second")


def sheet(documents: pd.DataFrame, knowledge: pd.DataFrame) -> pd.DataFrame:
    """Two rows for each story of `documents`, all text: what one reviewer reads, and what that reviewer fills in.

    `most_alike`: the earlier story that shares most word 3-grams with it, and how many, as stories that are much alike
    are to be taken out. Whoever reviews takes the rows of one `review`, so that the two do not see each other's.
    """
    rows = documents[documents["task"] == "task1"].rename(columns={"document_id": "id", "kind": "genre"})
    asked = knowledge.drop_duplicates("document_id").set_index("document_id")
    index, alike = Index(), []
    for row in rows.itertuples(index=False):
        share, other = index.nearest(row.text)
        alike.append(f"{other} ({share:.2f})" if other else "")
        index.add(row.id, row.text)
    rows = rows.assign(
        characters=rows["characters"].map("; ".join), most_alike=alike, question=rows["id"].map(asked["question"]),
        answer=rows["id"].map(asked["answer"]), **dict.fromkeys(FILLED, ""),
    ).fillna({"question": "", "answer": ""})  # fmt: skip
    both = pd.concat([rows.assign(review=review) for review in REVIEWS])
    return both.sort_index(kind="stable").reindex(columns=list(COLUMNS)).astype("str").reset_index(drop=True)
