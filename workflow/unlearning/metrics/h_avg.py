"""H-Avg: keeping, forgetting and telling them apart in one number.

h_avg = harmonic mean of `mu`, `fe` and `seps` (task all). 0–1, high is good; 0 if any of them is 0, null with the
reason if any is null. Source: SEPS, "Experimental Setup", and its Table 1.
"""

from unlearning.metrics import fe, mu, separability
from unlearning.metrics.model_utility import harmonic_mean
from unlearning.score.pairs import combined, mean_row
from unlearning.score.view import View

NEEDS = ("answers", "likelihoods", "embeddings", "target:embeddings", "verdicts")
ITEMS = ("mixed",)
ROWS = (("h_avg", ("all",), "all", ("all",)),)


def score(view: View) -> list[dict]:
    """One row; n = the instances of both groups."""
    seps = {task: found["seps"] for task, found in separability.parts(view).items()}
    three = {
        "mu": mu.utility(mu.parts(view, "retain")),
        "fe": fe.efficacy(mu.parts(view, "forget")),
        "seps": separability.average(seps),
    }
    n = three["mu"].n + three["fe"].n if min(mean.n for mean in three.values()) else 0
    return [mean_row("h_avg", "all", combined(harmonic_mean, three, n))]
