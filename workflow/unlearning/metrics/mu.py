"""MU, model utility as SEPS has it: what is still answered of the questions to retain, asked alone.

mu = harmonic mean of R (ROUGE-L recall), P (probability), TR (mean max(0, 1 − r), see `truth_ratio`) and the judge's
score on retain, which stand beside it as tasks of group retain. Where the benchmark has mixed prompts, over the retain
questions that stand in its pairs, so that every part of H-Avg is about the same ones. Where no question has wrong
answers (MUSE), the mean is over R, P and the judge's score, and TR is null: our reading, as the paper has no TR there
and does not say more. 0–1, high is good; 0 if any part
is 0, null if any is null. Not TOFU's `model_utility`. Source: SEPS, "Experimental Setup".
"""

from collections.abc import Callable

import numpy as np

from unlearning.metrics import judge, probability, rouge_l, truth_ratio
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.items import candidates
from unlearning.score.pairs import alone, combined, mean_row
from unlearning.score.shares import Mean
from unlearning.score.view import View

UNTOLD = "no question has wrong answers"
NEEDS = ("answers", "likelihoods", "verdicts")
ROWS = (
    ("mu", ("all",), "all", ("all",)),
    ("mu", ("retain",), "all", ("rouge", "probability", "truth_ratio", "judge")),
)


def score(view: View) -> list[dict]:
    """Five rows: the utility and its four parts; n = retain instances."""
    own = parts(view, "retain")
    return [mean_row("mu", "all", utility(own)), *(mean_row("mu", "retain", mean, task) for task, mean in own.items())]


def parts(view: View, group: str) -> dict[str, Mean]:
    """rouge, probability, truth_ratio and judge of the questions of `group` asked alone."""
    ratios = truth_ratio.truth_ratio(truth_ratio.log_ratios(view, view.run))
    values = {
        "rouge": (rouge_l.item_scores(view)[0], "answer"),
        "probability": (probability.item_scores(view), "likelihood"),
        "truth_ratio": (ratios, "perturbed answers"),
        "judge": (judge.item_scores(view), f"verdict of the judge {view.judge}"),
    }
    found = {name: alone(view, group, *value) for name, value in values.items()}
    wrong = candidates(view.run, "perturbed")
    if wrong is not None and wrong.empty:
        found["truth_ratio"] = found["truth_ratio"]._replace(note=UNTOLD)
    return found


def utility(own: dict[str, Mean]) -> Mean:
    """The harmonic mean of `parts` of retain that there are."""
    return average(harmonic_mean, own)


def average(formula: Callable[[np.ndarray], np.ndarray], own: dict[str, Mean]) -> Mean:
    """`formula` of `own`; without the truth ratio, and a note of it, where no question has wrong answers."""
    if own["truth_ratio"].note != UNTOLD:
        return combined(formula, own)
    mean = combined(formula, {name: part for name, part in own.items() if name != "truth_ratio"})
    return mean._replace(note="; ".join(filter(None, (mean.note, f"without the truth ratio: {UNTOLD}"))))
