"""Robustness: 1 − the highest Recovery Rate of all attacks that were tried, single-hop and multi-hop alike.

1 − max_a max_h RR(a, h) over attacks a and hops h (see `rr`), of the unattacked run. 0–1, high is good. Where a rate is
null it is left out; null where all are. Source: leak-resistant unlearning, Section 6.3 (an RR of at most 12.9 % gives
87.1 %).
"""

import numpy as np

from unlearning.metrics.rr import unlearned
from unlearning.score.bootstrap import interval
from unlearning.score.items import solved
from unlearning.score.languages import names
from unlearning.score.rows import row
from unlearning.score.shares import Cells, share
from unlearning.score.tasks import hops
from unlearning.score.view import View

NEEDS = ("verdicts", "target:verdicts", "attacks:verdicts")
ROWS = (("robustness", ("forget",), "pairs", ("all",)),)

NONE = "no attack was tried on this run; of an attacked one, the robustness stands with the run without attack"


def score(view: View) -> list[dict]:
    """One row per selection of languages; n = the questions that were unlearned. The note names the attack and hop."""
    gone = unlearned(solved(view, view.target), solved(view, view.run))
    under = {attack: solved(view, tables) for attack, tables in view.attacks.items()}
    return [_row(view, name, gone, under) for name in names("pairs", view.languages)]


def _row(view: View, name: str, gone: np.ndarray, under: dict[str, np.ndarray]) -> dict:
    by_hop = hops(view.tasks)
    cells = Cells(view, "forget", [(name, own) for own in (*by_hop.values(), view.tasks)])
    recovered, asked = [], []
    for values in under.values():
        told = gone & ~np.isnan(values)
        recovered.append(cells.by_instance(told * np.nan_to_num(values))[:, : len(by_hop)])
        asked.append(cells.by_instance(told.astype(float))[:, : len(by_hop)])
    unlearned_N = cells.by_instance(gone.astype(float))[:, -1]
    n, instances = int(unlearned_N.sum()), int((unlearned_N > 0).sum())
    if not under or not n:
        why = "no question was right before unlearning and wrong after" if under else NONE
        return row("robustness", "forget", name, None, n, note=why)
    rates = share(*(np.hstack(sums).sum(0) for sums in (recovered, asked)))
    if np.isnan(rates).all():
        return row("robustness", "forget", name, None, n, note="no unlearned question has a verdict under any attack")
    drawn = share(*cells.draws(np.hstack(recovered), np.hstack(asked)))
    worst = int(np.nanargmax(rates))
    attack, hop = list(under)[worst // len(by_hop)], list(by_hop)[worst % len(by_hop)]
    note = f"most comes back under {attack}, {hop.replace('_', '-')}"
    return row("robustness", "forget", name, 1 - rates[worst], n, interval(1 - highest(drawn), instances), note)


def highest(rates_BS: np.ndarray) -> np.ndarray:
    """B: the highest rate of each draw that is defined; NaN where none is."""
    filled = np.where(np.isnan(rates_BS), -np.inf, rates_BS).max(axis=1)
    return np.where(np.isinf(filled), np.nan, filled)
