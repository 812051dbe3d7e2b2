"""Biographies of real people for task 3, from a file or a data set, and a disjoint sample of them as non-members."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from unlearning.data.cells import CellError, one_text
from unlearning.data.files_spec import FilesError
from unlearning.data.lume.biographies import LONGEST, SHORTEST
from unlearning.data.lume.made import Kept, Made, failing, made, near_duplicate
from unlearning.data.lume.near import Index
from unlearning.data.lume.stories import Draft
from unlearning.data.lume.texts import n_words, no_cut, wrong_length
from unlearning.data.records import place, read_records
from unlearning.data.refused import refusal
from unlearning.seeds import seed_for

COLUMNS = {"id": "id", "text": "text"}  # ours -> the file's; title too, where it has one


def read_biographies(path: Path | str, columns: Mapping[str, str] = COLUMNS) -> pd.DataFrame:
    """Columns id, text and title (None without one) of a JSON Lines, JSON, CSV or Parquet file.

    `columns`: our name -> the file's. A title that the text does not begin with is set before it, with an empty line.
    FilesError: a column or a text is missing, a cell holds something else, an id occurs twice; it names file and row.
    """
    return _checked(read_records(path).to_dict("records"), columns, lambda row: place(path, row), str(path))


def from_datasets(
    name: str, columns: Mapping[str, str] = COLUMNS, split: str = "train", revision: str | None = None,
    config: str | None = None, most: int | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The same, of a data set that `datasets` loads by name or folder: its first `most` rows (None: all), streamed."""
    import datasets

    rows = datasets.load_dataset(name, config, split=split, revision=revision, streaming=True)
    return _checked(itertools.islice(rows, most), columns, lambda row: f"{name}, {split}, record {row + 1}", name)


def _checked(records: Iterable[Mapping], columns: Mapping[str, str], where, source: str) -> pd.DataFrame:
    if unknown := sorted({"text", "id"} - set(columns)) or sorted(set(columns) - {"id", "text", "title"}):
        raise FilesError(f"{source}: columns {dict(columns)}: should say which are id and text, and title if any "
                         f"({', '.join(unknown)})")  # fmt: skip
    found = []
    for number, record in enumerate(records):
        if lost := [name for name in columns.values() if name not in record]:
            raise FilesError(f"{source}: no column {', '.join(lost)}; columns are {', '.join(map(str, record))}")
        row = {}
        for ours, theirs in columns.items():
            try:
                row[ours] = one_text(record[theirs])
            except CellError as error:
                raise FilesError(f"{where(number)}, {theirs}: {error}") from None
            if row[ours] is None and ours != "title":
                raise FilesError(f"{where(number)}, {theirs}: is empty; every biography needs an id and a text")
        found.append(row)
    table_ = pd.DataFrame(found, columns=["id", "title", "text"], dtype=object)
    table_ = table_.where(table_.notna(), None)
    if table_["id"].duplicated().any():
        at = int(table_["id"].duplicated().to_numpy().argmax())
        raise FilesError(f"{where(at)}: id {table_['id'][at]!r} occurs twice; keep one")
    texts = [_titled(row.title, row.text.strip()) for row in table_.itertuples(index=False)]
    return table_.assign(text=pd.Series(texts, dtype=object))


def _titled(title: str | None, text: str) -> str:
    return text if title is None or text.startswith(title) else f"{title}\n\n{text}"


def sample(biographies: pd.DataFrame, forget: int, retain: int, nonmembers: int, seed: int, spare: int = 0) -> Made:
    """Documents of task 3 out of `biographies`: memorised ones, and as non-members a disjoint sample of the others.

    Taken in a seeded order, as long as they have 100 to 200 words, can be cut, and are not much like one taken before;
    what is refused is in `rejected`. `spare` further ones, role background, stand in for memorised ones of which no
    question is found (`questions_llm.replaced`). No questions. ValueError: there are too few of them.
    """
    order = sorted(range(len(biographies)), key=lambda at: seed_for(seed, "lume real", biographies["id"].iloc[at]))
    index, passed = Index(), Counter()
    checks = {
        "length": lambda draft: wrong_length(draft.row["text"], SHORTEST, LONGEST),
        "cut": lambda draft: no_cut(draft.row["text"]),
        "near_duplicate": near_duplicate(index),
    }
    groups = [("memorised", "forget")] * forget + [("memorised", "retain")] * retain
    groups += [("nonmember", None)] * nonmembers + [("background", None)] * spare
    rows, refused = [], []
    for row in biographies.iloc[order].itertuples(index=False):
        if len(rows) == len(groups):
            break
        passed["drawn"] += 1
        draft = Draft({"text": row.text, "characters": [row.title] if row.title else []}, [])
        if failed := failing(draft, checks, passed):
            refused.append(refusal(f"task3-{row.id}", *failed, 0, text=row.text))
            continue
        index.add(row.id, row.text)
        rows.append({"document_id": f"task3-{row.id}", **draft.row, "n_words": n_words(row.text)})
    if len(rows) < len(groups):
        raise ValueError(
            f"{len(groups)} biographies of {SHORTEST} to {LONGEST} words are needed, {len(rows)} of {len(biographies)} "
            "can be used; ask for fewer documents or give more of them"
        )
    kept = Kept(rows, [], refused, {step: passed[step] for step in ("drawn", *checks)} | {"kept": len(rows)})
    return made({"task3": kept}, {row["document_id"]: ("task3", *own) for row, own in zip(rows, groups, strict=True)})
