"""Result tables from score rows: one function builds any table that a `Spec` declares.

A table belongs to one panel (benchmark, base model, setting, split). Its rows are methods, or methods and attacks; a
column is one (metric, group, language, task). Of each run the last epoch counts; seeds are averaged.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from unlearning.report.kinds import EACH, REFERENCES, Column, Spec
from unlearning.report.specs import direction
from unlearning.tables.schemas import GROUPS

PANEL = ("benchmark", "base_model", "setting", "split")
KEY = ("metric", "group", "language", "task")
CHANGE = "_change"


class Cell(NamedTuple):
    """One number: mean over seeds, mean interval bounds, spread between seeds. Null with a `note`; blank without.

    `best`, `second`: it is marked, see `Spec.across`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    n: int = 0
    seeds: int = 0
    note: str | None = None
    best: bool = False
    second: bool = False


class Row(NamedTuple):
    """One line of a table; `reference` for base, target and retrain, `collapsed` if any of its runs was."""

    method: str
    attack: str
    reference: bool
    collapsed: bool
    cells: tuple[Cell, ...]


class Table(NamedTuple):
    """A built table: `columns` are the spec's with every EACH filled in, in the order of each row's cells."""

    spec: Spec
    panel: dict[str, str]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def last_epochs(scores: pd.DataFrame) -> pd.DataFrame:
    """Only the rows of the last epoch of every run (a run: panel, method, seed, attack)."""
    run = [*PANEL, "method", "seed", "attack"]
    return scores[scores["epoch"] == scores.groupby(run)["epoch"].transform("max")]


def with_changes(scores: pd.DataFrame) -> pd.DataFrame:
    """`scores` plus rows `<metric>_change`: the value under an attack minus the same run's value without one.

    Null with the reason where either is null or the run was never scored without the attack.
    """
    keys = [*PANEL, "method", "seed", *KEY]
    plain = scores[scores["attack"] == "none"].set_index(keys)[["value", "note"]]
    attacked = scores[scores["attack"] != "none"].join(plain, on=keys, rsuffix="_none")
    change = attacked["value"] - attacked["value_none"]
    missing = attacked["note"].fillna(attacked["note_none"]).fillna("not scored without the attack")
    rows = attacked.drop(columns=["value_none", "note_none"]).assign(
        metric=attacked["metric"] + CHANGE, value=change, ci_low=None, ci_high=None, note=missing.where(change.isna())
    )
    return pd.concat([scores, rows.astype(scores.dtypes.to_dict())], ignore_index=True) if len(rows) else scores


def averaged(scores: pd.DataFrame, by_epoch: bool = False) -> pd.DataFrame:
    """Mean over seeds of value, ci_low and ci_high (nulls left out), the seeds' standard deviation, and the notes.

    `by_epoch`: each epoch by itself, in column `epoch`; else the rows are those of one epoch a run.
    """
    keys = [*PANEL, "method", "attack", *(["epoch"] if by_epoch else []), *KEY]
    frame = scores.groupby(keys, sort=True).agg(
        value=("value", "mean"), low=("ci_low", "mean"), high=("ci_high", "mean"), spread=("value", "std"),
        n=("n", "min"), seeds=("value", "size"), known=("value", "count"), collapsed=("collapsed", "any"),
    ).reset_index()  # fmt: skip
    said = scores.loc[scores["note"].notna(), [*keys, "note"]].drop_duplicates()
    frame = frame.join(said.groupby(keys)["note"].agg("; ".join), on=keys)
    partly = (frame["known"] > 0) & (frame["known"] < frame["seeds"])
    counts = frame["known"].astype(str) + " of " + frame["seeds"].astype(str) + " seeds have a value: "
    frame.loc[partly, "note"] = counts[partly] + frame.loc[partly, "note"].fillna("no reason given")
    return frame


def panels(means: pd.DataFrame) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """One (identity, rows) per panel, sorted.

    Models that no split belongs to (split `all`: base, target) join every split of their benchmark, base model and
    setting where they were not scored by themselves.
    """
    found = []
    for names, rows in means.groupby(list(PANEL), sort=True):
        panel = dict(zip(PANEL, names, strict=True))
        same = (means[list(PANEL[:3])] == pd.Series({k: panel[k] for k in PANEL[:3]})).all(axis=1)
        if panel["split"] == "all" and (means.loc[same, "split"] != "all").any():
            continue
        shared = means[same & (means["split"] == "all") & ~means["method"].isin(rows["method"])]
        found.append((panel, pd.concat([rows, shared]) if panel["split"] != "all" else rows))
    return found


