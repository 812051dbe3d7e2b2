"""Tables as CSV, Markdown and LaTeX (booktabs), and the number format all of them and the page share."""

import csv
import io
from collections.abc import Sequence

from unlearning.report.kinds import Column
from unlearning.report.specs import COUNTS, direction, per_cent
from unlearning.report.tables import KEY, Cell, Row, Table

DASH = "–"
DAGGER = "†"
ARROWS = {"lower": "↓", "higher": "↑", "zero": "→0", "none": ""}
NAMES = {"base": "base model", "target": "target", "retrain": "retrained"}
COLLAPSED = f"{DAGGER} A run of this method collapsed: its training was stopped when the retain loss passed its limit."


BEST = "Best unlearned method in bold."
ACROSS = "In each method's row the most resistant kind is in bold, the second most underlined."


def marks(table: Table) -> str:
    """What bold, or underlined, means in a table; nothing where nothing is marked."""
    if table.spec.of != "method":
        return ""
    return ACROSS if table.spec.across else BEST


def number(value: float, metric: str) -> str:
    """`value` for reading: per cent with one decimal, 0-1 with two, one significant digit when that would show 0;
    counts as whole numbers (averaged over seeds)."""
    if metric in COUNTS:
        return f"{value:.0f}"
    decimals = 1 if per_cent(metric) else 2
    text = f"{value:.{decimals}f}"
    if float(text) != 0:
        return text.replace("-", "−")
    if value == 0:
        return text.removeprefix("-")
    short = f"{value:.{decimals + 1}f}"
    return (short if float(short) != 0 else f"{value:.0e}").replace("-", "−")


def interval(cell: Cell, metric: str) -> str:
    """`[low, high]`, or nothing where there is no interval."""
    if cell.value is None or cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low, metric)}, {number(cell.high, metric)}]"


def shown(table: Table) -> list[tuple[int, Column]]:
    """(position, column) of the columns that are shown, that is all but the CSV's own."""
    return [(i, column) for i, column in enumerate(table.columns) if not column.csv_only]


def value_text(cell: Cell, metric: str) -> str:
    """The value for reading; a dash for a null, nothing where the metric does not apply to the row."""
    if cell.value is None:
        return DASH if cell.note else ""
    return number(cell.value, metric)


def footnotes(table: Table) -> list[str]:
    """The distinct notes of all shown cells (why a null is null, what a value leaves out), in reading order."""
    notes = [row.cells[i].note for row in table.rows for i, _ in shown(table)]
    return list(dict.fromkeys(note for note in notes if note))


def method_name(row: Row) -> str:
    """How a method is called in tables, with a dagger when it collapsed."""
    return NAMES.get(row.method, row.method) + (f" {DAGGER}" if row.collapsed else "")


def arrow(column: Column) -> str:
    """An arrow for the better direction."""
    return ARROWS[direction(column.metric, column.group)]


