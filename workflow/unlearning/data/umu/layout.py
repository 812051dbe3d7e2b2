"""UMU-Bench's examples, items and splits, from people and the words of the questions."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from unlearning.data.arrow import Built, table, text_lists, user_messages
from unlearning.data.mu2 import split_table
from unlearning.data.umu.lists import CHOSEN
from unlearning.data.umu.questions import Questions, options, worded
from unlearning.tables.columns import IMAGE

LANGUAGE = "en"
SIDES = ("text", "image")
GROUPS = {"memorised": "retain", "known": "real_people"}
DESCRIPTION = "description"


def build(
    people: pd.DataFrame, questions: Questions, fields: Sequence[str], text_side: str, forget: dict[str, int],
    seed: int, benchmark: str = "umu", practice: int = 1,
) -> Built:  # fmt: skip
    """The tables of one UMU data set; `benchmark` is the name that they carry, `fields` those that are asked about.

    - examples: of everybody, about the picture one question a field (the name too), and by name one question a field
      and the description; by name means in text, with the picture beside it, or not at all, as `text_side` says (text,
      text_with_image, none). Background people are taught what is asked too: classification, cloze, generation; of
      each classification `practice` draws of options, so that these do not tell which answer is meant.
    - items: of memorised people (group retain; a split turns some into forget) and known ones (real_people), each in
      text and about the picture: classification (fields with enough values), cloze, generation of the description.
    - splits: for each name of `forget` the first n memorised people of one seeded order, so the splits are nested.

    Where somebody has no value of a field, nothing is asked about it. ValueError: see `options`, `split_table`.
    """
    people = people.reset_index(drop=True)
    halves = people["background"].fillna("") + " " + people["interests"].fillna("")
    told = people.assign(description=halves.str.strip().replace("", None))
    taught = list(_training(told, questions, fields, text_side))
    asked = list(_tasks(told, questions, fields, seed))
    practised = [
        rows[rows["role"] == "background"] for rows in (*asked, *_redrawn(told, questions, fields, seed, practice))
    ]
    if text_side == "text":  # or else the description would be taught in the same words twice
        practised = [rows[(rows["form"] != "generation") | (rows["side"] != "text")] for rows in practised]
    examples, items = _ordered([*taught, *practised]), _ordered(rows[rows["role"].isin(GROUPS)] for rows in asked)
    members = _ordered([*taught, *asked]).drop_duplicates("knowledge_id")
    pictures = pa.array(people["image"], IMAGE)
    return Built(
        _examples(examples, pictures, benchmark), _items(items, pictures, benchmark), split_table(members, forget, seed)
    )


def _training(people: pd.DataFrame, questions: Questions, fields: Sequence[str], text_side: str):
    """What everybody's training rows are: about the picture (MM_QA), then by name (UM_QA)."""
    for field in ("name", *fields):
        yield _rows(people, field, "question", "image", questions)
    for field in () if text_side == "none" else (*fields, DESCRIPTION):
        yield _rows(people, field, "question", text_side, questions)


def _tasks(people: pd.DataFrame, questions: Questions, fields: Sequence[str], seed: int):
    """The three tasks, each in both modalities."""
    for side in SIDES:
        for field in fields:
            if field in CHOSEN:
                yield _rows(people, field, "classification", side, questions, seed)
            yield _rows(people, field, "cloze", side, questions)
        yield _rows(people, DESCRIPTION, "generation", side, questions)


def _redrawn(people: pd.DataFrame, questions: Questions, fields: Sequence[str], seed: int, practice: int):
    """The classifications again, with other options: draw 2 to `practice`."""
    for draw in range(2, practice + 1):
        for side in SIDES:
            for field in (field for field in fields if field in CHOSEN):
                yield _rows(people, field, "classification", side, questions, seed, draw)


def _rows(
    people: pd.DataFrame, field: str, form: str, side: str, questions: Questions, seed: int | None = None, draw: int = 1
) -> pd.DataFrame:
    """One row for each person who has the field; `draw`: which draw of options."""
    there = people[people[field].notna()]
    words = questions.wordings[field, "question" if form == "generation" else form]
    who = there["name"] if side != "image" else [questions.shown] * len(there)
    knowledge = there["person_id"] + f"/{field}"
    choices, correct, listed = None, None, None
    if form == "classification":
        choices, correct = options(there[field], knowledge + (f"/{draw}" if draw > 1 else ""), seed)
        listed = [questions.between.join(texts) for texts in choices]
    form = DESCRIPTION if field == DESCRIPTION and form == "question" else form
    found = pd.DataFrame({
        "at": there.index, "person_id": there["person_id"], "role": there["role"], "knowledge_id": knowledge,
        "form": form, "side": side, "question": worded(words, who, listed), "answer": there[field],
        "value": None if field == DESCRIPTION else there[field],
    }, dtype=object)  # fmt: skip
    found["options"] = choices if choices is not None else [[] for _ in range(len(found))]
    found["correct"] = correct
    return found.assign(ident=found["knowledge_id"] + f"/{form}/{side}" + (f"/{draw}" if draw > 1 else ""))


def _ordered(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The rows person by person, so that a picture's copies lie beside each other and are stored as one."""
    rows = pd.concat(parts, ignore_index=True)
    return rows.sort_values("at", kind="stable", ignore_index=True)


def _common(rows: pd.DataFrame, pictures: pa.Array, benchmark: str) -> dict:
    shown = rows["side"] != "text"
    return {
        "benchmark": benchmark, "knowledge_id": rows["knowledge_id"], "person_id": rows["person_id"],
        "language": LANGUAGE, "modality": shown.map({True: "image", False: "text"}),
        "image": pictures.take(pa.array(rows["at"].where(shown, None), pa.int64())),
        "messages": user_messages(rows["question"]), "value": rows["value"],
    }  # fmt: skip


def _examples(rows: pd.DataFrame, pictures: pa.Array, benchmark: str) -> pa.Table:
    return table("examples", len(rows), _common(rows, pictures, benchmark) | {
        "example_id": rows["ident"], "answer": rows["answer"],
        "group": rows["role"].replace({"known": "background"}),
    })  # fmt: skip


def _items(rows: pd.DataFrame, pictures: pa.Array, benchmark: str) -> pa.Table:
    return table("items", len(rows), _common(rows, pictures, benchmark) | {
        "item_id": rows["ident"], "task": rows["form"], "group": rows["role"].map(GROUPS),
        "reference": rows["answer"], "options": text_lists(rows["options"]), "correct_option": rows["correct"],
    })  # fmt: skip