def language_order(languages: Sequence[str], roles: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """(code, heading) of single languages: training ones, hold-out ones (each as configured), then the rest."""
    single = [x for x in languages if x not in ("train", "holdout", "all") and ":" not in x]
    train = [x for x in roles.get("train", ()) if x in single]
    holdout = [x for x in roles.get("holdout", ()) if x in single]
    rest = sorted(set(single) - set(train) - set(holdout))
    heads = (("Training languages", train), ("Hold-out languages", holdout), ("", rest))
    return [(code, head) for head, codes in heads for code in codes]


def _fill(column: Column, rows: pd.DataFrame, roles: Mapping[str, Sequence[str]]) -> list[Column]:
    """`column` with each EACH replaced by what the rows hold."""
    wanted = pd.Series(True, index=rows.index)
    for field in KEY:
        if getattr(column, field) != EACH:
            wanted &= rows[field] == getattr(column, field)
    keys = rows.loc[wanted, list(KEY)].drop_duplicates()
    if not any(getattr(column, field) == EACH for field in KEY):
        return [column] if len(keys) or not column.optional else []
    heads = {code: column.head for code in keys["language"]}
    if column.language == EACH:
        heads = {code: column.head or head for code, head in language_order(keys["language"].unique(), roles)}
    order = {code: i for i, code in enumerate(heads)}
    found = [k for k in keys.itertuples(index=False) if k.language in heads]
    groups = {group: i for i, group in enumerate(GROUPS)}
    found.sort(key=lambda k: (groups.get(k.group, 99), k.group, order[k.language], k.metric, k.task))
    return [
        column._replace(
            label=column.label.format(group=k.group.replace("_", " "), language=k.language),
            head=heads[k.language], **k._asdict(),
        )
        for k in found
    ]  # fmt: skip


def _number(value) -> float | None:
    return None if pd.isna(value) else float(value)


def _cell(found, column: Column) -> Cell:
    if found is None:
        return Cell(None, note=None if column.optional else "no such row in the scores")
    note = None if pd.isna(found.note) else found.note
    numbers = (_number(v) for v in (found.value, found.low, found.high, found.spread))
    return Cell(*numbers, int(found.n), int(found.seeds), note)


def best_of(values: Sequence[float | None], way: str) -> set[int]:
    """Positions of the best value (all of them when equal); empty for direction `none` or under two candidates."""
    known = [(i, v) for i, v in enumerate(values) if v is not None]
    if way == "none" or len(known) < 2:
        return set()
    rank = {"lower": lambda v: v, "higher": lambda v: -v, "zero": abs}[way]
    top = min(rank(v) for _, v in known)
    return {i for i, v in known if math.isclose(rank(v), top, rel_tol=1e-9, abs_tol=1e-12)}


def _mark(rows: list[Row], columns: Sequence[Column]) -> list[Row]:
    """Mark the best unlearned method of every column, under each attack by itself."""
    cells = [list(row.cells) for row in rows]
    for attack in {row.attack for row in rows}:
        places = [i for i, row in enumerate(rows) if row.attack == attack and not row.reference]
        for j, column in enumerate(columns):
            values = [cells[i][j].value for i in places]
            for k in best_of(values, direction(column.metric, column.group)):
                cells[places[k]][j] = cells[places[k]][j]._replace(best=True)
    return [row._replace(cells=tuple(c)) for row, c in zip(rows, cells, strict=True)]


def _mark_across(rows: list[Row], columns: Sequence[Column], head: str) -> list[Row]:
    """Mark the lowest and the second lowest value under heading `head` in the row of every unlearned method."""
    places = [j for j, column in enumerate(columns) if column.head == head]
    marked = []
    for row in rows:
        cells, values = list(row.cells), [row.cells[j].value for j in places]
        least = set() if row.reference else best_of(values, "lower")
        rest = [None if k in least else value for k, value in enumerate(values)]
        below = min((value for value in rest if value is not None), default=None) if len(least) == 1 else None
        for k, j in enumerate(places):
            second = rest[k] is not None and rest[k] == below
            cells[j] = cells[j]._replace(best=k in least, second=second)
        marked.append(row._replace(cells=tuple(cells)))
    return marked


def row_order(method: str, attack: str) -> tuple:
    """Sort key: base, target, retrain, then methods by name; without an attack first."""
    return (REFERENCES.index(method) if method in REFERENCES else len(REFERENCES), method, attack != "none", attack)


def build(spec: Spec, panel: dict[str, str], rows: pd.DataFrame, roles: Mapping[str, Sequence[str]]) -> Table | None:
    """The table of `spec` for one panel; None when the panel has nothing to put into it.

    `rows` are averaged scores of the panel; `roles` maps train and holdout to their language codes.
    """
    if spec.attacks:
        attacked = rows.loc[rows["attack"] != "none", "method"].unique()
        rows = rows[rows["method"].isin(attacked) & (spec.plain | (rows["attack"] != "none"))]
    else:
        rows = rows[rows["attack"] == "none"]
    columns = tuple(c for column in spec.columns for c in _fill(column, rows, roles))
    wanted = pd.MultiIndex.from_frame(rows[list(KEY)]).isin([tuple(getattr(c, f) for f in KEY) for c in columns])
    if not wanted.any():
        return None
    found = {(r.method, r.attack, r.metric, r.group, r.language, r.task): r for r in rows[wanted].itertuples()}
    collapsed = rows.groupby("method")["collapsed"].any()
    runs = sorted(set(zip(rows["method"], rows["attack"], strict=True)), key=lambda run: row_order(*run))
    lines = [
        Row(method, attack, method in REFERENCES, bool(collapsed[method]),
            tuple(_cell(found.get((method, attack, *(getattr(c, f) for f in KEY))), c) for c in columns))
        for method, attack in runs
    ]  # fmt: skip
    marked = _mark_across(lines, columns, spec.across) if spec.across else _mark(lines, columns)
    return Table(spec, panel, columns, tuple(marked))
