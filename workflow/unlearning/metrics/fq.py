"""Forget Quality: how much of the model's accuracy before unlearning is gone, by kind of question.

FQ = 1 − Acc(θ_u, Q_n)/Acc(θ_p, Q_n) for each kind n of forget questions; `fq` of task all is the mean over the kinds,
`fq_pooled` the same formula on all questions together. 1 = all gone, 0 = as before; below 0, more are answered than
before (kept as it is). θ_p is the target. Null where the target answers none. Source: leak-resistant unlearning, Eq. 1.
"""

import numpy as np

from unlearning.score.bootstrap import interval
from unlearning.score.items import solved
from unlearning.score.languages import names
from unlearning.score.rows import row
from unlearning.score.shares import Cells, share
from unlearning.score.tasks import types
from unlearning.score.view import View

NEEDS = ("verdicts", "target:verdicts")
ROWS = (("fq", ("forget",), "pairs", "types"), ("fq_pooled", ("forget",), "pairs", ("all",)))


def score(view: View) -> list[dict]:
    """One row per kind and selection of languages, over questions judged for both models; n = knowledge instances."""
    after, before = solved(view, view.run), solved(view, view.target)
    both = ~np.isnan(after) & ~np.isnan(before)
    after, before = np.where(both, after, np.nan), np.where(both, before, np.nan)
    return [r for name in names("pairs", view.languages) for r in _rows(view, name, after, before, both)]


def _rows(view: View, name: str, after: np.ndarray, before: np.ndarray, both: np.ndarray) -> list[dict]:
    """The rows of one selection of languages: each kind, their mean, and all pooled."""
    kinds = {**types(view.tasks), "all": view.tasks}
    cells = Cells(view, "forget", [(name, own) for own in kinds.values()])
    asked = cells.by_instance(both.astype(float))
    parts = cells.by_instance(after), cells.by_instance(before)
    values = forget_quality(*(part.sum(0) for part in parts))
    drawn = forget_quality(*cells.draws(*parts))
    n = (asked > 0).sum(0)
    notes = [_reason(view, asked[:, s].sum(), values[s]) for s in range(len(kinds))]
    found = [
        row("fq", "forget", name, values[s], int(n[s]), interval(drawn[:, s], n[s]), notes[s], kind)
        for s, kind in enumerate(kinds)
    ]
    pooled = {**found[-1], "metric": "fq_pooled"}
    if len(found) > 1:
        value, left_out = (
            float(macro(values[:-1])),
            [k for k, v in zip(kinds, values[:-1], strict=False) if np.isnan(v)],
        )
        note = f"without {', '.join(left_out)}: the target answers none of these" if left_out else None
        drawn_mean = macro(drawn[:, :-1][:, ~np.isnan(values[:-1])])
        bounds = interval(drawn_mean, n[-1])
        found[-1] = row("fq", "forget", name, value, int(n[-1]), bounds, note if value == value else notes[-1])
    return [*found, pooled]


def forget_quality(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """1 − after/before, of right answers (or accuracies) to the same questions; NaN where before is 0."""
    return 1 - share(after, before)


def macro(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis of those that are not NaN; NaN where none is."""
    known = ~np.isnan(values)
    return share(np.where(known, values, 0.0).sum(-1), known.sum(-1))


def _reason(view: View, asked: float, value: float) -> str | None:
    if not asked:
        return "no such forget questions judged for both the target and the run"
    return "the target answers none of them right: nothing to forget" if np.isnan(value) else None
