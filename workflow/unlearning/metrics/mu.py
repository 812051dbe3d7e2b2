"""MU, model utility as SEPS has it: what is still answered of the questions to retain, asked alone.

mu = harmonic mean of R (ROUGE-L recall), P (probability), TR (mean max(0, 1 − r), see `truth_ratio`) and the judge's
score on retain, which stand beside it as tasks of group retain. Where the benchmark has mixed prompts, over the retain
questions that stand in its pairs, so that every part of H-Avg is about the same ones. 0–1, high is good; 0 if any part
is 0, null if any is null. Not TOFU's `model_utility`. Source: SEPS, "Experimental Setup".
"""

from unlearning.metrics import judge, probability, rouge_l, truth_ratio
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.pairs import alone, combined, mean_row
from unlearning.score.shares import Mean
from unlearning.score.view import View

NEEDS = ("answers", "likelihoods", "verdicts")
ITEMS = ("perturbed",)
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
    return {name: alone(view, group, *value) for name, value in values.items()}


def utility(own: dict[str, Mean]) -> Mean:
    """The harmonic mean of `parts` of retain."""
    return combined(harmonic_mean, own)
