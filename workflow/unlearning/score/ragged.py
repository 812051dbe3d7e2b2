"""Columns of lists as flat arrays: T tokens of R rows side by side, with the row each token belongs to."""

import numpy as np
import pandas as pd


def flatten(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(tokens_T, row_T) of a column whose cells are lists; rows count from 0, empty lists leave no token."""
    cells = column.to_list()
    lengths = np.fromiter((len(cell) for cell in cells), dtype=np.int64, count=len(cells))
    tokens = np.concatenate(cells) if lengths.sum() else np.zeros(0)
    return tokens, np.repeat(np.arange(len(cells)), lengths)


def row_mean(values_T: np.ndarray, row_T: np.ndarray, rows: int) -> np.ndarray:
    """R: mean of each row's tokens, NaN for a row without."""
    count = np.bincount(row_T, minlength=rows)
    total = np.bincount(row_T, values_T, minlength=rows)
    return np.divide(total, count, out=np.full(rows, np.nan), where=count > 0)


def lowest_mean(values_T: np.ndarray, row_T: np.ndarray, rows: int, share: float) -> np.ndarray:
    """R: mean of the lowest `share` of each row's tokens, ⌊share·T⌋ of them and at least one; NaN for an empty row."""
    order = np.lexsort((values_T, row_T))
    count = np.bincount(row_T, minlength=rows)
    start = np.cumsum(count) - count
    kept_R = np.maximum(1, np.floor(count * share + 1e-9)).astype(int)
    low = np.arange(len(row_T)) - start[row_T[order]] < kept_R[row_T[order]]
    return row_mean(values_T[order][low], row_T[order][low], rows)
