"""Figures as SVG and PNG: trade-offs, heat maps by language, attack bars, scores by epoch, training curves.

Equal scores give equal files: ids in the SVG come from a fixed salt and neither format holds a date. Colours are
Okabe and Ito's, told apart by people with any usual colour vision; methods differ in marker shape as well.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unlearning.report.kinds import REFERENCES, Bars, Column, Epochs, Groups, HeatMap, Lines, Matrix, Radar, TradeOff
from unlearning.report.specs import direction, per_cent
from unlearning.report.tables import language_order, row_order
from unlearning.report.write import ARROWS, DAGGER, NAMES, number

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
LABELS = {"ps": "PS", "se": "SE", "acc_mul": "accuracy, ROUGE-L"}
REFERENCE_MARKERS = {"base": "+", "target": "*", "retrain": "x"}
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True, "svg.hashsalt": "unlearning",
    "svg.fonttype": "path", "figure.dpi": 100, "savefig.dpi": 150, "axes.titlesize": 10, "axes.titlelocation": "left",
}  # fmt: skip


@contextlib.contextmanager
def _figure(width: float, height: float, stem: Path) -> Iterator[Figure]:
    """A figure that is saved as `<stem>.svg` and `<stem>.png` afterwards."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        figure.set_layout_engine("none")  # keep the places found for the SVG instead of looking for them again
        figure.savefig(stem.with_suffix(".png"), metadata={"Software": None})


