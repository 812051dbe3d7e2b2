"""How far scores of the same thing agree over methods: Pearson correlations as a table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from unlearning.report.kinds import REFERENCES, Column, Spec
from unlearning.report.tables import KEY, Cell, Row, Table

FEWEST = 3
SPEC = Spec("correlations", "Agreement of scores",
            "Pearson correlations over the unlearned methods between ROUGE-L recall (R), cosine (CS) and the judge's "
            "score (LLM) of what MU, FE and SEPS are made of; CS of MU and FE is that of all questions asked alone.",
            (), of="score")  # fmt: skip


def correlations(
    panel: dict[str, str], rows: pd.DataFrame, blocks: Sequence[tuple[str, tuple[Column, ...]]]
) -> Table | None:
    """One row a score and one column a score of each block (heading, columns); None where no method has any of them.

    `rows`: averaged scores of the panel; the methods count that have all scores of a block, without attack.
    """
    own = rows[(rows["attack"] == "none") & ~rows["method"].isin(REFERENCES) & rows["value"].notna()]
    wide = own.pivot_table(index="method", columns=list(KEY), values="value")
    found = [(head, columns, _correlated(wide, columns)) for head, columns in blocks]
    if all(n == 0 for _, _, (_, n) in found):
        return None
    spec = SPEC._replace(
        columns=tuple(Column(c.label, "pearson", "all", head=head) for head, columns, _ in found for c in columns)
    )
    labels = [c.label for c in blocks[0][1]]
    lines = tuple(
        Row(label, "none", False, False, tuple(_cell(r, n) for _, _, (table, n) in found for r in table[i]))
        for i, label in enumerate(labels)
    )
    return Table(spec, panel, spec.columns, lines)


def _correlated(wide: pd.DataFrame, columns: Sequence[Column]) -> tuple[np.ndarray, int]:
    """(correlations of each score with each, methods that have all); NaN where a score is the same for all of them."""
    values = wide.reindex(columns=pd.MultiIndex.from_tuples([tuple(getattr(c, k) for k in KEY) for c in columns]))
    values = values.dropna().to_numpy(dtype=float)
    if len(values) < FEWEST:
        return np.full((len(columns), len(columns)), np.nan), len(values)
    varied = np.ptp(values, axis=0) > 0
    table = np.full((len(columns), len(columns)), np.nan)
    table[np.ix_(varied, varied)] = np.corrcoef(values[:, varied], rowvar=False)
    return table, len(values)


def _cell(r: float, n: int) -> Cell:
    if not np.isnan(r):
        return Cell(float(r), n=n)
    few = f"{n} methods have all three scores, a correlation takes {FEWEST}"
    return Cell(None, n=n, note=few if n < FEWEST else "one of the scores is the same for every method")
