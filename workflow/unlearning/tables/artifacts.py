"""Parquet artifacts: checked, atomic, and equal files for equal tables.

The file's metadata holds the schema version and the content fingerprint, nothing that changes from run to run: equal
tables must be equal files, or checksums could not stop a rerun.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unlearning.tables.schemas import GROUPS, UNIQUE, VERSION, schema

ROW_GROUP = 50_000
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# safetensors and tokenizers give the number in words only, torch.save none: it says what it meets with
FULL_IN_WORDS = re.compile(
    rf"\(os error ({'|'.join(map(str, FULL))})\)|unexpected pos \d+ vs \d+|PytorchStreamWriter|iostream error"
)


class TableError(ValueError):
    """A table breaks its contract; the message names the table, the column and the row."""


class NoRoom(ValueError):
    """The disk is full, or a quota or a file's greatest size was reached; the message says what was being written."""


@contextlib.contextmanager
def room_for(path: Path | str) -> Iterator[None]:
    """Raise NoRoom, which names `path`, for whatever a library raises when it cannot write for want of room."""
    try:
        yield
    except NoRoom:
        raise
    except Exception as error:
        if getattr(error, "errno", None) in FULL or FULL_IN_WORDS.search(str(error)):
            raise NoRoom(f"no room to write {path}: free disk space and run again") from error
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed onto it on success and removed on failure.

    A reader never sees half a file, and a job killed at any moment leaves the earlier file as it was. Raises NoRoom.
    """
    path = Path(path)
    with room_for(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o644)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside `path` that takes its place on success and is removed on failure. Raises NoRoom."""
    path = Path(path)
    with room_for(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
        try:
            yield temporary
            temporary.chmod(0o755)
            shutil.rmtree(path, ignore_errors=True)
            temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def link(source: Path, target: Path) -> None:
    """A hard link, or a copy where there can be none (another file system). Nothing may lie at `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def fingerprint(table: pa.Table) -> str:
    """sha256 over column names, types and values: equal for equal tables, however they lie in memory.

    Chunks, row groups, offsets of slices and what stands in the slots of missing values do not count.
    """
    digest = hashlib.sha256()
    for field, column in zip(table.schema, table.columns, strict=True):
        digest.update(f"{field.name}:{_type_name(field.type)}:{len(column)}\n".encode())
        _digest(pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], field.type), digest)
    return digest.hexdigest()


def _type_name(kind: pa.DataType) -> str:
    """The type in words; Parquet renames what stands inside a list, which is no difference."""
    if pa.types.is_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_type_name(field.type)}' for field in kind)}>"
    return str(kind)


def _digest(array: pa.Array, digest: "hashlib._Hash") -> None:
    """Which values are missing, then the others: lengths and contents of lists and texts, structs by field."""
    digest.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    array = array.drop_null()
    kind = array.type
    if pa.types.is_list(kind):
        digest.update(pc.list_value_length(array).to_numpy(zero_copy_only=False).tobytes())
        _digest(array.flatten(), digest)
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            _digest(part, digest)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        digest.update(pc.binary_length(array).to_numpy(zero_copy_only=False).tobytes())
        digest.update(_contents(array))
    else:
        digest.update(array.to_numpy(zero_copy_only=False).tobytes())


def _contents(array: pa.Array) -> memoryview:
    """The texts of an array without missing values, one after the other."""
    _, offsets, contents = array.buffers()
    if contents is None or not len(array):
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    return memoryview(contents)[bounds[0] : bounds[-1]]


def check(table: pa.Table, name: str) -> None:
    """Raise TableError unless `table` has exactly the columns, types, nulls and unique keys of its contract."""
    expected = schema(name)
    if table.schema.names != expected.names:
        missing = [c for c in expected.names if c not in table.schema.names]
        extra = [c for c in table.schema.names if c not in expected.names]
        raise TableError(f"table {name}: missing columns {missing}, unexpected columns {extra}")
    for field in expected:
        column = table.column(field.name)
        if column.type != field.type:
            raise TableError(f"table {name}, column {field.name}: type {column.type}, should be {field.type}")
        if not field.nullable and column.null_count:
            row = pc.index(pc.is_null(column), True).as_py()
            raise TableError(f"table {name}, column {field.name}: empty at row {row}, a value is needed")
        if pa.types.is_floating(field.type) and pc.any(pc.is_nan(column)).as_py():
            row = pc.index(pc.is_nan(column), True).as_py()
            raise TableError(f"table {name}, column {field.name}: NaN at row {row}; write null and say why")
    keys = UNIQUE.get(name)
    if keys and table.num_rows:
        counts = table.select(list(keys)).group_by(list(keys)).aggregate([([], "count_all")])
        repeated = counts.filter(pc.greater(counts.column("count_all"), 1))
        if repeated.num_rows:
            first = {k: repeated.column(k)[0].as_py() for k in keys}
            raise TableError(f"table {name}: {repeated.num_rows} keys occur more than once, first {first}")
    if name == "items":
        unknown = set(pc.unique(table.column("group")).to_pylist()) - set(GROUPS)
        if unknown:
            raise TableError(f"table items: unknown group {sorted(unknown)}; groups are {', '.join(GROUPS)}")
    if name == "scores":
        silent = pc.and_(pc.is_null(table.column("value")), pc.is_null(table.column("note")))
        if pc.any(silent).as_py():
            raise TableError(f"table scores: row {pc.index(silent, True).as_py()} is null without a note")


def to_table(frame: pd.DataFrame | pa.Table | Iterable[dict], name: str) -> pa.Table:
    """`frame` as an Arrow table in the column order and types of contract `name` (nullable columns may be left out)."""
    expected = schema(name)
    if isinstance(frame, pa.Table):
        table = frame
    elif isinstance(frame, pd.DataFrame):
        frame = frame.copy(deep=False)
        for field in expected:
            if field.name not in frame and field.nullable:
                frame[field.name] = None
        unexpected = [c for c in frame.columns if c not in expected.names]
        missing = [c for c in expected.names if c not in frame.columns]
        if unexpected or missing:
            raise TableError(f"table {name}: missing columns {missing}, unexpected columns {unexpected}")
        table = pa.Table.from_pandas(frame, schema=_nullable(expected), preserve_index=False)
    else:
        table = pa.Table.from_pylist(list(frame), schema=_nullable(expected))
    if not set(expected.names) <= set(table.schema.names):
        return table
    table = table.select(expected.names).cast(_nullable(expected))
    return pa.Table.from_arrays(table.columns, schema=expected)


def _nullable(expected: pa.Schema) -> pa.Schema:
    """The same columns, all nullable: `check` finds the missing values and says where, which Arrow's cast does not."""
    return pa.schema([field.with_nullable(True) for field in expected])


def write_table(frame: pd.DataFrame | pa.Table | Iterable[dict], path: Path, name: str) -> str:
    """Check `frame` against contract `name`, write it atomically, return its content fingerprint."""
    table = to_table(frame, name)
    check(table, name)
    content = fingerprint(table)
    table = table.replace_schema_metadata({"table": name, "schema_version": VERSION, "fingerprint": content})
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=ROW_GROUP)
    return content


def read_table(path: Path, name: str, columns: list[str] | None = None) -> pd.DataFrame:
    """Read and check the table at `path`; TableError says which file breaks contract `name`, and how to mend it."""
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{path} is not a readable Parquet file ({error}); delete it and run again") from error
    try:
        check(table, name)
    except TableError as error:
        raise TableError(f"{path}: {error}; delete it and run again") from error
    return (table.select(columns) if columns else table).to_pandas()


def sha256_file(path: Path) -> str:
    """sha256 of a file's bytes, read in blocks."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