def _labelled(grid: Sequence) -> dict:
    """label -> handle over several axes, each label once."""
    pairs = [pair for axes in grid for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    return {label: handle for handle, label in pairs}


def _columns(figure: Figure, labels: Sequence[str]) -> int:
    """How many columns of a legend fit below the figure, at most five: inches of a mark, and of each letter."""
    wide = 0.5 + 0.08 * max(map(len, labels))
    return max(1, min(len(labels), 5, int(figure.get_figwidth() / wide)))


def _select(rows: pd.DataFrame, metric: str, group: str, language: str, task: str = "all") -> pd.DataFrame:
    """Non-null rows of one metric; `group` "*" takes any."""
    found = rows[(rows["metric"] == metric) & (rows["language"] == language) & (rows["task"] == task)]
    found = found if group == "*" else found[found["group"] == group]
    return found[found["value"].notna()]


def _methods(rows: pd.DataFrame) -> list[str]:
    return sorted(rows["method"].unique(), key=lambda m: row_order(m, "none"))


def _name(rows: pd.DataFrame, method: str) -> str:
    collapsed = rows.loc[rows["method"] == method, "collapsed"].any()
    return NAMES.get(method, method) + (f" {DAGGER}" if collapsed else "")


def _bounds(row) -> list[list[float]]:
    """Error-bar lengths below and above; 0 where there is no interval."""
    return [[max(row.value - row.low, 0) if not math.isnan(row.low) else 0],
            [max(row.high - row.value, 0) if not math.isnan(row.high) else 0]]  # fmt: skip


def _axis(column: Column) -> str:
    way = {"lower": "lower is better", "higher": "higher is better"}.get(direction(column.metric, column.group), "")
    return f"{column.label} ({way})" if way else column.label


def _frame(axes, values: pd.Series, metric: str, along: str) -> None:
    """Axis limits: 0-1 metrics keep their whole range unless everything lies in a small part of it."""
    if not per_cent(metric) and values.max() > 0.5:
        getattr(axes, f"set_{along}lim")(-0.04, 1.04)


def trade_off(spec: TradeOff, rows: pd.DataFrame, stem: Path) -> bool:
    """Scatter of every model without attack; False when no side has two models with both numbers."""
    rows = rows[rows["attack"] == "none"]
    if spec.instead and not rows["value"][rows["metric"] == spec.y.metric].notna().any():
        spec = spec._replace(y=spec.instead)
    sides = []
    for language, title in spec.sides:
        x, y = (_select(rows, c.metric, c.group, language, c.task).set_index("method") for c in (spec.x, spec.y))
        both = [m for m in _methods(rows) if m in x.index and m in y.index]
        if len(both) > 1:
            sides.append((title, both, x, y))
    if not sides:
        return False
    unlearned = [m for m in _methods(rows) if m not in REFERENCES]
    with _figure(4.9 * len(sides) + 0.2 if len(sides) > 1 else 6.4, 4.6, stem) as figure:
        grid = figure.subplots(1, len(sides), squeeze=False)[0]
        for axes, (title, methods, x, y) in zip(grid, sides, strict=True):
            for method in methods:
                at = unlearned.index(method) if method in unlearned else 0
                colour = COLOURS[at % len(COLOURS)] if method in unlearned else "#000000"
                a, b = x.loc[method], y.loc[method]
                axes.errorbar(
                    a.value, b.value, xerr=_bounds(a), yerr=_bounds(b), color=colour, elinewidth=1, alpha=0.95,
                    marker=REFERENCE_MARKERS.get(method, MARKERS[at % len(MARKERS)]), linestyle="none",
                    markersize=11 if method == "target" else 8, label=_name(rows, method),
                    markeredgewidth=2 if method in ("retrain", "base") else 1,
                )  # fmt: skip
            axes.set(title=title, xlabel=_axis(spec.x), ylabel=_axis(spec.y))
            _frame(axes, x["value"], spec.x.metric, "x")
            _frame(axes, y["value"], spec.y.metric, "y")
        labels = _labelled(grid)
        columns = _columns(figure, labels)
        figure.legend(labels.values(), labels, loc="outside lower left", ncols=columns, frameon=False)
    return True


def heat_map(spec: HeatMap, rows: pd.DataFrame, roles: Mapping[str, Sequence[str]], stem: Path) -> bool:
    """Methods by languages, training and hold-out side by side; False without any single language."""
    rows = rows[(rows["attack"] == "none") & (rows["metric"] == spec.metric) & (rows["group"] == spec.group)]
    rows = rows[rows["task"] == "all"]
    languages = language_order(rows["language"].unique(), roles)
    methods = _methods(rows)
    if not languages:
        return False
    heads = list(dict.fromkeys(head for _, head in languages))
    blocks = [[code for code, head in languages if head == h] for h in heads]
    wide = rows.pivot_table(index="method", columns="language", values="value").reindex(methods)
    names = [_name(rows, m) for m in methods]
    _coloured(
        list(zip(heads, [wide.reindex(columns=block) for block in blocks], strict=True)), names, spec.metric, stem
    )
    return True


def matrix(spec: Matrix, rows: pd.DataFrame, stem: Path) -> bool:
    """Methods by columns without attack, a panel beside the other; False without any number."""
    rows = rows[rows["attack"] == "none"]
    found = [(title, [(c, _values(rows, c)) for c in columns]) for title, columns in spec.panels]
    methods = [m for m in _methods(rows) if any(m in own.index for _, block in found for _, own in block)]
    if not methods:
        return False
    blocks = [(title, pd.DataFrame({c.label: own for c, own in block}, index=methods)) for title, block in found]
    _coloured(blocks, [_name(rows, m) for m in methods], spec.panels[0][1][0].metric, stem)
    return True


def _values(rows: pd.DataFrame, column: Column) -> pd.Series:
    """method -> value of one column."""
    return _select(rows, column.metric, column.group, column.language, column.task).set_index("method")["value"]


def _coloured(blocks: Sequence[tuple[str, pd.DataFrame]], names: Sequence[str], metric: str, stem: Path) -> None:
    """Tables (title, methods × columns) of one metric, beside each other, every cell coloured by its number."""
    wide = sum(len(block.columns) for _, block in blocks)
    with _figure(max(0.62 * wide + 3, 6.4), 0.42 * len(names) + 1.3, stem) as figure:
        ratios = {"width_ratios": [len(block.columns) for _, block in blocks]}
        grid = figure.subplots(1, len(blocks), squeeze=False, sharey=True, gridspec_kw=ratios)[0]
        for axes, (title, block) in zip(grid, blocks, strict=True):
            values = block.to_numpy(dtype=float)
            image = axes.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
            for (i, j), value in pd.DataFrame(values).stack().items():
                text = number(value, metric)
                axes.text(j, i, text, ha="center", va="center", size=9, color="white" if value < 0.55 else "black")
            axes.set_xticks(range(len(block.columns)), block.columns)
            axes.set_yticks(range(len(names)), names)
            axes.set_title(title)
            axes.grid(False)
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
        figure.colorbar(image, ax=list(grid), label=LABELS.get(metric, metric), pad=0.02)


def groups(spec: Groups, rows: pd.DataFrame, stem: Path) -> bool:
    """Bars of several columns a method without attack, a panel below the other; False without any number."""
    rows = rows[rows["attack"] == "none"]
    found = [
        (title, [(c, _select(rows, c.metric, c.group, c.language, c.task).set_index("method")) for c in columns])
        for title, columns in spec.panels
    ]
    methods = [m for m in _methods(rows) if any(m in own.index for _, block in found for _, own in block)]
    if not methods:
        return False
    with _figure(max(0.75 * len(methods) + 1.5, 6.4), 2.9 * len(found) + 0.6, stem) as figure:
        grid = figure.subplots(len(found), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (title, block) in zip(grid, found, strict=True):
            width, top = 0.8 / len(block), 1.04
            for k, (column, own) in enumerate(block):
                label = f"{column.label} {ARROWS[direction(column.metric, column.group)]}".strip()
                for row in own[own.index.isin(methods)].itertuples():
                    at = methods.index(row.Index) + (k - (len(block) - 1) / 2) * width
                    axes.bar(at, row.value, width * 0.92, color=COLOURS[k % len(COLOURS)], label=label)
                    axes.errorbar(at, row.value, yerr=_bounds(row), color="#333333", linewidth=1, capsize=2)
            if spec.gap:
                first, second = (own["value"] for _, own in block[:2])
                for method, gap in (first - second).reindex(methods).dropna().items():
                    text = f"{'+' if gap > 0 else ''}{number(gap, block[0][0].metric)}"
                    axes.text(methods.index(method), 1.06, text, ha="center", size=9)
                top = 1.18
            axes.set_xticks(range(len(methods)), [_name(rows, m) for m in methods], rotation=30, ha="right")
            axes.set(
                title=title, ylim=(0, top), yticks=(0, 0.25, 0.5, 0.75, 1), xlim=(-0.6, max(len(methods), 2) - 0.4)
            )
            axes.grid(axis="x", visible=False)
        labels = _labelled(grid)
        figure.legend(labels.values(), labels, loc="outside lower left", ncols=len(labels), frameon=False)
    return True


def lines(spec: Lines, rows: pd.DataFrame, stem: Path) -> bool:
    """A small plot a method without attack, with the spec's lines; False without any number."""
    rows = rows[rows["attack"] == "none"]
    found = [(label, [_values(rows, c) for c in columns]) for label, columns in spec.lines]
    methods = [m for m in _methods(rows) if any(m in own.index for _, block in found for own in block)]
    if not methods:
        return False
    across = min(spec.across, len(methods))
    down = math.ceil(len(methods) / across)
    with _figure(max(3.2 * across, 6.4), 2.4 * down + 0.9, stem) as figure:
        grid = list(figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).flat)
        for axes, method in zip(grid, methods, strict=False):
            for at, (label, block) in enumerate(found):
                values = [own.get(method, math.nan) for own in block]
                look = {"color": COLOURS[at // 2 % len(COLOURS)], "linestyle": ("-", "--")[at % 2]}
                axes.plot(range(len(values)), values, marker=MARKERS[at], markersize=4, label=label, **look)
            axes.set_title(_name(rows, method))
            axes.set(ylim=(-0.04, 1.04))
            axes.set_xticks(range(len(spec.ticks)), spec.ticks, rotation=90, size=8)
            axes.tick_params(labelbottom=True)
        for axes in grid[len(methods) :]:
            axes.set_axis_off()
        labels = _labelled(grid)
        figure.legend(labels.values(), labels, loc="outside lower left", ncols=min(len(labels), 4), frameon=False)
    return True


def attack_bars(spec: Bars, rows: pd.DataFrame, stem: Path) -> bool:
    """One group of bars a method, one bar an attack, with intervals; False when nothing was attacked."""
    attacked = rows.loc[rows["attack"] != "none", "method"].unique()
    rows = rows[rows["method"].isin(attacked)]
    sides = [(t, f) for language, t in spec.sides if len(f := _select(rows, spec.metric, spec.group, language))]
    if not sides or not len(attacked):
        return False
    methods, attacks = _methods(rows), sorted(rows["attack"].unique(), key=lambda a: (a != "none", a))
    width = 0.8 / len(attacks)
    with _figure(max(1.1 * len(methods) * len(sides) + 2, 4.9 * len(sides)), 3.6, stem) as figure:
        grid = figure.subplots(1, len(sides), squeeze=False, sharey=True)[0]
        top = max(found[["value", "high"]].max().max() for _, found in sides) or 1
        for axes, (title, found) in zip(grid, sides, strict=True):
            for k, attack in enumerate(attacks):
                for row in found[found["attack"] == attack].itertuples():
                    at = methods.index(row.method) + (k - (len(attacks) - 1) / 2) * width
                    axes.bar(at, row.value, width * 0.92, color=COLOURS[k % len(COLOURS)], label=attack)
                    axes.errorbar(at, row.value, yerr=_bounds(row), color="#333333", linewidth=1, capsize=3)
            axes.set_xticks(range(len(methods)), [_name(rows, m) for m in methods])
            axes.set(title=title, ylim=(0, 1.05 * top), xlim=(-0.7, max(len(methods), 2) - 0.3))
            axes.grid(axis="x", visible=False)
        way = ARROWS[direction(spec.metric, spec.group)]
        name = LABELS.get(spec.metric, spec.metric.replace("_", " "))
        grid[0].set_ylabel(f"{name} on the {spec.group} set {way}")
        labels = _labelled(grid)
        shown = [a for a in attacks if a in labels]
        names = ["no attack" if a == "none" else a for a in shown]
        figure.legend([labels[a] for a in shown], names, loc="outside lower left", ncols=len(shown), frameon=False)
    return True


def radar(spec: Radar, rows: pd.DataFrame, stem: Path) -> bool:
    """One polygon an unlearned method that has a number on every axis; False when none has."""
    rows = rows[(rows["attack"] == "none") & ~rows["method"].isin(REFERENCES)]
    found = [
        [(c, _select(rows, c.metric, c.group, c.language).set_index("method")) for c in axis] for axis in spec.axes
    ]
    chosen = [next(((c, table) for c, table in axis if len(table)), axis[0]) for axis in found]
    methods = [m for m in _methods(rows) if all(m in table.index for _, table in chosen)]
    if not methods:
        return False
    angles = [math.pi / 2 - 2 * math.pi * i / len(chosen) for i in range(len(chosen))]
    with _figure(6.4, 5.2, stem) as figure:
        axes = figure.add_subplot(projection="polar")
        for at, method in enumerate(methods):
            values = [min(max(table.loc[method, "value"], 0.0), 1.0) for _, table in chosen]
            line = {"color": COLOURS[at % len(COLOURS)], "marker": MARKERS[at % len(MARKERS)]}
            axes.plot([*angles, angles[0]], [*values, values[0]], label=_name(rows, method), **line)
            axes.fill(angles, values, color=line["color"], alpha=0.07)
        axes.set(ylim=(0, 1), yticks=(0.25, 0.5, 0.75, 1), xticks=[a % (2 * math.pi) for a in angles])
        axes.set_rlabel_position(0)
        axes.set_xticklabels([column.label.replace(" (", "\n(") for column, _ in chosen])
        axes.tick_params(axis="x", pad=26)
        names = [_name(rows, method) for method in methods]
        figure.legend(loc="outside lower left", ncols=_columns(figure, names), frameon=False)
    return True


def epochs(spec: Epochs, rows: pd.DataFrame, stem: Path) -> bool:
    """One line a method over its epochs, from the target at 0; the retrained model as a dashed line.

    `rows` hold column `epoch`. False where no method is scored after more than one epoch.
    """
    rows = rows[rows["attack"] == "none"]
    counts = rows[~rows["method"].isin(REFERENCES)].groupby("method")["epoch"].nunique()
    methods = sorted(counts.index[counts > 1])
    found = [(c, _select(rows, c.metric, c.group, c.language, c.task)) for c in spec.columns]
    found = [(c, own) for c, own in found if own["method"].isin(methods).any()]
    if not found:
        return False
    across = min(spec.across, len(found))
    down = math.ceil(len(found) / across)
    with _figure(max(3.3 * across, 4.8), 2.7 * down + 0.6, stem) as figure:
        grid = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, (column, own) in zip(grid, found, strict=False):
            start = own[own["method"] == "target"].assign(epoch=0)
            for at, method in enumerate(methods):
                line = pd.concat([start, own[own["method"] == method]]).sort_values("epoch")
                colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
                axes.plot(line["epoch"], line["value"], color=colour, marker=marker, label=_name(rows, method))
                axes.fill_between(line["epoch"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
            for value in own.loc[own["method"] == "retrain", "value"]:
                axes.axhline(value, color="#333333", linestyle="--", linewidth=1, label=NAMES["retrain"])
            way = ARROWS[direction(column.metric, column.group)]
            axes.set(title=f"{column.label} {way}".strip(), xlabel="epoch (0 = target)")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_ylim(bottom=None if per_cent(column.metric) else 0)
            _frame(axes, own["value"], column.metric, "y")
        for axes in grid[len(found) :]:
            axes.set_axis_off()
        labels = _labelled(grid)
        wide = min(len(labels), 5 if across > 1 else 3)
        figure.legend(labels.values(), labels, loc="outside lower left", ncols=wide, frameon=False)
    return True


def curves(logs: Sequence, collapsed: set[str], stem: Path) -> bool:
    """Loss terms by step, one small plot a method, seeds on top of each other; False without logs."""
    methods = sorted({log.method for log in logs}, key=lambda m: row_order(m, "none"))
    if not methods:
        return False
    terms = (("loss", "weighted total", "#666666"), ("forget_loss", "forget term", "#D55E00"),
             ("retain_loss", "retain term", "#0072B2"))  # fmt: skip
    across = min(3, len(methods))
    down = math.ceil(len(methods) / across)
    with _figure(max(3.2 * across, 4.8), 2.3 * down + 0.5, stem) as figure:
        grid = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, method in zip(grid, methods, strict=False):
            for log in (log for log in logs if log.method == method):
                for column, label, colour in terms:
                    if log.steps[column].notna().any():
                        axes.plot(log.steps["step"], log.steps[column], color=colour, label=label, linewidth=1.3)
            axes.set_title(NAMES.get(method, method) + (f" {DAGGER}" if method in collapsed else ""))
            axes.set(xlabel="step", ylabel="nats")
        for axes in grid[len(methods) :]:
            axes.set_axis_off()
        labels = _labelled(grid)
        figure.legend(labels.values(), labels, loc="outside lower left", ncols=3, frameon=False)
    return True
