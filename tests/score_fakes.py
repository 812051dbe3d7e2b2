"""Small tables for the tests of scores: what a model would have written, spelled out."""

import numpy as np
import pandas as pd

from unlearning.score.languages import Language
from unlearning.score.view import Tables, View

LANGUAGES = {
    "en": Language("train", "high", "latin"),
    "af": Language("train", "low", "latin"),
    "es": Language("holdout", "high", "latin"),
    "th": Language("holdout", "low", "other"),
}


def items(*rows: tuple) -> pd.DataFrame:
    """Items from (group, knowledge_id, language, reference, value)."""
    frame = pd.DataFrame(rows, columns=["group", "knowledge_id", "language", "reference", "value"])
    empty = [[] for _ in rows]
    return frame.assign(
        item_id=frame["knowledge_id"] + "/" + frame["language"],
        aliases=empty,
        options=empty,
        correct_option=None,
        task="qa",
        candidates=empty,
        parts=empty,
    )


def grid_items(instances: dict[str, list[str]], languages=LANGUAGES) -> pd.DataFrame:
    """One item a language for each knowledge_id of each group; the reference is "<knowledge_id> <language>"."""
    return items(
        *((g, k, code, f"{k} {code}", code) for g, ids in instances.items() for k in ids for code in languages)
    )


def likelihoods(tokens: dict[str, list[float]], candidate: str = "reference", masks: dict | None = None):
    """Likelihoods from item_id -> log-probability of each token."""
    masks = masks or {}
    return pd.DataFrame(
        {
            "item_id": list(tokens),
            "candidate": candidate,
            "part": 0,
            "n_tokens": [len(t) for t in tokens.values()],
            "logprob": [float(sum(t)) for t in tokens.values()],
            "token_logprobs": [np.array(t, dtype=np.float32) for t in tokens.values()],
            "value_mask": [np.array(masks.get(i, [False] * len(t)), dtype=bool) for i, t in tokens.items()],
        }
    )


def spread_probability(frame: pd.DataFrame, probability) -> pd.DataFrame:
    """Likelihoods of two tokens an item, each with log-probability ln probability(item)."""
    return likelihoods({row.item_id: [float(np.log(probability(row)))] * 2 for row in frame.itertuples()})


def verdicts(right: dict[str, bool | None | list], judge: str = "rule") -> pd.DataFrame:
    """Verdicts from item_id -> right or wrong (None: the judge failed), a list for several samples."""
    rows = [
        (item, sample, 0, judge, None if r is None else float(r), r, None, "malformed" if r is None else None)
        for item, trials in right.items()
        for sample, r in enumerate(trials if isinstance(trials, list) else [trials])
    ]
    columns = ["item_id", "sample", "part", "judge", "score", "correct", "raw", "failed"]
    return pd.DataFrame(rows, columns=columns)


def answers(texts: dict[str, str | list[str]]) -> pd.DataFrame:
    """Answers from item_id -> text, a list for several samples."""
    rows = [
        (item, sample, 0, text, len(text.split()), "stop")
        for item, given in texts.items()
        for sample, text in enumerate(given if isinstance(given, list) else [given])
    ]
    return pd.DataFrame(rows, columns=["item_id", "sample", "part", "text", "n_tokens", "finish_reason"])


def view(frame: pd.DataFrame, run: Tables, target: Tables | None = None, **more) -> View:
    return View(frame, run, target or Tables(), **{"languages": LANGUAGES, "draws": 200} | more)


def table(rows: list[dict]) -> dict[tuple, dict]:
    """Rows by (group, language, task, metric)."""
    return {(r["group"], r["language"], r["task"], r["metric"]): r for r in rows}
