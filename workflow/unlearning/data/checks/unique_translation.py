"""No two values of a pool share a translation."""

import pandas as pd

from unlearning.data.context import Context


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose value another English value of the pool has too (case ignored), or None."""
    spelling = context.values["value"].map(lambda value: " ".join(value.casefold().split()))
    values = context.values.assign(spelling=spelling)
    shared = values[values.duplicated(["attribute", "spelling"], keep=False)]
    meanings = shared.groupby(["attribute", "spelling"])["english_value"].agg(lambda found: ", ".join(sorted(found)))
    shared = shared.merge(meanings.rename("meanings").reset_index(), on=["attribute", "spelling"])
    reasons = "the translation " + shared["value"] + " stands for " + shared["meanings"]
    reasons = reasons.set_axis(pd.MultiIndex.from_frame(shared[["attribute", "english_value"]]))
    found = reasons.reindex(pd.MultiIndex.from_frame(pairs[["attribute", "english_value"]]))
    return found.set_axis(pairs.index).astype(object).where(lambda reason: reason.notna(), None)
