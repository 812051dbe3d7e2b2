"""How a searched method came by its model: a table of its candidates for the page and as a file."""

import csv
import io
import json
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from unlearning.report.write import DASH, number


class Candidate(NamedTuple):
    """One candidate: the values it changed, the criterion's figures, and what became of it."""

    seed: int
    number: int
    changed: dict
    figures: dict[str, float | None]
    eligible: bool
    chosen: bool
    note: str | None

    @property
    def outcome(self) -> str:
        """chosen, eligible or not eligible, and why."""
        words = [*(["chosen"] if self.chosen else []), "eligible" if self.eligible else "not eligible"]
        return ", ".join(words) + (f": {self.note}" if self.note else "")


class Search(NamedTuple):
    """A method's candidates, all seeds, and the criterion by which one of each seed was chosen."""

    method: str
    criterion: str
    asks: str
    candidates: tuple[Candidate, ...]


def searches(panel: dict[str, str], selections: pd.DataFrame) -> tuple[Search, ...]:
    """The searches of a panel by method; `selections` are the rows of all tables `selection`."""
    own = selections[(selections[list(panel)] == pd.Series(panel)).all(axis=1)]
    found = []
    for (method, criterion, asks), rows in own.groupby(["method", "criterion", "asks"]):
        candidates = [
            Candidate(
                row.seed, row.candidate, json.loads(row.changed),
                {figure["name"]: figure["value"] for figure in row.figures},
                bool(row.eligible), bool(row.chosen), None if pd.isna(row.note) else row.note,
            )
            for row in rows.sort_values(["seed", "candidate"]).itertuples()
        ]  # fmt: skip
        found.append(Search(method, criterion, asks, tuple(candidates)))
    return tuple(found)


def unmet(found: Sequence[Search]) -> list[str]:
    """A sentence for each method of which some seed's model does not meet the criterion."""
    said = []
    for search in found:
        seeds = [str(c.seed) for c in search.candidates if c.chosen and not c.eligible]
        if seeds:
            said.append(
                f"No candidate of {search.method} meets its criterion (seed {', '.join(seeds)}): the least far off "
                "stands for it."
            )
    return said


def _union(names: Sequence[dict]) -> list[str]:
    return list(dict.fromkeys(name for one in names for name in one))


def view(search: Search) -> dict:
    """What the page needs of a search: heads and rows as text, with what a cell is sorted by."""
    changed, figures = _union([c.changed for c in search.candidates]), _union([c.figures for c in search.candidates])
    rows = [
        {
            "name": f"{search.method}~{c.number}", "seed": c.seed, "chosen": c.chosen, "outcome": c.outcome,
            "changed": [c.changed.get(key, DASH) for key in changed],
            "figures": [_figure(c.figures.get(name)) for name in figures],
        }
        for c in search.candidates
    ]  # fmt: skip
    return {
        "method": search.method, "criterion": search.criterion, "asks": search.asks, "rows": rows, "changed": changed,
        "figures": figures,
    }  # fmt: skip


def _figure(value: float | None) -> dict:
    return {"text": DASH if value is None else number(value, "ps"), "sort": "" if value is None else repr(value)}


def to_csv(found: Sequence[Search]) -> str:
    """One line a candidate with unrounded numbers; a column that a search does not have stays empty."""
    lines = [
        {
            "method": s.method, "seed": c.seed, "candidate": c.number, **c.changed,
            **{name: "" if value is None else repr(value) for name, value in c.figures.items()},
            "criterion": s.criterion, "eligible": c.eligible, "chosen": c.chosen, "note": c.note or "",
        }
        for s in found
        for c in s.candidates
    ]  # fmt: skip
    out = io.StringIO()
    writer = csv.DictWriter(out, _union(lines), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()
