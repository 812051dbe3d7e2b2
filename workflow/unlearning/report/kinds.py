"""Kinds of tables and figures that the report can make, as data."""

from typing import NamedTuple

EACH = "*"  # a column with EACH in a place stands for one column per name found there
REFERENCES = ("base", "target", "retrain")
ALL = (("all", ""),)


class Column(NamedTuple):
    """One column. `label` may hold {group} and {language}, to be filled where EACH stands for them.

    `csv_only` columns are written to the CSV and nowhere else. `optional` ones vanish when no row has them, and stay
    blank in rows that lack them; in any other column a missing row is shown as a dash and said so.
    """

    label: str
    metric: str
    group: str = "forget"
    language: str = "all"
    task: str = "all"
    head: str = ""
    csv_only: bool = False
    optional: bool = False


class Spec(NamedTuple):
    """A table: its file name, title, caption and columns. With `attacks` it has one row per method and attack.

    `plain`: such a table shows the attacked methods without attack too. `across`: a heading; instead of the best method
    of each column, the lowest and second lowest column under that heading are marked in each method's row. `of`: what a
    row is; nothing is marked where that is no method.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    attacks: bool = False
    plain: bool = True
    across: str = ""
    of: str = "method"


class TradeOff(NamedTuple):
    """A scatter of methods: `x` (forgetting) against `y` (what should stay), one panel per (language, title).

    `instead`: what stands for `y` where no model has that.
    """

    name: str
    title: str
    x: Column
    y: Column
    sides: tuple[tuple[str, str], ...]
    instead: Column | None = None


class HeatMap(NamedTuple):
    """Methods by languages, coloured by one metric in 0-1."""

    name: str
    title: str
    metric: str
    group: str


class Bars(NamedTuple):
    """One metric under every attack, grouped by method, one panel per (language, title)."""

    name: str
    title: str
    metric: str
    group: str
    sides: tuple[tuple[str, str], ...]


class Groups(NamedTuple):
    """Several scores of each method as bars side by side, one panel a (title, columns), below each other.

    `gap`: above the bars, how far the first column lies above the second.
    """

    name: str
    title: str
    panels: tuple[tuple[str, tuple[Column, ...]], ...]
    gap: bool = False


class Matrix(NamedTuple):
    """Methods by columns, coloured by scores in 0-1, one panel a (title, columns), beside each other."""

    name: str
    title: str
    panels: tuple[tuple[str, tuple[Column, ...]], ...]


class Lines(NamedTuple):
    """One small plot a method: a line a (label, columns), its points over `ticks`."""

    name: str
    title: str
    ticks: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Column, ...]], ...]
    across: int = 4


class Radar(NamedTuple):
    """One polygon a method over `axes`, each 0-1 and higher better: the first of an axis' columns with numbers."""

    name: str
    title: str
    axes: tuple[tuple[Column, ...], ...]


class Epochs(NamedTuple):
    """Scores by epoch of the methods that are scored after several, one small plot a column, `across` in a row."""

    name: str
    title: str
    columns: tuple[Column, ...]
    across: int = 3


SEEDS = "Several seeds are averaged, as are their interval bounds; the spread between seeds is in the CSV."
