"""What language models took, added up over tables `usage`."""

from collections.abc import Sequence

import pandas as pd

from unlearning.tables.schemas import schema

COLUMNS = schema("usage").names
WHO = ["role", "backend", "model"]


def added_up(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table `usage`: one row for each role, backend and model of `tables`; its cost is null where one of theirs is."""
    if not tables:
        return pd.DataFrame(columns=COLUMNS)
    by = pd.concat(tables).groupby(WHO, dropna=False)
    counts = by[[name for name in COLUMNS if name not in (*WHO, "cost")]].sum()
    return counts.join(by["cost"].agg(lambda cost: cost.sum(skipna=False))).reset_index()[COLUMNS]
