"""What unlearning took away, by modality: the target's score less the unlearned model's.

delta_mul and delta_uni of acc_mul and acc_uni, of rl_mul and rl_uni for generation; delta_f of acc_f and rl_f on
forget, delta_r of acc_r and rl_r elsewhere. Above 0: the model answers less than the target did. −1 to 1; high on
forget is good, low elsewhere. Means over the pairs that both models answered in both modalities.
Source: UMU-Bench, ΔAcc and ΔRL.
"""

from unlearning.metrics import modality_accuracy, modality_rouge
from unlearning.score.modalities import ASKED, GROUPS, pairs
from unlearning.score.pairs import mean_row
from unlearning.score.view import View

NEEDS = ("answers", "target:answers")
ITEMS = ("modalities",)
ROWS = (
    ("delta_mul", ("forget", "retain", "real_people"), "all", ("classification", "cloze", "generation")),
    ("delta_uni", ("forget", "retain", "real_people"), "all", ("classification", "cloze", "generation")),
    ("delta_f", ("forget",), "all", ("classification", "cloze", "generation")),
    ("delta_r", ("retain", "real_people"), "all", ("classification", "cloze", "generation")),
)
OF = ((modality_accuracy, "acc", ASKED), (modality_rouge, "rl", ("generation",)))
WHAT = "answer in both modalities of both the target and the run"


def score(view: View) -> list[dict]:
    """Nine rows a task; n = knowledge instances that both models answered in both modalities."""
    rows = []
    for metric, prefix, tasks in OF:
        before, after = metric.parts(view, view.target), metric.parts(view, view.run)
        for group in GROUPS:
            for kind in ("mul", "uni", "f" if group == "forget" else "r"):
                lost_P = before[f"{prefix}_{kind}"] - after[f"{prefix}_{kind}"]
                means = pairs(view).means(group, tasks, lost_P, WHAT)
                rows += [mean_row(f"delta_{kind}", group, m, task) for task, m in zip(tasks, means, strict=True)]
    return rows
