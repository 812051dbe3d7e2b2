"""Anyone's own data: `examples`, `items` and `splits` from files described by a specification (see `files_spec`).

TOFU is one configuration of it. Identifiers are "<set>/<row of its file>", never the question (questions repeat).
"""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from unlearning.data.arrow import Built, candidates, table, text_lists, user_messages
from unlearning.data.cells import CellError, one_text, paraphrase_text, texts
from unlearning.data.files_spec import (
    COLUMNS,
    LIST_COLUMNS,
    MEMBER_GROUPS,
    PASSAGE,
    FilesError,
    checked,
    source_files,
)
from unlearning.data.leak.chunks import chunk
from unlearning.data.records import place, read_records
from unlearning.text import choices


def build(spec: dict, benchmark: str = "files") -> Built:
    """The tables of the data that `spec` describes; FilesError names the file, key or row that is wrong.

    - examples: sets with train: true; group memorised for forget and retain sets, background for the others.
    - items: every question of every set but background; forget sets carry the base group retain, a split says the rest.
    - splits: per split, each row of the forget and retain sets, taught or only asked: forget in the named sets, else
      retain.

    A record is a question and its answer, a document, or a passage. A document is taught as plain text, without a
    question or a chat template, and not asked. A passage, a prompt and its continuation, is asked as plain text (task
    PASSAGE), and not taught. Where a question has options, they are part of it, and the answer is
    the right one with its letter (see `unlearning.text.choices`).
    """
    spec = checked(spec)
    tables = {path: read_records(path) for path in source_files(spec)}
    _check_columns_exist(tables, spec["columns"])
    sets = [_read_set(name, entry, spec, tables) for name, entry in spec["sets"].items()]
    records = pd.concat(sets, ignore_index=True)
    _check_identifiers(records)
    _check_overlap(records)
    records = _lettered(records)
    asked = records[records["question"].notna() & (records["set_group"] != "background")]
    return Built(
        _examples(records[records["train"]], benchmark), _items(asked, benchmark), _splits(records, spec["splits"])
    )


def _check_columns_exist(tables: dict[str, pd.DataFrame], columns: dict) -> None:
    existing = list(dict.fromkeys(column for table in tables.values() for column in table.columns))
    for role, named in columns.items():
        for column in _as_list(named):
            if column not in existing:
                raise FilesError(
                    f"files.columns.{role}: no file has a column {column!r}; columns are {', '.join(existing)}"
                )


def _as_list(named: str | list[str]) -> list[str]:
    return [named] if isinstance(named, str) else list(named)


