"""Train on a little for a few steps: what was only suppressed comes back at once.

Benign data (the split's retain set) show whether any training undoes the unlearning; partial data (a share of the
forget set) whether some of it brings back the rest. Beyond leak-resistant unlearning; after Hu et al. 2024, "Jogging
the Memory of Unlearned Models Through Targeted Relearning Attacks".
"""

from typing import TYPE_CHECKING

import numpy as np

from unlearning.seeds import seed_for

if TYPE_CHECKING:
    import pandas as pd
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

KIND = "weights"
PARAMS = {"source": "retain", "share": 1.0, "steps": 20, "batch_size": 8, "lr": 1e-4}
LIMITS = {
    "source": ("retain", "forget"),
    "share": {"gt": 0, "le": 1},
    "steps": {"ge": 1},
    "batch_size": {"ge": 1},
    "lr": {"gt": 0},
}
NEEDS = ("examples", "splits")


def relearn(
    model: "PreTrainedModel",
    source: str,
    share: float,
    steps: int,
    batch_size: int,
    lr: float,
    examples: "pd.DataFrame",
    splits: "pd.DataFrame",
    split: str,
    languages: list[str],
    tokenizer: "PreTrainedTokenizerBase",
    seed: int,
    device: str = "cpu",
    dtype: str = "float32",
) -> "PreTrainedModel":
    """`model` after `steps` steps of AdamW (constant `lr`) on `batch_size` examples each; changed in place, returned.

    The examples are those of `share` of the knowledge (at least one instance, drawn by the seed) in the `source` set of
    the split, in `languages`; they are gone through again, in another order, when all were seen.
    RowsError where there are none.
    """
    from unlearning.models.encode import pad_id
    from unlearning.train.data import endless
    from unlearning.train.memorise import memorise
    from unlearning.train.plan import make_plan
    from unlearning.train.rows import encode_rows, of_split

    rows = of_split(examples, splits, split, source, languages)
    rows = rows[rows["knowledge_id"].isin(chosen(rows["knowledge_id"].unique(), share, seed))]
    drawn = rows.iloc[endless(len(rows), seed, "relearn_order", 0, steps * batch_size)]
    training = {"lr": lr, "epochs": 1, "batch_size": batch_size, "schedule": "constant", "warmup": 0, "dtype": dtype}
    return memorise(model, encode_rows(tokenizer, drawn), make_plan(training), seed, pad_id(tokenizer), device).model


def chosen(knowledge: np.ndarray, share: float, seed: int) -> np.ndarray:
    """A `share` of the instances, rounded and at least one, drawn by the seed whatever their order."""
    order = np.random.default_rng(seed_for(seed, "relearn")).permutation(len(knowledge))
    return np.sort(knowledge)[order[: max(round(share * len(knowledge)), 1)]]
