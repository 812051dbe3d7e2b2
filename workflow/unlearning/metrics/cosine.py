"""How near the answer is to what the model said before unlearning.

cosine = max(0, cos) of the sentence embeddings of the run's answer and of the target's to the same prompt, and in a
mixed prompt at the same place; an empty answer has no direction, and counts 0. Mean over languages, then instances;
0–1, low on forget is good. Source: SEPS, "Cosine Similarity"; Yuan et al. 2025.
"""

import numpy as np
import pandas as pd

from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("embeddings", "target:embeddings")
ROWS = (("cosine", "asked", "selections", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages."""
    return mean_rows(view, "cosine", item_scores(view), "embeddings of the answers of run and target")


def item_scores(view: View) -> np.ndarray:
    """I: similarity of the run's answers to the target's."""
    return similarity(view, view.target.embeddings)


def similarity(view: View, others: pd.DataFrame | None) -> np.ndarray:
    """I: mean over the run's answers, each with every row of `others` about its item; NaN where either has none."""
    said = view.run.embeddings
    if said is None or others is None:
        return view.per_item(None, np.zeros(0))
    own = others.loc[others["item_id"].isin(view.items["item_id"]), ["item_id", "embedding"]]
    pairs = said[["item_id", "embedding"]].merge(own, on="item_id", suffixes=("", "_other"))
    return view.per_item(pairs, cosines(pairs["embedding"], pairs["embedding_other"]))


def cosines(first: pd.Series, second: pd.Series) -> np.ndarray:
    """max(0, cos) of each pair of vectors; 0 where one is missing or without length."""
    values = np.zeros(len(first))
    known = np.flatnonzero((first.notna() & second.notna()).to_numpy())
    if len(known):
        a, b = (np.stack(column.iloc[known].to_list()).astype(float) for column in (first, second))
        length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        dot = (a * b).sum(axis=1)
        values[known] = np.clip(np.divide(dot, length, out=np.zeros(len(dot)), where=length > 0), 0, 1)
    return values
