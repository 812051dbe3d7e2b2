"""How varied a set of questions and their answers is: the figures of the quality report that ask no language model."""

import random
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from unlearning.data.leak.matches import TYPES
from unlearning.seeds import seed_for


def quality(questions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Table `quality` of the kept `questions` (table `multihop`): both figures for all and for each type."""
    rows = []
    for name in ("all", *TYPES):
        own = questions if name == "all" else questions[questions["type"] == name]
        figures = {"self_bleu": self_bleu(list(own["question"]), seed), "answer_entropy": answer_entropy(own["answer"])}
        rows += [(name, measure, value, len(own), note) for measure, (value, note) in figures.items()]
    return pd.DataFrame(rows, columns=["type", "measure", "value", "n", "note"]).astype({"value": "float64"})


def self_bleu(texts: Sequence[str], seed: int, sample: int = 200) -> tuple[float | None, str | None]:
    """Mean BLEU-4 of each text against all others, 0–1, lower is more diverse; and why there is none.

    Of more than `sample` texts that many are drawn, as the cost grows with the square. Words and punctuation marks in
    lower case are the tokens; where no n-gram of an order matches, 0.1 is counted (smoothing 1 of Chen and
    Cherry 2014); a text that shares no word has 0. Source: Zhu et al. 2018 (Texygen), BLEU by nltk.
    """
    if len(texts) < 2:
        return None, f"{len(texts)} texts; two or more are compared"
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    drawn = list(texts)
    if len(drawn) > sample:
        drawn = random.Random(seed_for(seed, "leak self-bleu")).sample(drawn, sample)
    tokens = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in drawn]
    smooth = SmoothingFunction().method1
    scores = [
        sentence_bleu(tokens[:i] + tokens[i + 1 :], own, smoothing_function=smooth) for i, own in enumerate(tokens)
    ]
    return float(np.mean(scores)), None


def answer_entropy(answers: Sequence[str]) -> tuple[float | None, str | None]:
    """H = −Σ p log₂ p over the distinct answers, in bits, 0 to log₂ n, higher is more varied; and why there is none."""
    if not len(answers):
        return None, "no answers"
    _, counts = np.unique(np.asarray(answers, dtype=object).astype(str), return_counts=True)
    shares = counts / counts.sum()
    return float(max(0.0, -(shares * np.log2(shares)).sum())), None
