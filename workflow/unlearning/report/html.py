"""The page: tables, figures, provenance, times, configuration, in one HTML file that loads nothing.

Everything that comes from data, models or the configuration is escaped by Jinja; only the project's own style sheet
and script go in as they are.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unlearning.report import searches, write
from unlearning.report.construction import Construction
from unlearning.report.kinds import Column
from unlearning.report.searches import Search
from unlearning.report.sources import Run
from unlearning.report.tables import PANEL, Cell, Row, Table

RUN_GROUP = (*PANEL, "method", "attack")
WAYS = {"↓": "lower is better", "↑": "higher is better", "→0": "closest to 0 is best", "": ""}
FORMATS = (("CSV", "csv", "text/csv", write.to_csv), ("Markdown", "md", "text/markdown", write.to_markdown),
           ("LaTeX", "tex", "text/x-tex", write.to_latex))  # fmt: skip


class Figure(NamedTuple):
    """A drawn figure: its SVG file and the words under it."""

    title: str
    caption: str
    svg: Path


class Panel(NamedTuple):
    """One benchmark, base model, setting and split: what was found, its tables, figures and searches."""

    identity: dict[str, str]
    headline: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    searches: tuple[Search, ...] = ()


def slug(*parts: str) -> str:
    """A name for files and anchors: letters, digits, dot, dash, underscore."""
    return "-".join(re.sub(r"[^A-Za-z0-9._]+", "_", str(part)) for part in parts)


def data_uri(content: bytes, kind: str) -> str:
    """`content` as a data: address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def run_anchors(runs: Sequence[Run]) -> set[tuple]:
    """The groups of runs that the provenance section has an entry for."""
    return {tuple(run.identity[k] for k in RUN_GROUP) for run in runs}


def _anchor(panel: dict[str, str], row: Row, known: set[tuple]) -> str | None:
    """Where the provenance of a row stands; a model shared by all splits stands under `all`."""
    for split in (panel["split"], "all"):
        group = (panel["benchmark"], panel["base_model"], panel["setting"], split, row.method, row.attack)
        if group in known:
            return slug("run", *group)
    return None


def _cell(cell: Cell, column: Column) -> dict:
    return {
        "text": write.value_text(cell, column.metric),
        "bounds": write.interval(cell, column.metric),
        "sort": "" if cell.value is None else repr(cell.value),
        "best": cell.best,
        "second": cell.second,
        "note": cell.note,
    }


def table_view(table: Table, known: set[tuple]) -> dict:
    """What the template needs of a table; `rows` are in two bodies, references and unlearned methods."""
    columns = write.shown(table)
    rows = [
        {
            "name": write.NAMES.get(row.method, row.method),
            "attack": row.attack,
            "collapsed": row.collapsed,
            "reference": row.reference,
            "anchor": _anchor(table.panel, row, known),
            "cells": [_cell(row.cells[i], column) for i, column in columns],
        }
        for row in table.rows
    ]
    bodies = [[r for r in rows if r["reference"]], [r for r in rows if not r["reference"]]]
    name = slug(*table.panel.values(), table.spec.name)
    return {
        "title": table.spec.title,
        "caption": f"{table.spec.caption} {write.marks(table)}".rstrip(),
        "of": table.spec.of.capitalize(),
        "anchor": name,
        "attacks": table.spec.attacks,
        "heads": write.headings([c for _, c in columns]),
        "columns": [{"label": c.label, "arrow": write.arrow(c), "way": WAYS[write.arrow(c)]} for _, c in columns],
        "bodies": [body for body in bodies if body],
        "collapsed": write.COLLAPSED if any(row.collapsed for row in table.rows) else "",
        "footnotes": write.footnotes(table),
        "downloads": [(label, f"{name}.{end}", data_uri(to(table).encode(), kind)) for label, end, kind, to in FORMATS],
    }


def _panel_view(panel: Panel, known: set[tuple]) -> dict:
    return {
        "title": " · ".join(f"{panel.identity[k]}" for k in PANEL[1:]),
        "anchor": slug(*panel.identity.values()),
        "headline": panel.headline,
        "tables": [table_view(table, known) for table in panel.tables],
        "figures": [
            {"title": f.title, "caption": f.caption, "uri": data_uri(f.svg.read_bytes(), "image/svg+xml")}
            for f in panel.figures
        ],
        "searches": [searches.view(search) for search in panel.searches],
    }


def _run_views(runs: Sequence[Run]) -> list[dict]:
    """The provenance section: one entry a (panel, method, attack), its seeds and epochs inside."""
    groups: dict[tuple, list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run.identity[k] for k in RUN_GROUP), []).append(run)
    return [
        {
            "anchor": slug("run", *group),
            "title": " · ".join(group),
            "runs": [
                {
                    "seed": run.identity["seed"], "epoch": run.identity["epoch"], "path": run.path, "facts": run.facts,
                    "params": json.dumps(run.facts.get("params", {}), indent=1, sort_keys=True, ensure_ascii=False),
                    "artifacts": run.artifacts,
                }
                for run in members
            ],
        }
        for group, members in groups.items()
    ]  # fmt: skip


def glossary(panels: Sequence[Panel], texts: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """The explanations (name, text) of the metrics that the panels' tables show."""
    shown = {
        c.metric.removesuffix("_change").split(":")[0] for p in panels for t in p.tables for _, c in write.shown(t)
    }
    return [entry for entry in texts.values() if shown & set(entry["metrics"])]


def render(
    templates: dict[str, str], panels: Sequence[Panel], runs: Sequence[Run], times: list[dict], funnel: list[dict],
    config_text: str, fingerprint: str, texts: dict[str, dict[str, str]], costs: Sequence[dict] = (),
    constructions: Sequence[Construction] = (), faces: Mapping[str, bytes] | None = None, sizes: Sequence[dict] = (),
) -> str:  # fmt: skip
    """The whole page. `templates` maps file names (index.html.j2, style.css, page.js) to their text; `faces` maps
    benchmarks to a picture of all faces (PNG)."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"index.html.j2": templates["index.html.j2"]}),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    known = run_anchors(runs)
    benchmarks: dict[str, list[dict]] = {}
    for panel in panels:
        benchmarks.setdefault(panel.identity["benchmark"], []).append(_panel_view(panel, known))
    return environment.get_template("index.html.j2").render(
        style=templates["style.css"], script=templates["page.js"], benchmarks=benchmarks, runs=_run_views(runs),
        times=times, funnel=funnel, config_text=config_text, fingerprint=fingerprint,
        glossary=glossary(panels, texts), n_scores=len(runs), costs=costs, constructions=constructions, sizes=sizes,
        faces={benchmark: data_uri(drawn, "image/png") for benchmark, drawn in (faces or {}).items()},
    )  # fmt: skip
