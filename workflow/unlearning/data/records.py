"""Reading one file of records: Parquet, CSV, a JSON array or JSON Lines, told apart by content, then by name."""

import json
import warnings
from pathlib import Path

import pandas as pd

from unlearning.data.files_spec import FilesError


def read_records(path: Path | str) -> pd.DataFrame:
    """The records at `path`, one row each, every cell as the file has it (text stays text: no dates, no NA guessing).

    FilesError: no such file, empty, not UTF-8, or a line that is not a JSON object (with its number).
    """
    path = Path(path)
    if not path.is_file():
        raise FilesError(f"{path}: no such file; paths count from the folder the workflow runs in")
    head = path.open("rb").read(4)
    try:
        frame = _parquet(path) if head == b"PAR1" else _text(path)
    except UnicodeDecodeError as error:
        raise FilesError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if frame.empty:
        raise FilesError(f"{path}: holds no records")
    return frame


def place(path: Path | str, row: int) -> str:
    """Where record `row` (from 0) of the file stands, counted from 1: "<path>, line 7", or record 7 without lines."""
    path = Path(path)
    csv = path.suffix.lower() in (".csv", ".tsv")
    starts = []
    if path.open("rb").read(4) != b"PAR1":
        content = path.read_text(encoding="utf-8-sig")
        if csv or not content.lstrip().startswith("["):
            starts = _starts(content, quotes=csv)[csv:]  # the header is no record
    return f"{path}, line {starts[row]}" if row < len(starts) else f"{path}, record {row + 1}"


def _starts(content: str, quotes: bool) -> list[int]:
    """Numbers of the lines at which records start; with `quotes`, a quoted field may go on over several lines."""
    starts, inside = [], False
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip() and not inside:
            starts.append(number)
        inside ^= quotes and line.count('"') % 2 == 1
    return starts


def _parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pd.DataFrame(pq.read_table(path).to_pydict(), dtype=object)
    except pa.ArrowInvalid as error:
        raise FilesError(f"{path}: not readable as Parquet: {error}") from None


def _text(path: Path) -> pd.DataFrame:
    content = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() in (".csv", ".tsv"):
        return _csv(path)
    if content.lstrip().startswith("["):
        return _frame(_json(content, f"{path}"), path)
    lines = [(number, line) for number, line in enumerate(content.split("\n"), start=1) if line.strip()]
    return _frame([_json(line, f"{path}, line {number}") for number, line in lines], path)


def _csv(path: Path) -> pd.DataFrame:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # else pandas drops the fields beyond the header
            return pd.read_csv(
                path, sep=separator, dtype=object, keep_default_na=False, encoding="utf-8-sig", index_col=False
            )
    except pd.errors.ParserWarning:
        raise FilesError(f"{path}: rows have more fields than the header; quote the texts that hold commas") from None
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except pd.errors.ParserError as error:
        raise FilesError(f"{path}: not readable as CSV: {error}") from None


def _json(text: str, where: str):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FilesError(
            f"{where}: not JSON ({error.msg}): {text.strip()[:60]!r}; one object a line, or one array of objects"
        ) from None


def _frame(records: list, path: Path) -> pd.DataFrame:
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise FilesError(f"{path}, record {row}: should be a JSON object, is {type(record).__name__}")
    return pd.DataFrame(records, dtype=object)