def headings(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Runs of equal headings as (heading, number of columns)."""
    runs: list[tuple[str, int]] = []
    for column in columns:
        if runs and runs[-1][0] == column.head:
            runs[-1] = (column.head, runs[-1][1] + 1)
        else:
            runs.append((column.head, 1))
    return runs


def key_name(column: Column) -> str:
    """`metric.group.language`, and `.task` where there is one: the column's name in a CSV."""
    parts = [getattr(column, field) for field in KEY]
    return ".".join(parts if column.task != "all" else parts[:3])


def to_csv(table: Table) -> str:
    """One line a row with unrounded numbers; per column the value, its interval and the spread between seeds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f"{key_name(c)}{part}" for c in table.columns for part in ("", ".ci_low", ".ci_high", ".seeds_sd")]
    writer.writerow([*table.panel, table.spec.of, "attack", "collapsed", "seeds", *names, "notes"])
    for row in table.rows:
        values = [v for c in row.cells for v in (c.value, c.low, c.high, c.spread)]
        notes = [f"{key_name(k)}: {c.note}" for k, c in zip(table.columns, row.cells, strict=True) if c.note]
        seeds = max((c.seeds for c in row.cells), default=0)
        numbers = ["" if v is None else repr(v) for v in values]
        run = [*table.panel.values(), row.method, row.attack, row.collapsed, seeds]
        writer.writerow([*run, *numbers, "; ".join(notes)])
    return out.getvalue()


def _markdown(text: str) -> str:
    for sign in "\\`*_[]<>|~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def to_markdown(table: Table) -> str:
    """A pipe table with footnotes."""
    notes = footnotes(table)
    columns = shown(table)
    first = [table.spec.of, "attack"] if table.spec.attacks else [table.spec.of]
    heads = [" ".join(x for x in (f"{c.head}:" if c.head else "", c.label, arrow(c)) if x) for _, c in columns]
    lines = [f"**{_markdown(table.spec.title)}** ({_markdown(', '.join(table.panel.values()))})", ""]
    lines.append("| " + " | ".join([*first, *map(_markdown, heads)]) + " |")
    lines.append("|" + " :-- |" * len(first) + " --: |" * len(columns))
    for row in table.rows:
        cells = [_markdown(method_name(row))] + ([_markdown(row.attack)] if table.spec.attacks else [])
        for i, column in columns:
            cell = row.cells[i]
            text = value_text(cell, column.metric)
            text = f"**{text}**" if cell.best else f"<u>{text}</u>" if cell.second else text
            text += f" {_markdown(interval(cell, column.metric))}".rstrip()
            cells.append(text + (f"[^{notes.index(cell.note) + 1}]" if cell.note else ""))
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"{_markdown(table.spec.caption)} {marks(table)}".rstrip()]
    lines += ["", _markdown(COLLAPSED)] if any(row.collapsed for row in table.rows) else []
    lines += [line for i, note in enumerate(notes, 1) for line in ("", f"[^{i}]: {_markdown(note)}")]
    return "\n".join(lines) + "\n"


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\rightarrow$", "−": "$-$", "–": "--",
    DAGGER: r"\textsuperscript{\textdagger}", "·": r"$\cdot$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def latex(text: str) -> str:
    """`text` with every character that LaTeX would read as a command written out."""
    return " ".join("".join(LATEX.get(sign, sign) for sign in text).split())


def _latex_cell(cell: Cell, column: Column, notes: list[str]) -> str:
    text = latex(value_text(cell, column.metric))
    text = rf"\textbf{{{text}}}" if cell.best else rf"\underline{{{text}}}" if cell.second else text
    bounds = interval(cell, column.metric)
    text += rf" {{\scriptsize\color{{gray}} {latex(bounds)}}}" if bounds else ""
    return text + (rf"\textsuperscript{{{notes.index(cell.note) + 1}}}" if cell.note else "")


def _latex_heads(columns: list[Column], left: int) -> list[str]:
    runs = headings(columns)
    if not any(head for head, _ in runs):
        return []
    cells = [rf"\multicolumn{{{width}}}{{c}}{{{latex(head)}}}" for head, width in runs]
    rules, start = [], left + 1
    for head, width in runs:
        rules += [rf"\cmidrule(lr){{{start}-{start + width - 1}}}"] if head else []
        start += width
    return [" & ".join([""] * left + cells) + r" \\", " ".join(rules)]


def to_latex(table: Table) -> str:
    """A `table` float; needs the packages booktabs, graphicx, xcolor and textcomp."""
    notes = footnotes(table)
    columns = shown(table)
    of = table.spec.of.capitalize()
    first = [of, "Attack"] if table.spec.attacks else [of]
    body, previous = [], True
    for row in table.rows:
        body += [r"\midrule"] if previous and not row.reference and body else []
        previous = row.reference
        cells = [latex(method_name(row))] + ([latex(row.attack)] if table.spec.attacks else [])
        cells += [_latex_cell(row.cells[i], column, notes) for i, column in columns]
        body.append(" & ".join(cells) + r" \\")
    heads = [latex(" ".join(x for x in (c.label, arrow(c)) if x)) for _, c in columns]
    place = ", ".join(table.panel.values())
    caption = f"{table.spec.title} ({place}). {table.spec.caption} {marks(table)}".rstrip()
    below = [COLLAPSED] if any(row.collapsed for row in table.rows) else []
    lines = [
        "% needs \\usepackage{booktabs,graphicx,xcolor,textcomp}",
        r"\begin{table}", r"\centering",
        rf"\caption{{{latex(caption)}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{'l' * len(first)}{'r' * len(columns)}}}", r"\toprule",
        *_latex_heads([c for _, c in columns], len(first)),
        " & ".join([*first, *heads]) + r" \\", r"\midrule", *body, r"\bottomrule", r"\end{tabular}}",
    ]  # fmt: skip
    lines += [rf"\par\footnotesize {latex(text)}" for text in below]
    lines += [rf"\par\footnotesize \textsuperscript{{{i}}}{latex(note)}" for i, note in enumerate(notes, 1)]
    return "\n".join([*lines, r"\end{table}", ""])
