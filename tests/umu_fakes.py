"""Small tables of questions asked in text and about a picture, for the tests of UMU-Bench's scores."""

import pandas as pd

from score_fakes import items, table, view
from unlearning.score.view import Tables

MODALITIES = ("image", "text")
TOWNS = ("Oslo", "Lima", "Bern", "Kiel")


def asked(group: str, person: str, field: str, task: str, value: str, options=(), modalities=MODALITIES) -> list[dict]:
    """The items of one pair."""
    knowledge = f"{person}/{field}"
    return [
        {
            "group": group, "knowledge_id": knowledge, "language": "en", "reference": value, "task": task,
            "value": None if task == "generation" else value, "item_id": f"{knowledge}/{task}/{modality}",
            "person_id": person, "modality": modality, "options": list(options),
            "correct_option": list(options).index(value) if options else None,
            "image": {"bytes": person.encode(), "path": f"{person}.png"} if modality == "image" else None,
            "messages": [{"role": "user", "content": "Who?"}],
        }
        for modality in modalities
    ]  # fmt: skip


def questions(*pairs: list[dict]) -> pd.DataFrame:
    """A table of the items of all `pairs`, with the columns that every benchmark's have."""
    frame = pd.DataFrame([item for pair in pairs for item in pair])
    bare = items(*frame[["group", "knowledge_id", "language", "reference", "value"]].itertuples(index=False, name=None))
    return bare.drop(columns=[c for c in bare if c in frame]).join(frame)


def answered(said: dict[str, tuple]) -> Tables:
    """A model's answers from "<knowledge_id>/<task>" -> (about the picture, in text); None: no answer; a list:
    samples.
    """
    rows = [
        (f"{pair}/{modality}", sample, 0, text, 1, "stop")
        for pair, texts in said.items()
        for modality, told in zip(MODALITIES, texts, strict=True)
        for sample, text in enumerate(told if isinstance(told, list) else [told])
        if text is not None
    ]
    columns = ["item_id", "sample", "part", "text", "n_tokens", "finish_reason"]
    return Tables(answers=pd.DataFrame(rows, columns=columns))


def seen(frame: pd.DataFrame, run: Tables, target: Tables | None = None, **more):
    """A view of one language."""
    return view(frame, run, target, languages={}, **more)


def found(metric, view) -> dict[tuple[str, str, str], dict]:
    """Rows by (group, task, metric)."""
    return {(g, task, name): row for (g, _, task, name), row in table(metric.score(view)).items()}


def values(metric, view) -> dict[tuple[str, str, str], float]:
    return {key: row["value"] for key, row in found(metric, view).items()}


def indel(a: str | list[str], b: str | list[str]) -> float:
    """1 − (insertions and deletions)/(lengths), by the plain table of the longest common subsequence: of letters what
    options are compared by, of words ROUGE-L's F-measure, 2·LCS/(lengths).
    """
    rows = [[0] * (len(b) + 1)]
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(rows[-1][j] + 1 if x == y else max(row[-1], rows[-1][j + 1]))
        rows.append(row)
    return 2 * rows[-1][-1] / (len(a) + len(b)) if a or b else 1.0
