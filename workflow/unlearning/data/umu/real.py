"""Real people from files: a table of profiles and the pictures that it names, all in one folder."""

import datetime
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from unlearning.data.cells import CellError, one_text
from unlearning.data.files_spec import FilesError
from unlearning.data.records import place, read_records
from unlearning.data.text import fold
from unlearning.data.umu.drawing import png
from unlearning.data.umu.lists import CHOSEN, FIELDS, OPTIONS
from unlearning.data.umu.people import COLUMNS, written

if TYPE_CHECKING:
    from PIL import Image

NEEDED = ("id", "name", "image")
FREE = ("background", "interests")


def read_profiles(path: Path | str) -> pd.DataFrame:
    """Columns id, name, image (path below the table's folder), and each of FIELDS and FREE, None where there is none.

    `path`: CSV, Parquet, JSON or JSON Lines. FilesError, with file, row and column: a column or a cell is missing, an
    id or a name occurs twice, a column's name is nearly one of these, a picture is not there or not below the folder, a
    cell has several lines, a value holds a period or a semicolon, a birth date is not written as 1984-12-31.
    """
    path = Path(path)
    records = read_records(path)
    for column in [str(name) for name in records if name not in (*NEEDED, *FIELDS, *FREE)]:
        if near := difflib.get_close_matches(column.lower(), (*NEEDED, *FIELDS, *FREE), 1, 0.65):
            raise FilesError(f"{path}: column {column!r} is not read; rename it to {near[0]!r}, or to something else")
    if lost := [name for name in NEEDED if name not in records]:
        raise FilesError(f"{path}: no column {', '.join(lost)}; columns are {', '.join(map(str, records))}")
    rows = [_row(record, number, path) for number, record in enumerate(records.to_dict("records"))]
    for column in ("id", "name"):
        seen: set[str] = set()
        for number, row in enumerate(rows):
            if fold(row[column]) in seen:
                raise FilesError(f"{place(path, number)}, {column}: {row[column]!r} occurs twice; keep one")
            seen.add(fold(row[column]))
    return pd.DataFrame(rows, columns=[*NEEDED, *FIELDS, *FREE], dtype=object)


def _row(record: Mapping, number: int, path: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for column in (*NEEDED, *FIELDS, *FREE):
        try:
            found[column] = _cell(column, record.get(column), path.parent)
        except CellError as error:
            raise FilesError(f"{place(path, number)}, {column}: {error}") from None
    return found


def _cell(column: str, cell: object, folder: Path) -> str | None:
    text = one_text(cell)
    text = None if text is None else text.strip()
    if text is None and column in NEEDED:
        raise CellError("is empty; everybody needs an id, a name and an image")
    if text is not None and len(text.splitlines()) > 1:
        raise CellError("has several lines; write it in one")
    if text is None or column in FREE:
        return text
    if column == "id" and "/" in text:
        raise CellError(f"{text!r} holds a slash; use letters, digits, dashes")
    if column == "image":
        inside = PurePosixPath(text)
        below = (folder / inside).resolve().is_relative_to(folder.resolve())
        if inside.is_absolute() or ".." in inside.parts or not below:
            raise CellError(f"{text!r} should be a path below the table's folder; copy the picture there")
        if not (folder / inside).is_file():
            raise CellError(f"no picture {text!r} in the table's folder; mend the path, or put it there")
    if column == "birth_date":
        try:
            day = text.removesuffix(" 00:00:00")  # as a data frame writes a day
            return written(datetime.datetime.strptime(day, "%Y-%m-%d").date())
        except ValueError:
            raise CellError(f"{text!r} is no date; write it as 1984-12-31, or leave it empty") from None
    if column in FIELDS and (sign := next((sign for sign in ".;" if sign in text), None)):
        why = {".": "a period, where an answer is cut off", ";": "a semicolon, which separates options"}[sign]
        raise CellError(f"{text!r} holds {why}; write it without")
    return text


def picture_files(path: Path | str) -> list[str]:
    """The pictures that the table at `path` names, each once. FilesError as `read_profiles`."""
    folder = Path(path).parent
    return sorted({str(folder / name) for name in read_profiles(path)["image"]})


def read_real(path: Path | str, genders: Sequence[str], size: int) -> pd.DataFrame:
    """Table `people` of the profiles at `path`, role known, pictures cut to squares of `size` pixels.

    FilesError as `read_profiles`, and for what is no picture or none of `genders`.
    """
    profiles = read_profiles(path)
    rows = []
    for number, row in enumerate(profiles.to_dict("records")):
        ident = f"real-{row.pop('id')}"
        if row["gender"] not in (None, *genders):
            raise FilesError(
                f"{place(path, number)}, gender: {row['gender']!r} should be {' or '.join(genders)}, or empty (neither "
                "is part of the other, so that an answer can be told right)"
            )
        image = {
            "bytes": png(_square(Path(path).parent / row["image"], size, place(path, number))),
            "path": f"{ident}.png",
        }
        rows.append(row | {"person_id": ident, "role": "known", "image": image, "face": None})
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object)


def _square(path: Path, size: int, where: str) -> "Image.Image":
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            if image.mode.startswith(("I", "F")):  # Pillow would cut the numbers off at 255
                raise ValueError("more than 8 bits")
            upright = ImageOps.exif_transpose(image)
            if upright.has_transparency_data:
                paper = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(paper, upright.convert("RGBA"))
            return ImageOps.fit(upright.convert("RGB"), (size, size), Image.Resampling.LANCZOS)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise FilesError(
            f"{where}, image: {path.name} is no picture of 8 bits a colour that Pillow reads; save it as PNG or JPEG"
        ) from None


def joined(invented: pd.DataFrame, real: pd.DataFrame, path: Path | str) -> pd.DataFrame:
    """Both tables `people` as one.

    FilesError: a real person's name is an invented one's, a value stands in another one's, or a field has so few values
    that a question about a real person would have no OPTIONS options.
    """
    people = pd.concat([invented, real], ignore_index=True)
    names = set(map(fold, invented["name"]))
    values = {field: sorted(set(people[field].dropna())) for field in CHOSEN}
    counts = {field: len(set(map(fold, found))) for field, found in values.items()}
    for number, row in enumerate(real.to_dict("records")):
        if fold(row["name"]) in names:
            raise FilesError(
                f"{place(path, number)}, name: {row['name']!r} is an invented person's name too; write it in full, or "
                "take another seed"
            )
        for field in CHOSEN:
            if nested := _nested(row[field], values[field]):
                raise FilesError(
                    f"{place(path, number)}, {field}: of {row[field]!r} and somebody else's {nested[0]!r} one stands "
                    "in the other, so that an answer could not be told right; use words that tell them apart"
                )
            if row[field] is not None and counts[field] < OPTIONS:
                raise FilesError(
                    f"{place(path, number)}, {field}: {row[field]!r} has {counts[field] - 1} other values to be told "
                    f"from, {OPTIONS - 1} are needed; ask for more people, or leave the column out"
                )
    return people


def _nested(value: str | None, values: Sequence[str]) -> list[str]:
    """Those of `values` that hold `value` and more, or stand in it."""
    own = fold(value or "")
    return [other for other in values if own and own != fold(other) and (own in fold(other) or fold(other) in own)]
