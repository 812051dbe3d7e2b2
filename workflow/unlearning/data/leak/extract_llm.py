"""The facts that chunks of a text state, by a language model (role extractor)."""

import pandas as pd

from unlearning.data.refused import refusal, rejected
from unlearning.data.rounds import Tools, asked

COLUMNS = [
    "document", "chunk", "subject", "subject_aliases", "relation", "object", "object_aliases", "quote",
]  # fmt: skip


def extract(chunks: pd.DataFrame, tools: Tools) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table `extracted` of table `chunks`, as the model wrote it (`extracted.good_tuples` comes after), and `rejected`.

    A chunk may state nothing. One without a reply that can be used is in `rejected`, check no_reply.
    """
    ids = [f"{row.document}#{row.chunk}" for row in chunks.itertuples(index=False)]
    replies = asked(tools, "extractor", "extractor", ids, [{"text": text} for text in chunks["text"]])
    rows, lost = [], []
    for row, ident, (said, failed) in zip(
        chunks.itertuples(index=False), ids, replies.itertuples(index=False), strict=True
    ):
        if said is None:
            lost.append(refusal(ident, "no_reply", failed, 1, document=row.document, chunk=int(row.chunk)))
        else:
            rows += [{"document": row.document, "chunk": row.chunk, **fact} for fact in said["facts"]]
    return pd.DataFrame(rows, columns=COLUMNS), rejected(lost)
