"""MMLU: share of multiple-choice questions answered right, over the subjects asked.

Averaged over questions, not over subjects, as lm-evaluation-harness does. 0–1, high is good; guessing gives 0.25. The
interval is value ± 1.96 standard errors of the harness (normal approximation, within 0 and 1), no bootstrap; none where
these are 0, because all answers to each subject are alike.
Source: Hendrycks et al. 2021; LUME.
"""

from unlearning.score.harness import pooled
from unlearning.score.rows import row
from unlearning.score.view import View

NEEDS = ("harness",)
ITEMS = ("mmlu",)
ROWS = (("mmlu", ("utility",), "all", ("all",)),)


def score(view: View) -> list[dict]:
    """One row; n = questions asked."""
    found = pooled(view.run.harness, "mmlu", "run")
    if found.value is None or not found.stderr:
        why = found.why or "no interval: lm-evaluation-harness gave no standard error, or one of 0"
        return [row("mmlu", "utility", "all", found.value, found.n, note=why)]
    half = 1.96 * found.stderr
    bounds = max(found.value - half, 0.0), min(found.value + half, 1.0)
    return [row("mmlu", "utility", "all", found.value, found.n, bounds)]