def _read_set(name: str, entry: dict, spec: dict, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One set's records with our column names, its identifiers and its group; the index is the row in the file."""
    found, where = tables[entry["file"]], f"files.sets.{name}, {entry['file']}"
    first, end = entry["rows"] or (0, len(found))
    if end > len(found):
        raise FilesError(f"{where}: rows [{first}, {end}] of {len(found)}")
    records = _mapped(found.iloc[first:end], entry["columns"] or spec["columns"], name, entry["file"])
    if entry["align"]:
        other = _mapped(tables[entry["align"]], spec["columns"], name, entry["align"])
        _align(records, other, f"{where} and {entry['align']}")
    records = _passages(records, name, entry)
    records["id"] = name + "/" + records.index.astype("str")
    if entry["chunk_words"]:
        records = _chunked(records, entry["chunk_words"])
    if entry["answer_words"]:
        records["answer"] = records["answer"].map(lambda text: first_words(text, entry["answer_words"]))
    records["knowledge_id"] = records["knowledge_id"].where(records["knowledge_id"].notna(), records["id"])
    if entry["rows_per_person"]:
        records["person_id"] = name + "/p" + (records.index // entry["rows_per_person"]).astype("str")
    _check_texts(records, name, entry["file"])
    return records.assign(set=name, set_group=entry["group"], train=entry["train"], language=spec["language"])


def _mapped(found: pd.DataFrame, columns: dict, name: str, path: str) -> pd.DataFrame:
    """`found` under our names: texts or None, lists for LIST_COLUMNS; a role may be spread over several columns."""
    for role in ("question", "answer"):
        others = {columns.get("document"), columns.get("prompt")} & set(found.columns)
        if role in columns and columns[role] not in found.columns and not others:
            raise FilesError(
                f"files.sets.{name}, {path}: no column {columns[role]!r} ({role}); "
                f"columns are {', '.join(map(str, found.columns))}"
            )
    mapped = pd.DataFrame(index=found.index)
    for role in COLUMNS:
        present = [c for c in _as_list(columns.get(role, [])) if c in found.columns]
        read = texts if role in LIST_COLUMNS else paraphrase_text if role == "paraphrase" else one_text
        cells = [_cells(found[column], read, f"files.sets.{name}", path, role) for column in present]
        if role in LIST_COLUMNS:
            cells = [[sum(row, []) for row in zip(*cells, strict=True)]] if cells else []
        mapped[role] = pd.Series(cells[0] if cells else [None] * len(found), index=found.index, dtype=object)
    return mapped.astype(object)


def _passages(records: pd.DataFrame, name: str, entry: dict) -> pd.DataFrame:
    """A passage's prompt and continuation as question and answer; column `passage` says which records are one."""
    passage = records["prompt"].notna()
    if passage.any() and entry["train"]:
        raise FilesError(f"files.sets.{name}: its passages (columns.prompt) are asked only; set train: false")
    own = {"question": "prompt", "answer": "continuation"}
    return records.assign(
        passage=passage, **{role: records[c].where(passage, records[role]) for role, c in own.items()}
    )


def _chunked(records: pd.DataFrame, words: int) -> pd.DataFrame:
    """Each document in pieces of whole sentences, records of their own named <id>/<number>."""
    pieces = [[text] if text is None else list(chunk(text, "", words)["text"]) for text in records["document"]]
    rows = records.assign(document=pieces).explode("document")
    number = rows.groupby("id").cumcount().astype("str")
    return rows.assign(id=rows["id"].where(rows["document"].isna(), rows["id"] + "/" + number))


def first_words(text: str | None, n: int) -> str | None:
    """The first `n` words of `text`, as they stand in it."""
    return text and re.match(rf"(?:\s*\S+){{0,{n}}}", text)[0]


def _cells(column: pd.Series, read: Callable, where: str, path: str, role: str) -> list:
    """Every cell of `column` by `read`; FilesError says at which line the first one that cannot be read stands."""
    cells = []
    for row, cell in column.items():
        try:
            cells.append(read(cell))
        except CellError as error:
            raise FilesError(f"{where}, {place(path, row)}, column {column.name!r} ({role}): {error}") from None
    return cells


def _align(records: pd.DataFrame, other: pd.DataFrame, where: str) -> None:
    """Bring what the aligned file adds, row by row, once its questions are seen to be the same."""
    if len(other) != len(records):
        raise FilesError(
            f"{where}: {len(records)} and {len(other)} rows; the aligned file needs one for each row of the set"
        )
    differs = np.flatnonzero(other["question"].to_numpy() != records["question"].to_numpy())
    if differs.size:
        row = differs[0]
        raise FilesError(
            f"{where}: {differs.size} of {len(records)} questions differ, first at row {row} of the set: "
            f"{records['question'].iloc[row]!r} and {other['question'].iloc[row]!r}; align them row by row"
        )
    for role in COLUMNS:
        if records[role].isna().all():
            records[role] = other[role].to_numpy()


def _check_texts(records: pd.DataFrame, name: str, path: str) -> None:
    documents = records["document"].notna() & records["question"].isna()
    for role in ("question", "answer"):
        empty = records.index[records[role].isna() & ~documents]
        if len(empty):
            raise FilesError(
                f"files.sets.{name}, {place(path, empty[0])}: row {empty[0]} has no {role} ({len(empty)} such rows, "
                "counted from 0); fill or remove them"
            )


def _check_identifiers(records: pd.DataFrame) -> None:
    repeated = records[records["knowledge_id"].duplicated(keep=False)]
    if len(repeated):
        first = repeated["knowledge_id"].iloc[0]
        at = ", ".join(repeated.loc[repeated["knowledge_id"] == first, "id"])
        raise FilesError(f"knowledge_id {first!r} stands at {at}; give each row its own, or no column")


def _check_overlap(records: pd.DataFrame) -> None:
    """Refuse a record that is both trained on and held out, or both a forget and a retain row."""
    trained, unseen = records[records["train"]], records[~records["train"]]
    _refuse_common(trained, unseen, "trained on and held out (train: false)")
    _refuse_common(
        records[records["set_group"] == "forget"],
        records[records["set_group"] == "retain"],
        "in a forget and a retain set",
    )


def _refuse_common(one: pd.DataFrame, other: pd.DataFrame, words: str) -> None:
    keys = ["question", "answer", "document"]
    common = one[[*keys, "id"]].merge(other[[*keys, "id"]], on=keys, suffixes=("", "_other"))
    if len(common):
        first = common.iloc[0]
        raise FilesError(
            f"{len(common)} records are both {words}, first {first['id']} = {first['id_other']}; keep each in one set"
        )


def _lettered(records: pd.DataFrame) -> pd.DataFrame:
    """`records` with the options in the question, the right one as the answer and its index as correct_option."""
    chooses = (
        records["options"].map(lambda cell: isinstance(cell, list) and len(cell) > 0) & records["question"].notna()
    )
    rows = records[chooses]
    for ident, options in zip(rows["id"], rows["options"], strict=True):
        if not 2 <= len(options) <= len(choices.LETTERS):
            raise FilesError(f"{ident}: {len(options)} options; give 2 to {len(choices.LETTERS)}, or none")
    cells = zip(rows["id"], rows["options"], rows["correct_option"], rows["answer"], strict=True)
    right = [correct_option(*row) for row in cells]
    made = {
        "question": [choices.asked(*row) for row in zip(rows["question"], rows["options"], strict=True)],
        "answer": [choices.lettered(*row) for row in zip(rows["options"], right, strict=True)],
        "correct_option": right,
    }
    records = records.assign(correct_option=records["correct_option"].where(chooses, None))
    for column, cells in made.items():
        records.loc[chooses, column] = pd.Series(cells, index=rows.index, dtype=object)
    return records


def _examples(records: pd.DataFrame, benchmark: str) -> pa.Table:
    document = records["question"].isna()
    return table("examples", len(records), {
        "example_id": records["id"], "benchmark": benchmark, "knowledge_id": records["knowledge_id"],
        "group": records["set_group"].isin(MEMBER_GROUPS).map({True: "memorised", False: "background"}),
        "person_id": records["person_id"], "language": records["language"], "modality": "text",
        "messages": user_messages(records["question"]), "value": records["value"], "domain": records["set"],
        "answer": records["answer"].where(~document, records["document"]),
    })  # fmt: skip


def _items(records: pd.DataFrame, benchmark: str) -> pa.Table:
    lists = {role: records[role].map(lambda cell: cell if isinstance(cell, list) else []) for role in LIST_COLUMNS}
    further = [
        ({"paraphrase": p} if p is not None else {}) | {f"perturbed_{i}": t for i, t in enumerate(wrong)}
        for p, wrong in zip(records["paraphrase"], lists["perturbed"], strict=True)
    ]
    return table("items", len(records), {
        "item_id": records["id"], "benchmark": benchmark, "modality": "text",
        "task": records["passage"].map({True: PASSAGE, False: "qa"}),
        "group": records["set_group"].replace("forget", "retain"),
        "knowledge_id": records["knowledge_id"], "person_id": records["person_id"], "language": records["language"],
        "messages": user_messages(records["question"], records["passage"]),
        "reference": records["answer"], "value": records["value"],
        "aliases": text_lists(lists["aliases"]), "options": text_lists(lists["options"]),
        "correct_option": pa.array(records["correct_option"].to_list(), pa.int32()),
        "candidates": candidates(pd.Series(further, dtype=object)),
    })  # fmt: skip


def correct_option(ident: str, options: list[str], given: str | None, answer: str) -> int:
    """The right option's index, from `given` (index from 0, letter, or the option's text), else from the answer.

    A number that is both an index and an option is the index in `given`, the option as an answer.
    """
    wanted = answer if given is None else given
    text = wanted.strip()
    index = int(text) if text.isdigit() else ord(text.upper()) - ord("A") if len(text) == 1 and text.isalpha() else -1
    if wanted in options and not (given is not None and text.isdigit() and index < len(options)):
        return options.index(wanted)
    if not 0 <= index < len(options):
        raise FilesError(f"{ident}: right option {wanted!r} is not among {options}; give text, letter or index from 0")
    return index


def _splits(records: pd.DataFrame, splits: dict[str, list[str]]) -> pd.DataFrame:
    members = records[records["set_group"].isin(MEMBER_GROUPS)]
    tables = []
    for split, names in splits.items():
        forgotten = members["set"].isin(names)
        if forgotten.all():
            raise FilesError(f"files.splits.{split}: {names} are all there is; keep a set to retain")
        group = np.where(forgotten, "forget", "retain")
        tables.append(pd.DataFrame({"split": split, "knowledge_id": members["knowledge_id"], "group": group}))
    return pd.concat(tables, ignore_index=True)
