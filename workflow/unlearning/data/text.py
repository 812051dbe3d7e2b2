"""Text helpers of the construction: folding, masking names, finding words. Vectorised or over distinct texts only."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from unlearning.text.folding import fold, without_accents  # noqa: F401 (where the construction looks for them)

PARTS = ("question", "answer", "paraphrase")  # the texts of a pair
NAME_MASK = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: no letter, no word character, in no text of ours


def capital(words: str) -> str:
    """`words` with a capital at the start."""
    return words[:1].upper() + words[1:]


def strings(column: pd.Series) -> np.ndarray:
    """`column` as a numpy array of variable-width strings, for `numpy.strings`."""
    return column.to_numpy(dtype=object).astype(np.dtypes.StringDType())


def mask_name(text: pd.Series, name: pd.Series) -> pd.Series:
    """`text` with each row's own `name` replaced by NAME_MASK: what is left is the template and the value."""
    masked = np.strings.replace(strings(text), strings(name), NAME_MASK)
    return pd.Series(masked.astype(object), index=text.index, dtype="str")


def masked_parts(pairs: pd.DataFrame) -> pd.DataFrame:
    """The PARTS of `pairs` with each row's name masked."""
    return pd.DataFrame({part: mask_name(pairs[part], pairs["name"]) for part in PARTS})


def per_distinct(frame: pd.DataFrame, columns: list[str], reason: Callable[..., str | None]) -> pd.Series:
    """`reason(*row)` for each distinct row of `columns`, spread over `frame`'s rows (reason or None, object dtype)."""
    codes = frame.groupby(columns, sort=False).ngroup().to_numpy()
    distinct = frame[columns].drop_duplicates()
    reasons = np.empty(len(distinct), dtype=object)
    reasons[:] = [reason(*row) for row in distinct.itertuples(index=False)]
    return pd.Series(reasons[codes], index=frame.index, dtype=object)
