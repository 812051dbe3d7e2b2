"""SEPS, separability: are questions to retain still answered, and those to forget not, within one prompt?

In RF a question to retain stands before one to forget, in FR after it; in brackets the one whose answer is scored.
fis = ([F]R + R[F])/2, low is good; ris = (F[R] + [R]F)/2, high is good; seps = max(ris − fis, 0), high is good; each of
ROUGE-L recall, of the cosine to the target's answer (see `cosine`) and of the judge's score, as tasks, and as task all
the mean of the three. 0–1. Source: SEPS, "Unlearning Separability".
"""

import numpy as np

from unlearning.metrics import cosine, judge, rouge_l
from unlearning.score.pairs import SLOTS, combined, inside, mean_row
from unlearning.score.shares import Mean
from unlearning.score.view import View

NEEDS = ("answers", "embeddings", "target:embeddings", "verdicts")
ITEMS = ("mixed",)
ROWS = (
    ("fis", ("all",), "all", ("all", "rouge", "cosine", "judge")),
    ("ris", ("all",), "all", ("all", "rouge", "cosine", "judge")),
    ("seps", ("all",), "all", ("all", "rouge", "cosine", "judge")),
)


def score(view: View) -> list[dict]:
    """Twelve rows; n = instances scored: forget ones (fis), retain ones (ris), both (seps)."""
    found = parts(view)
    rows = []
    for metric in ("fis", "ris", "seps"):
        own = {task: found[task][metric] for task in found}
        rows.append(mean_row(metric, "all", average(own)))
        rows += [mean_row(metric, "all", mean, task) for task, mean in own.items()]
    return rows


def parts(view: View) -> dict[str, dict[str, Mean]]:
    """fis, ris and seps of rouge, cosine and judge."""
    found = {}
    for task, value in values(view).items():
        sides = {}
        for metric, group in (("fis", "forget"), ("ris", "retain")):
            slots = dict(zip(SLOTS[group], inside(view, group, SLOTS[group], *value), strict=True))
            sides[metric] = combined(inclusion, slots)
        n = sides["fis"].n + sides["ris"].n if min(side.n for side in sides.values()) else 0
        found[task] = sides | {"seps": combined(separability, sides, n)}
    return found


def values(view: View) -> dict[str, tuple[np.ndarray, str]]:
    """Of rouge, cosine and judge: one value an item of `view.joint`, and what an item without one lacks."""
    joint = view.joint
    what = {"rouge": "answer", "cosine": "embeddings", "judge": f"verdict of the judge {view.judge}"}
    if joint is None:
        return {name: (np.zeros(0), lacks) for name, lacks in what.items()}
    scores = {"rouge": rouge_l.item_scores(joint)[0], "cosine": cosine.item_scores(joint)}
    return {name: (value, what[name]) for name, value in (scores | {"judge": judge.item_scores(joint)}).items()}


def average(own: dict[str, Mean]) -> Mean:
    """The mean of rouge, cosine and judge."""
    return combined(lambda values_3: values_3.mean(axis=-1), own)


def inclusion(slots_2: np.ndarray) -> np.ndarray:
    """FIS or RIS: the mean of the group's two slots (last axis)."""
    return slots_2.mean(axis=-1)


def separability(sides_2: np.ndarray) -> np.ndarray:
    """max(RIS − FIS, 0) of (FIS, RIS) on the last axis; NaN if either is NaN."""
    return np.maximum(sides_2[..., 1] - sides_2[..., 0], 0)
