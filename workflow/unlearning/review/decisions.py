"""What people decided: review sheets come back as CSV, XLSX or Label Studio's export, and are checked row by row."""

import difflib
import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pandas as pd

from unlearning.config.problems import nearest
from unlearning.review.csv_file import read_csv
from unlearning.review.label_studio import read_export
from unlearning.review.rows import COLUMNS, CORRECTED, DECISIONS, ENDINGS, NEEDED, TEXTS, ReviewError, Row, column
from unlearning.review.xlsx import read_xlsx

READERS = dict(zip(ENDINGS, (read_csv, read_csv, read_xlsx, read_export), strict=True))
READ = ("id", "cut", "language", "english_value", *TEXTS, "decision", *CORRECTED, "comment", "reviewer", "note")
RESULT = ("id", "decision", *TEXTS, "comment", "reviewer", "english_value", "note")
ALIKE = 0.8  # similarity (difflib's ratio) from which an unknown column is taken for one of the sheet's, misspelt
BROKEN = ("#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#N/A", "#NULL!", "#NUM!")  # what a failed formula shows
MOST = 10  # problems told at once


def decisions(
    paths: str | Path | Sequence[str | Path], ids: Collection[str] | None = None, cut: str | None = None,
    language: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Every decided row of the files at `paths` (.csv, .tsv, .xlsx, Label Studio's .json), columns RESULT.

    `decision` is one of DECISIONS; question, answer, paraphrase and value are what it is about: the corrected text, or
    what stood in the sheet (null where it had no such column). A corrected value takes the old one's place in an
    answer and paraphrase that were not corrected themselves. `note`: a remark on the reading (annotators who
    disagree). Rows without a decision are left out, as are those whose `cut` is not the one asked for.

    `ids`: the identifiers there are; `language`: the one the files are about. ReviewError lists rows of another
    language, unknown decisions and identifiers, a correction that is missing or stands beside another decision, and
    rows about one identifier that disagree.
    """
    paths = [paths] if isinstance(paths, (str, Path)) else paths
    every = [row for path in map(Path, paths) for row in _rows(path)]
    _refuse(problem for row in every for problem in _foreign(row, language))
    rows = [row for row in every if _is_for(row, cut)]
    _refuse(problem for row in rows for problem in _problems(row, ids))
    decided = [(row.place, _decided(row)) for row in rows if row.cells["decision"]]
    _refuse(_disagreements(decided))
    found: dict[str, dict] = {}
    for _, entry in decided:
        found.setdefault(entry["id"], entry)
    return pd.DataFrame(list(found.values()), columns=list(RESULT), dtype=object)


def _refuse(problems: Iterable[str]) -> None:
    found = list(itertools.islice(problems, MOST + 1))
    if found:
        more = "\n  … and more" if len(found) > MOST else ""
        raise ReviewError("people's decisions:\n  " + "\n  ".join(found[:MOST]) + more)


def same(one: str, other: str) -> bool:
    """Whether two texts are equal but for spaces, line ends and the composition of accents (programs change these)."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def beside(rows: pd.DataFrame, decided: pd.DataFrame, key: str = "id") -> pd.DataFrame:
    """What is decided about each row of `rows` (same index; column `key` is the identifier), null where nothing is."""
    return rows[[key]].merge(decided, left_on=key, right_on="id", how="left").set_axis(rows.index)


def rejection(comment: str | None) -> str:
    """The reason of a row that a person rejected."""
    return f"rejected by a person: {comment}" if isinstance(comment, str) and comment else "rejected by a person"


def remarks(decided: pd.DataFrame, outdated: Iterable[tuple[str, str]]) -> list[str]:
    """What a job's log says of `decided`: the notes on its reading, and the `outdated` (identifier, decision)."""
    noted = [f"{ident}: {note}" for ident, note in zip(decided["id"], decided["note"], strict=True) if note]
    return noted + [f"{i}: the decision '{word}' was about another text; look at the row again" for i, word in outdated]


def still_about(decided: pd.DataFrame, now: pd.DataFrame) -> pd.Series:
    """Whether each row of `decided` is about the row of `now` beside it (same index; True where nothing is decided).

    The fact is the same (`english_value`); an approval or a rejection is about the very text too, while a correction
    brings its own. What a sheet did not say (null, empty) is not compared.
    """
    fits = [_equal(*both) for both in zip(decided["english_value"], now["english_value"], strict=True)]
    for part in TEXTS:
        rows = zip(decided["decision"], decided[part], now[part], strict=True)
        fits = [fit and (how == "correct" or _equal(a, b)) for fit, (how, a, b) in zip(fits, rows, strict=True)]
    return pd.Series(fits, index=now.index, dtype=bool)


def _equal(said: object, now: str) -> bool:
    return not isinstance(said, str) or not said or same(said, now)


def _rows(path: Path) -> list[Row]:
    """The file's rows with the columns of READ: those missing are null, unknown ones are left out."""
    if path.suffix.lower() not in READERS:
        raise ReviewError(f"{path}: decisions are read from {', '.join(READERS)}; save the file as one of these")
    if not path.is_file():
        raise ReviewError(f"{path}: no such file")
    rows = READERS[path.suffix.lower()](path)
    if rows:
        _check_header(path, rows[0].cells)
    return [Row(place, _tidy(cells)) for place, cells in rows]


def _tidy(cells: dict[str, str]) -> dict[str, str | None]:
    """The known columns without spaces around the texts; `decision` in lower case."""
    known = {column(name): text.strip() for name, text in cells.items()}
    found = {name: known.get(name) for name in READ}
    return found | {"decision": (found["decision"] or "").lower()}


def _check_header(path: Path, cells: dict[str, str]) -> None:
    names = [column(name) for name in cells]
    for needed in NEEDED:
        if needed not in names:
            raise ReviewError(
                f"{path}, row 1: no column {needed!r}.{nearest(needed, names)} There are: {', '.join(names)}; keep the "
                "first row of the sheet as it was"
            )
    missing = [name for name in COLUMNS if name not in names]
    for name in names:
        if name.startswith("corrected") and name not in CORRECTED:
            raise ReviewError(
                f"{path}, row 1: no correction is called {name!r}.{nearest(name, CORRECTED)} There are: "
                f"{', '.join(CORRECTED)}; rename the column"
            )
        if name not in COLUMNS and difflib.get_close_matches(name, missing, cutoff=ALIKE):
            raise ReviewError(
                f"{path}, row 1: no column is called {name!r}.{nearest(name, missing)} Rename it; a column of your own "
                "needs a name that is less like one of the sheet's"
            )


def _foreign(row: Row, language: str | None) -> Iterable[str]:
    """That a row is of another language than the file."""
    said = (row.cells["language"] or "").lower()
    if language and said and said != language:
        yield (
            f"{row.place}, column language: {said!r}, but the file is read for {language!r}; put the row into the file "
            f"of {said!r}, or name the file by its rows' language"
        )


def _is_for(row: Row, cut: str | None) -> bool:
    return cut is None or not row.cells["cut"] or row.cells["cut"] == cut


def _problems(row: Row, ids: Collection[str] | None) -> Iterable[str]:
    """What is wrong with one row."""
    cells = row.cells
    word = cells["decision"]
    corrections = [name for name in CORRECTED if cells[name]]
    if word and word not in DECISIONS:
        there = f"There are: {', '.join(DECISIONS)}; leave it empty where nothing is decided"
        yield f"{row.place}, column decision: no decision {word!r}.{nearest(word, DECISIONS)} {there}"
    elif word == "correct" and not corrections:
        yield (
            f"{row.place}, column decision: 'correct' without a correction; fill at least one of {', '.join(CORRECTED)}"
        )
    elif word != "correct" and corrections:
        yield (
            f"{row.place}, column decision: {repr(word) if word else 'empty'}, but {', '.join(corrections)} "
            f"{'holds' if len(corrections) == 1 else 'hold'} a correction; write 'correct' there, or clear "
            f"{', '.join(corrections)} (allowed: {', '.join(DECISIONS)}, or empty for undecided)"
        )
    if word and not cells["id"]:
        yield f"{row.place}, column id: empty; keep the identifier that the sheet gave the row"
    elif word and ids is not None and cells["id"] not in ids:
        yield (
            f"{row.place}, column id: no row {cells['id']!r}.{nearest(cells['id'], ids)} Identifiers are those of the "
            "review sheet; take the row out if it belongs to other data"
        )
    for name in ("decision", *CORRECTED):
        if cells[name] in BROKEN:
            yield f"{row.place}, column {name}: {cells[name]} comes from a formula; type the text, with ' before a sign"
    for name in corrections:
        if shown := _with_zeros(cells[name], cells):
            yield (
                f"{row.place}, column {name}: {cells[name]!r}, where the sheet shows {shown!r}: the spreadsheet took "
                "it for a number; type the text again with ' in front of it"
            )


def _with_zeros(text: str, cells: dict[str, str | None]) -> str | None:
    """The number `text` as the row's own texts write it, with zeros before it that a spreadsheet takes away."""
    shown = " ".join(cells[name] or "" for name in (*TEXTS, "english_value"))
    found = re.search(rf"(?<!\d)0+{text}(?!\d)", shown) if text.isdecimal() else None
    return found and found.group()


def _decided(row: Row) -> dict:
    cells = row.cells
    texts = {part: cells[f"corrected_{part}"] or cells[part] or None for part in TEXTS}
    if cells["corrected_value"] and cells["value"]:
        for part in ("answer", "paraphrase"):
            if texts[part] and not cells[f"corrected_{part}"]:
                texts[part] = texts[part].replace(cells["value"], cells["corrected_value"])
    return {name: cells[name] for name in RESULT if name not in TEXTS} | texts


def _disagreements(decided: list[tuple[str, dict]]) -> Iterable[str]:
    first: dict[str, tuple[str, dict]] = {}
    for place, entry in decided:
        before, earlier = first.setdefault(entry["id"], (place, entry))
        if any(entry[name] != earlier[name] for name in ("decision", *TEXTS)):
            yield (
                f"{place}: {entry['decision']} for {entry['id']!r}, but {before} says {earlier['decision']}"
                f"{' with another text' if entry['decision'] == earlier['decision'] else ''}; keep one of the two"
            )
