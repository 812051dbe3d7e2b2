"""What tables are made of: a column with its description, and the Arrow types that columns have."""

from typing import NamedTuple

import pyarrow as pa

TEXT = pa.string()
INT = pa.int32()
REAL = pa.float64()
TEXTS = pa.list_(TEXT)
MESSAGES = pa.list_(pa.struct([("role", TEXT), ("content", TEXT)]))
DOCUMENT = "document"
"""The role of a turn that is the beginning of a plain text, which the answer goes on with: no conversation."""
IMAGE = pa.struct([("bytes", pa.binary()), ("path", TEXT)])
CANDIDATES = pa.list_(pa.struct([("name", TEXT), ("text", TEXT)]))
FIGURES = pa.list_(pa.struct([("name", TEXT), ("value", REAL)]))
PARTS = pa.list_(pa.struct([("item_id", TEXT), ("group", TEXT)]))
VECTOR = pa.list_(pa.float32())
CASES = pa.list_(INT)
SPANS = pa.list_(pa.struct([("document", TEXT), ("chunk", INT), ("start", INT), ("end", INT)]))
HOPS = pa.list_(pa.struct([("subject", TEXT), ("relation", TEXT), ("answers", TEXTS)]))


class Column(NamedTuple):
    """One column: `unit` is empty for text; `null` says whether a missing value is allowed."""

    name: str
    type: pa.DataType
    description: str
    unit: str = ""
    null: bool = False
