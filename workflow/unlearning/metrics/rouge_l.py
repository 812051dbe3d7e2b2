"""ROUGE-L of the answer against the reference.

rouge_l: F-measure; rouge_l_recall: LCS/|reference| (TOFU's ROUGE). Tokens: rouge-score's own with Porter stems in
English, words in other languages with spaces, characters in those without. 0–1, low on forget is good.
Source: Lin 2004; TOFU (Maini et al. 2024).
"""

import functools

import numpy as np
import pandas as pd

from unlearning.score.rows import mean_rows
from unlearning.score.view import View
from unlearning.text import rouge

NEEDS = ("answers",)
ROWS = (("rouge_l", "asked", "selections", ("all",)), ("rouge_l_recall", "asked", "selections", ("all",)))


def score(view: View) -> list[dict]:
    """Two rows a group and selection of languages."""
    recall, f_measure = item_scores(view)
    return mean_rows(view, "rouge_l", f_measure, "answer") + mean_rows(view, "rouge_l_recall", recall, "answer")


@functools.lru_cache(maxsize=2)
def item_scores(view: View) -> tuple[np.ndarray, np.ndarray]:
    """(recall_I, F_I) of the run's answers, means over samples; kept, of the view and of its `joint`, as several read
    them.
    """
    return against_references(view, view.run.answers)


def against_references(view: View, answers: pd.DataFrame | None, stems: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(recall_I, F_I) of `answers` to the view's items, means over samples; `stems`: Porter's, in English."""
    if answers is None:
        return view.per_item(None, np.zeros(0)), view.per_item(None, np.zeros(0))
    places = view.positions(answers)
    reference, language = (view.items[c].to_numpy(dtype=object)[places] for c in ("reference", "language"))
    tokenise = {code: functools.cache(rouge.tokenizer(code, stems)) for code in set(language)}
    scores = [
        rouge.rouge_l(tokenise[code](right), tokenise[code](text))
        for right, text, code in zip(reference, answers["text"].to_list(), language, strict=True)
    ]
    recall, f_measure = np.array(scores).reshape(-1, 2).T
    return view.per_item(answers, recall), view.per_item(answers, f_measure)
