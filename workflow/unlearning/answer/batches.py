"""What generating and scoring share: which questions can be asked, in what batches, a clear word when memory ends."""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch

from unlearning.answer.decoding import AnswerError
from unlearning.models.pictures import pictures
from unlearning.tables.shards import WHOLE, share


def check_items(items: pd.DataFrame) -> None:
    """AnswerError unless there is at least one item, and a picture wherever the modality says so, and only there."""
    if items.empty:
        raise AnswerError("no items to ask: the table is empty, or no item is left after choosing groups and split")
    wrong = items.loc[(items["modality"] == "image") != pd.Series(pictures(items), items.index).notna(), "item_id"]
    if len(wrong):
        raise AnswerError(
            f"{len(wrong)} items have a modality that does not fit, first {wrong.iloc[0]!r}: items of modality image "
            "have a picture in column image, no others do"
        )


def by_length(lengths: Sequence[int], batch_size: int, shard: Sequence[int] = WHOLE) -> list[np.ndarray]:
    """Row numbers in batches of alike length, longest first, so that what does not fit in memory fails at once.

    Of `shard`, (k, n): every n-th of the batches. They are the same for every n, so that what comes of a row is, too.
    """
    if batch_size < 1:
        raise AnswerError(f"batch_size {batch_size}: should be 1 or more")
    order = np.argsort(-np.asarray(lengths), kind="stable")
    return share([order[start : start + batch_size] for start in range(0, len(order), batch_size)], shard)


@contextlib.contextmanager
def explain_memory(batch_size: int) -> Iterator[None]:
    """Turn PyTorch's out-of-memory errors (GPU or CPU) into one that names the batch size to try."""
    try:
        yield
    except RuntimeError as error:  # torch.OutOfMemoryError is one; the CPU's allocator raises the plain kind
        if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
            raise
        advice = f"try batch_size {batch_size // 2}" if batch_size > 1 else "use a larger device or a smaller dtype"
        raise AnswerError(f"out of memory with batch_size {batch_size}: {advice} ({error})") from error
