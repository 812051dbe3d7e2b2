"""Tables that several jobs make a part of each: what the parts' files are called, and the whole of their rows.

Shard k of n, from 1, of answers.parquet is answers~{k}of{n}.parquet. Its rows bear their number in the whole table.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from unlearning.tables.artifacts import TableError, read_table

WHOLE = (1, 1)
SUFFIX = ".parquet"
SHOWN = 5  # row numbers in an error


def share(parts: Sequence, shard: Sequence[int]) -> Any:
    """Every n-th of `parts`, from the k-th on: those of `shard`, (k, n)."""
    k, n = shard
    return parts[k - 1 :: n]


def shard_file(path: str, k: int | str, n: int | str) -> str:
    """The file of shard k of n of the table `path`."""
    return f"{path.removesuffix(SUFFIX)}~{k}of{n}{SUFFIX}"


def whole_file(path: str, shard: Sequence[int]) -> str:
    """The table that the file `path` is `shard`, (k, n), of."""
    k, n = shard
    return path.removesuffix(f"~{k}of{n}{SUFFIX}") + SUFFIX


def shards_of(path: str, files: Iterable[str]) -> list[str]:
    """Those of `files` that are shards of the table `path`."""
    return [file for file in files if file.startswith(f"{path.removesuffix(SUFFIX)}~")]


def numbered(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Table `<name>_shard` of some rows of a table of `rows` rows, whose numbers are the index of `frame`."""
    frame = frame.astype(object) if frame.empty else frame  # lists without an entry have no type of their own
    return frame.assign(row=frame.index.astype("int32"), rows=pd.Series(rows, frame.index, "int32"))


def gathered(name: str, path: str, files: Iterable[str]) -> pd.DataFrame:
    """Table `name`, to be written at `path`, put together from its shards among `files`.

    A shard that was restored, instead of computed, from an earlier whole table is that table. TableError: a row is
    missing or comes twice, or the shards are not of one table.
    """
    own = shards_of(path, files)
    for file in own:
        if "row" not in pq.read_schema(file).names:
            return read_table(file, name)
    found = pd.concat([read_table(file, f"{name}_shard") for file in own], ignore_index=True)
    totals, there = found["rows"].unique(), found["row"]
    wrong = [f"shards of tables of {' and '.join(map(str, totals)) or 'no'} rows"] if len(totals) != 1 else []
    for told, rows in (
        ("rows that come twice", there[there.duplicated()]),
        ("rows that are missing", set(range(max(totals, default=1))) - set(there)),
    ):
        rows = sorted(rows)
        wrong += [f"{len(rows)} {told}, the first {', '.join(map(str, rows[:SHOWN]))}"] if rows else []
    if wrong:
        raise TableError(f"table {name}, shards of {path}: {'; '.join(wrong)}; delete {', '.join(own)} and run again")
    return found.sort_values("row", ignore_index=True).drop(columns=["row", "rows"])
