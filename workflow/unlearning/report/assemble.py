"""From score tables to files: every table in three formats, every figure in two, and the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from unlearning.report import figures as draw
from unlearning.report.correlations import correlations
from unlearning.report.headline import headline
from unlearning.report.html import FORMATS, Figure, Panel, slug
from unlearning.report.kinds import Bars, Epochs, Groups, HeatMap, Lines, Matrix, Radar, TradeOff
from unlearning.report.searches import searches, to_csv, unmet
from unlearning.report.sources import Log
from unlearning.report.specs import CORRELATED, FIGURES, TABLES, agreement, generic
from unlearning.report.tables import KEY, Table, averaged, build, last_epochs, panels, with_changes
from unlearning.tables.artifacts import write_text

Roles = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
CAPTIONS = {
    TradeOff: "Each mark is a model without attack; bars are 95 % bootstrap intervals.",
    HeatMap: "Mean over seeds, without attack; an empty field has no value.",
    Radar: "Each polygon is an unlearned method; outward is better. Below 0 is drawn as 0, above 1 as 1.",
    Groups: "Bars are means over seeds, without attack; lines 95 % bootstrap intervals.",
    Matrix: "Mean over seeds, without attack; an empty field has no value.",
    Lines: "Means over seeds, without attack.",
    Bars: "Bars are means over seeds, lines 95 % bootstrap intervals.",
    Epochs: "Means over seeds after each epoch that was scored; bands are 95 % bootstrap intervals.",
}
DRAWN = {
    TradeOff: draw.trade_off,
    Radar: draw.radar,
    Groups: draw.groups,
    Matrix: draw.matrix,
    Lines: draw.lines,
    Bars: draw.attack_bars,
}
CURVES = "Each line is a run; terms before their weights. Gradient ascent has a negative forget term."


def tables_of(panel: dict[str, str], rows: pd.DataFrame, roles: Mapping[str, Sequence[str]]) -> tuple[Table, ...]:
    """The tables declared for the panel's benchmark, or one with every score where none are, and that of the judges."""
    specs = TABLES.get(panel["benchmark"])
    if specs is None:
        keys = rows.loc[rows["attack"] == "none", list(KEY)].drop_duplicates()
        specs = generic(list(keys.itertuples(index=False, name=None)))
    judges = sorted(rows.loc[rows["metric"] == "kappa", "task"].unique())
    specs = (*specs, agreement(judges)) if judges else specs
    built = [build(spec, panel, rows, roles) for spec in specs]
    if panel["benchmark"] in CORRELATED:
        built.append(correlations(panel, rows, CORRELATED[panel["benchmark"]]))
    return tuple(table for table in built if table is not None)


def folder_of(panel: dict[str, str]) -> Path:
    """`<benchmark>/<base>-<setting>-<split>`."""
    benchmark, *rest = panel.values()
    return Path(slug(benchmark), slug(*rest))


def write_tables(tables: Sequence[Table], folder: Path) -> None:
    """`<folder>/<benchmark>/<base>-<setting>-<split>/<table>.{csv,md,tex}`."""
    for table in tables:
        for _, end, _, to in FORMATS:
            write_text(folder / folder_of(table.panel) / f"{slug(table.spec.name)}.{end}", to(table))


def _draw(spec, rows: pd.DataFrame, by_epoch: pd.DataFrame, roles: Mapping[str, Sequence[str]], stem: Path) -> bool:
    if isinstance(spec, Epochs):
        return draw.epochs(spec, by_epoch, stem)
    if isinstance(spec, HeatMap):
        return draw.heat_map(spec, rows, roles, stem)
    return DRAWN[type(spec)](spec, rows, stem)


def draw_figures(
    panel: dict[str, str],
    rows: pd.DataFrame,
    by_epoch: pd.DataFrame,
    logs: Sequence[Log],
    roles: Mapping[str, Sequence[str]],
    folder: Path,
) -> tuple[Figure, ...]:
    """Draw what the benchmark declares and the panel has numbers for, and the training curves of its runs."""
    benchmark, *rest = panel.values()
    place = folder / folder_of(panel)
    found = [
        Figure(spec.title, CAPTIONS[type(spec)], place / f"{spec.name}.svg")
        for spec in FIGURES.get(benchmark, ())
        if _draw(spec, rows, by_epoch, roles, place / spec.name)
    ]
    own = [log for log in logs if log.benchmark == benchmark and [log.base_model, log.setting] == rest[:2]]
    own = [log for log in own if log.split in (rest[2], "all")]
    if draw.curves(own, set(rows.loc[rows["collapsed"], "method"]), place / "training"):
        found.append(Figure("Training", CURVES, place / "training.svg"))
    return tuple(found)


def assemble(
    scores: pd.DataFrame, logs: Sequence[Log], roles: Roles, tables: Path, figures: Path, selections: pd.DataFrame
) -> list[Panel]:
    """Write all tables and figures below the two folders and return the panels for the page.

    `scores`, `selections` as `sources` reads them; `roles`: benchmark -> setting -> train, holdout -> language codes.
    """
    done = []
    epochs = {tuple(panel.values()): rows for panel, rows in panels(averaged(scores, by_epoch=True))}
    for panel, rows in panels(averaged(with_changes(last_epochs(scores)))):
        own = roles.get(panel["benchmark"], {}).get(panel["setting"], {})
        built = tables_of(panel, rows, own)
        write_tables(built, tables)
        found = searches(panel, selections)
        if found:
            write_text(tables / folder_of(panel) / "selection.csv", to_csv(found))
        drawn = draw_figures(panel, rows, epochs[tuple(panel.values())], logs, own, figures)
        done.append(Panel(panel, " ".join([headline(panel, rows), *unmet(found)]), built, drawn, found))
    return done
