"""Average utility: what is kept over all tasks and both groups that should stay, in one number.

utility_average = mean of six: acc_r of classification and of cloze, and rl_r, each on retain and on real people. 0–1,
high is good; null if one is null. Source: UMU-Bench's main table, which does not say what it averages: our reading.
"""

from unlearning.metrics import modality_accuracy, modality_rouge
from unlearning.score.modalities import ASKED, pairs
from unlearning.score.pairs import combined, mean_row
from unlearning.score.view import View

NEEDS = ("answers",)
ITEMS = ("modalities", "real_people")
ROWS = (("utility_average", ("all",), "all", ("all",)),)
GROUPS = ("retain", "real_people")


def score(view: View) -> list[dict]:
    """One row; n = knowledge instances of the six, added up."""
    accuracy, rouge = (metric.parts(view, view.run) for metric in (modality_accuracy, modality_rouge))
    six = {}
    for group in GROUPS:
        means = pairs(view).means(group, ASKED, accuracy["acc_r"])
        means += pairs(view).means(group, ("generation",), rouge["rl_r"])
        tasks = (*ASKED, "generation")
        six |= {f"{group} {task}": mean for task, mean in zip(tasks, means, strict=True)}
    n = sum(mean.n for mean in six.values()) if min(mean.n for mean in six.values()) else 0
    return [mean_row("utility_average", "all", combined(lambda values_6: values_6.mean(axis=-1), six, n))]
