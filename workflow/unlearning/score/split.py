"""Which items are forget and which retain: decided by the split, not by the items."""

import pandas as pd


def with_groups(items: pd.DataFrame, splits: pd.DataFrame, split: str) -> pd.DataFrame:
    """`items` with the group of every knowledge instance that `split` lists; the others keep theirs.

    ValueError where the split is unknown or leaves nothing to forget.
    """
    chosen = splits[splits["split"] == split]
    if not (chosen["group"] == "forget").any():
        raise ValueError(
            f"split {split!r} forgets nothing; the splits are {', '.join(sorted(splits['split'].unique()))}"
        )
    group = items["knowledge_id"].map(chosen.set_index("knowledge_id")["group"])
    return items.assign(group=group.fillna(items["group"]))
