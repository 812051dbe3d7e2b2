"""Accuracy: share of questions answered right, by kind of question.

An item asked several times counts as right where one of its trials is. Task all pools every kind, multi_hop the
multi-hop ones; then each kind by itself. 0–1, low on forget is good. Source: leak-resistant unlearning, Table 8, where
it is the model's before unlearning.
"""

from unlearning.score.bootstrap import interval
from unlearning.score.items import solved
from unlearning.score.languages import names
from unlearning.score.rows import row
from unlearning.score.shares import Cells, share
from unlearning.score.tasks import sums
from unlearning.score.view import View

NEEDS = ("verdicts",)
ROWS = (("accuracy", "asked", "pairs", "sums"),)


def score(view: View) -> list[dict]:
    """One row per group, kind of question and selection of languages; n = knowledge instances asked and judged."""
    found = solved(view, view.run)
    chosen = [(name, task, own) for task, own in sums(view.tasks).items() for name in names("pairs", view.languages)]
    rows = []
    for group in view.groups:
        cells = Cells(view, group, [(name, own) for name, _, own in chosen])
        right, judged = cells.by_instance(found), cells.by_instance((found == found).astype(float))
        asked = cells.member_IS.sum(axis=0)
        drawn = share(*cells.draws(right, judged))
        values, n, told = share(right.sum(0), judged.sum(0)), (judged > 0).sum(0), judged.sum(0)
        for s, (name, task, _) in enumerate(chosen):
            lost = int(asked[s] - told[s])
            note = f"{lost} of {asked[s]} questions have no verdict of the judge {view.judge}" if lost else None
            note = note if asked[s] else f"no such {group} questions"
            rows.append(row("accuracy", group, name, values[s], int(n[s]), interval(drawn[:, s], n[s]), note, task))
    return rows
