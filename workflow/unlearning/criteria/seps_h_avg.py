"""SEPS's choice of epochs: of the candidates, the one with the highest H-Avg on its split.

The paper reports each method after 5 or 10 epochs, whichever has the higher H-Avg:
candidates: {epochs: [5, 10]}, select: seps_h_avg. Source: SEPS, table of hyper-parameters.
"""

import math

import pandas as pd

from unlearning.score.selection import Assessed, number

METRICS = ("mu", "fe", "separability", "h_avg")
AGAINST = ()
SAYS = "the highest H-Avg, the harmonic mean of MU, FE and SEPS"


def assess(own: pd.DataFrame) -> Assessed:
    """A candidate's MU, FE, SEPS and H-Avg (0–1) from its score rows. Eligible: H-Avg is known. Rank: −H-Avg.

    Last resort: none, as a candidate without H-Avg cannot be told from another.
    """
    found = {name: number(own, name, "all", "all") for name in ("mu", "fe", "seps", "h_avg")}
    average = found["h_avg"]
    refused = f"H-Avg is unknown: {average.note}" if average.value is None else None
    names = {"mu": "MU", "fe": "FE", "seps": "SEPS", "h_avg": "H-Avg"}
    rank = math.inf if average.value is None else -average.value
    return Assessed({names[name]: score.value for name, score in found.items()}, refused, rank, rank)
