"""How questions and documents were built: how many were left after each step, and how varied kept questions are."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.score.tasks import MULTI
from unlearning.tables.artifacts import read_table

TYPE = "Type"
RATED = " Ratings (0-100) by language models: of all, by aspect, by rater; gap: how far apart two are on one question."


class Construction(NamedTuple):
    """A table of the construction: `rows` have a cell for each of `columns`, the first one names the row."""

    benchmark: str
    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def csv(self) -> str:
        """The table as CSV; no cell holds a comma."""
        return "\n".join(",".join(row) for row in (self.columns, *self.rows)) + "\n"


def read_constructions(paths: Iterable[str]) -> list[Construction]:
    """The tables `funnel` and `quality` at `…/<benchmark>/<cut>/<table>.parquet`, in order."""
    makers = {"funnel": _funnel, "quality": _quality}
    read = [(Path(path), Path(path).stem) for path in sorted(paths)]
    return [makers[name](path.parts[-3], read_table(path, name)) for path, name in read]


def _funnel(benchmark: str, table: pd.DataFrame) -> Construction:
    steps = list(dict.fromkeys(table["step"]))
    counts = table.pivot(index="type", columns="step", values="n")
    kinds = [kind for kind in MULTI if kind in counts.index]
    if not kinds:
        return _documents(benchmark, counts, list(dict.fromkeys(table["type"])), steps)
    rows = tuple((f"{kind.upper()} {MULTI[kind]}", *(str(counts.loc[kind, step]) for step in steps)) for kind in kinds)
    return Construction(
        benchmark, "funnel", "How many questions each step left",
        "By type: groups of facts that match, then those of which a wording gives nothing away (composed), is split "
        "into the facts' hops (decomposed) and has one right answer (unique); and the questions kept.",
        (TYPE, *steps), rows,
    )  # fmt: skip


def _documents(benchmark: str, counts: pd.DataFrame, kinds: list[str], steps: list[str]) -> Construction:
    steps = [*(step for step in steps if step != "kept"), "kept"]
    rows = tuple((kind, *(_count(counts.loc[kind, step]) for step in steps)) for kind in kinds)
    return Construction(
        benchmark, "funnel", "How many documents each step left",
        "By task, and non-members: drafts drawn, those that passed each check, one after the other, and the documents "
        "kept. A dash: the check is none of that task's.",
        ("Task", *steps), rows,
    )  # fmt: skip


def _quality(benchmark: str, table: pd.DataFrame) -> Construction:
    measures = list(dict.fromkeys(table["measure"]))
    values = table.pivot(index="type", columns="measure", values="value")
    counts = table.groupby("type")["n"].max()
    kinds = [kind for kind in ("all", *MULTI) if kind in values.index]
    rows = tuple(
        (kind.upper() if kind in MULTI else kind, str(counts[kind]), *(_number(values.loc[kind, m]) for m in measures))
        for kind in kinds
    )
    notes = sorted({f"{row.type}: {row.note}" for row in table.itertuples(index=False) if isinstance(row.note, str)})
    rated = RATED if any(name.startswith("llm_rating") for name in measures) else ""
    return Construction(
        benchmark, "quality", "How varied the kept questions are",
        "Self-BLEU (0-1): how alike the questions are, lower is more varied. Answer entropy (bits): how evenly the "
        f"answers are spread, higher is more varied.{rated}{' A dash: ' + '; '.join(notes) + '.' if notes else ''}",
        (TYPE, "questions", *measures), rows,
    )  # fmt: skip


def _count(value: float) -> str:
    return "–" if pd.isna(value) else str(int(value))


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.3f}"
