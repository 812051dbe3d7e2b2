"""Turn all score tables into the report: tables, figures and a page that stands alone."""

from pathlib import Path

from unlearning.report.assemble import assemble
from unlearning.report.construction import read_constructions
from unlearning.report.html import render, slug
from unlearning.report.sizes import sizes
from unlearning.report.sources import (
    read_funnel,
    read_logs,
    read_roles,
    read_runs,
    read_scores,
    read_selections,
    read_times,
    read_usage,
)
from unlearning.tables.artifacts import replacing_folder, write_table, write_text
from unlearning.tables.schemas import schema


def _templates(paths: list[str]) -> dict[str, str]:
    found = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in paths}
    missing = [name for name in ("index.html.j2", "style.css", "page.js", "metrics.yaml") if name not in found]
    if missing:
        raise ValueError(f"report: template files missing: {', '.join(missing)}; they lie in resources/report")
    return found


def report(
    scores: list[str],
    template: list[str],
    page: str,
    tables: str,
    figures: str,
    scores_all: str,
    config_text: str,
    logs: list[str] = (),
    rejected: list[str] = (),
    kept: list[str] = (),
    usage: list[str] = (),
    selections: list[str] = (),
    built: list[str] = (),
    faces: list[str] = (),
    dropped: str | list[str] = (),
    results: str = "results",
) -> None:
    """Write the page, the folders `tables` and `figures`, and `scores_all`, one table of every score.

    `config_text`: the configuration as YAML; the page shows it and takes the settings' languages from it. `kept`:
    tables of pairs beside `rejected`, for the funnel. `usage`: what language models took. `selections`: the
    candidates of searched methods. `built`: funnels of data and quality of questions. `faces`: pictures of all
    faces, <benchmark>/<cut>/faces.png. `dropped`: models that are gone by now, so that
    sizes are as they stay. `results`: the folder of all, with Snakemake's benchmark files; may be missing.
    """
    import yaml

    found = read_scores(scores)
    runs = read_runs(found)
    texts = _templates(template)
    fingerprint = write_table(found[schema("scores").names], Path(scores_all), "scores")
    with replacing_folder(Path(tables)) as table_folder, replacing_folder(Path(figures)) as figure_folder:
        roles = read_roles(yaml.safe_load(config_text) or {})
        panels = assemble(found, read_logs(logs), roles, table_folder, figure_folder, read_selections(selections))
        constructions = read_constructions(built)
        for table in constructions:
            write_text(table_folder / slug(table.benchmark) / f"{table.name}.csv", table.csv)
        html = render(
            texts, panels, runs, read_times(f"{results}/benchmarks"), read_funnel(rejected, kept), config_text,
            fingerprint, yaml.safe_load(texts["metrics.yaml"]), read_usage(usage), constructions,
            {Path(path).parts[-3]: Path(path).read_bytes() for path in faces}, sizes(Path(results)),
        )  # fmt: skip
    write_text(Path(page), html)


if __name__ == "__main__":
    from job import run

    run(snakemake, report)  # noqa: F821
