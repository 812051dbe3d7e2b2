"""The tables of a benchmark, with their list columns built from flat columns without a Python loop."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from unlearning.tables.columns import CANDIDATES, DOCUMENT, MESSAGES
from unlearning.tables.schemas import schema


class Built(NamedTuple):
    """The three tables of a benchmark, checked by their contracts when written."""

    examples: pa.Table
    items: pa.Table
    splits: pd.DataFrame


def flat(column: pd.Series, kind: pa.DataType) -> pa.Array:
    """`column` as one Arrow array (pandas gives chunks after a concatenation)."""
    found = pa.array(column, kind)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def user_messages(questions: pd.Series, passages: pd.Series | None = None) -> pa.Array:
    """One conversation per question: a single user turn, or no turn where the question is missing (a document).

    Where `passages` is True the text is no question but the beginning of a document, and its turn has that role.
    """
    asked = questions.notna().to_numpy()
    content = flat(questions[asked], pa.string())
    role = pa.repeat(pa.scalar("user"), len(content))
    if passages is not None:
        role = pa.array(passages[asked].map({True: DOCUMENT, False: "user"}), pa.string())
    turns = pa.StructArray.from_arrays([role, content], fields=list(MESSAGES.value_type))
    return pa.ListArray.from_arrays(offsets(asked), turns).cast(MESSAGES)


def offsets(lengths: np.ndarray) -> pa.Array:
    """List offsets of the given lengths: [0, l_0, l_0 + l_1, …]."""
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def text_lists(lists: pd.Series) -> pa.Array:
    """A list<string> column from a column of Python lists."""
    return pa.array(lists.to_list(), pa.list_(pa.string()))


def candidates(lists: pd.Series) -> pa.Array:
    """A candidates column from a column of {name: text} dictionaries."""
    names = [name for entry in lists for name in entry]
    texts = [text for entry in lists for text in entry.values()]
    pairs = pa.StructArray.from_arrays(
        [pa.array(names, pa.string()), pa.array(texts, pa.string())], fields=list(CANDIDATES.value_type)
    )
    return pa.ListArray.from_arrays(offsets(lists.map(len).to_numpy()), pairs).cast(CANDIDATES)


def table(name: str, rows: int, columns: dict[str, pa.Array | pd.Series | str]) -> pa.Table:
    """Table `name` with `rows` rows: a string fills its column, a column left out is null, or empty for a list."""
    expected = schema(name)
    arrays = []
    for field in expected:
        given = columns.get(field.name)
        if given is None and pa.types.is_list(field.type):
            given = pa.ListArray.from_arrays(
                offsets(np.zeros(rows, dtype=np.int32)), pa.array([], field.type.value_type)
            )
        elif given is None:
            given = pa.nulls(rows, field.type)
        elif isinstance(given, str):
            given = pa.repeat(pa.scalar(given, field.type), rows)
        arrays.append(flat(given, field.type) if isinstance(given, pd.Series) else given.cast(field.type))
    return pa.table(arrays, schema=expected)
