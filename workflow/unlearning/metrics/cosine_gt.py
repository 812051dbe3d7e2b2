"""How near the answer is to the right one.

cosine_gt = max(0, cos) of the sentence embeddings of answer and reference; an empty answer counts 0. Mean over
languages, then instances; 0–1, low on forget is good. A second reading of the cosine, beside SEPS's own (`cosine`).
"""

from unlearning.metrics.cosine import similarity
from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("embeddings", "references")
ROWS = (("cosine_gt", "asked", "selections", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages."""
    values_I = similarity(view, view.references)
    return mean_rows(view, "cosine_gt", values_I, "embeddings of the answer and of the reference")
