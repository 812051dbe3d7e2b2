"""No two values of a pool share a back-translation."""

import pandas as pd

from unlearning.data.context import Context


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose value comes back as two English values, or as another's, or None."""
    keys = ["attribute", "english_value"]
    back = context.values[[*keys, "value"]].merge(context.back, on=["attribute", "value"])
    back = back.drop_duplicates([*keys, "back"])
    many = back[back.duplicated(keys, keep=False)]
    shared = back[back.duplicated(["attribute", "back"], keep=False)]
    reasons = pd.concat([_reasons(many, keys, "comes back as"), _reasons(shared, keys, "shares its back-translation")])
    reasons = reasons[~reasons.index.duplicated()]
    found = reasons.reindex(pd.MultiIndex.from_frame(pairs[keys]))
    return found.set_axis(pairs.index).astype(object).where(lambda reason: reason.notna(), None)


def _reasons(rows: pd.DataFrame, keys: list[str], words: str) -> pd.Series:
    together = rows.groupby([*keys, "value"])["back"].agg(lambda found: ", ".join(sorted(found))).reset_index("value")
    return together["value"] + f" {words} " + together["back"]
