"""Reasoning ability: accuracy on Big-Bench Hard relative to the model before unlearning.

Acc(θ_u)/Acc(θ_p), each over all questions of the tasks in `harness.reasoning`; θ_p is the target. 1 = as before, above
1 = better than before. Null where the target answers none right. No interval: the harness tells each model's standard
error, but not how the two move together on the same questions. Source: leak-resistant unlearning; Suzgun et al. 2022.
"""

from unlearning.score.harness import pooled
from unlearning.score.rows import row
from unlearning.score.view import View

NEEDS = ("harness", "target:harness")
ITEMS = ("reasoning",)
ROWS = (("reasoning", ("utility",), "all", ("all",)),)


def score(view: View) -> list[dict]:
    """One row; n = questions asked of each model."""
    run, target = pooled(view.run.harness, "reasoning", "run"), pooled(view.target.harness, "reasoning", "target")
    why = run.why or target.why
    if not why and target.value == 0:
        why = f"the target answers none of the {target.n} questions right: nothing can be lost"
    if why:
        return [row("reasoning", "utility", "all", None, run.n, note=why)]
    note = f"accuracy {run.value:.3f}, the target's {target.value:.3f}; no interval of their ratio is known"
    return [row("reasoning", "utility", "all", run.value / target.value, run.n, note=note)]
