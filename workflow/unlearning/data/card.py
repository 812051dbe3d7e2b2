"""Dataset cards: the README.md that makes a benchmark's data folder loadable and says how it was made."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import yaml

from unlearning.data.checking import CHECKS
from unlearning.llm.prompts import read_prompt
from unlearning.tables.artifacts import read_table, sha256_file
from unlearning.tables.schemas import TABLES

SIZES = ((1e3, "n<1K"), (1e4, "1K<n<10K"), (1e5, "10K<n<100K"), (1e6, "100K<n<1M"), (1e7, "1M<n<10M"))
LARGEST = "n>10M"
MODEL = ("kind", "model", "revision")  # of a model's settings, what a reader of the card needs
REVIEW = "a person read the row and rejected it"


def card(
    template: str, folder: Path, tables: Sequence[Path], pairs: Sequence[Path], rejected: Sequence[Path],
    sources: Sequence[Path], prompts: Sequence[Path], about: Mapping,
) -> str:  # fmt: skip
    """The text of `folder`/README.md by the Jinja `template`; nothing in it depends on when or where it is written.

    `tables` (examples, items, splits, below a folder for each setting) and `pairs` become configurations that
    `datasets.load_dataset` finds. `rejected` with `pairs` gives the counts of rows kept and refused. `sources` and
    `prompts` are told by name and version. `about`: benchmark, cut, title, summary, license, licence (the note), tags,
    facts {label: text}, models {role: settings}.
    """
    import jinja2

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    configs = [_config(path, folder, name) for name, path in [*((p.stem, p) for p in tables), *_named("pairs", pairs)]]
    default = next((c for c in configs if c["table"] == "items"), configs[0])
    funnel = kept_and_refused(pairs, rejected)
    text = environment.from_string(template).render(
        **{key: _line(about[key]) for key in ("benchmark", "cut", "title", "summary", "licence")},
        facts={label: _line(said) for label, said in about["facts"].items()},
        models={role: {key: _cell(settings.get(key)) for key in MODEL} for role, settings in about["models"].items()},
        front_matter=_front_matter(configs, default, tables, about), configs=configs, default=default["name"],
        default_path=default["path"], funnel=funnel, refusing=sorted({c for row in funnel for c in row["by"]}),
        checks=_checks(), sources=[(_name(p), sha256_file(p)[:12]) for p in sources],
        prompts=[read_prompt(path) for path in prompts],
        tables={name: TABLES[name] for name in dict.fromkeys(c["table"] for c in configs)},
    )  # fmt: skip
    return text.rstrip() + "\n"


def _named(table: str, paths: Sequence[Path]) -> list[tuple[str, Path]]:
    return [(table, path) for path in paths]


def _line(text: str) -> str:
    """One line of text: words of a configuration cannot start a heading or a table."""
    return " ".join(str(text).split())


def _cell(text: str | None) -> str:
    return _line(text or "–").replace("|", r"\|")


def _name(path: Path) -> str:
    """A file of the project by its path, any other by its name, as paths tell of the machine."""
    return Path(path).name if Path(path).is_absolute() else str(path)


def _config(path: Path, folder: Path, table: str) -> dict:
    """One configuration: its name is made of setting and table (s1_items), or of table and language (pairs_de)."""
    inside = Path(path).relative_to(folder)
    return {"name": "_".join(inside.with_suffix("").parts), "table": table, "path": str(inside),
            "rows": pq.read_metadata(path).num_rows}  # fmt: skip


def _front_matter(configs: list[dict], default: dict, tables: Sequence[Path], about: Mapping) -> str:
    """What the Hub and `datasets` read: licence, languages, size, configurations."""
    items = [path for path in tables if path.stem == "items"]
    languages = sorted({code for path in items for code in read_table(path, "items", ["language"])["language"]})
    rows = sum(config["rows"] for config in configs)
    found = {
        "pretty_name": _line(about["title"]), "license": about["license"], "language": languages,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "size_categories": [next((name for limit, name in SIZES if rows < limit), LARGEST)],
        "task_categories": ["question-answering"], "tags": ["machine-unlearning", *about["tags"]],
        "configs": [
            {"config_name": c["name"], "data_files": [{"split": "train", "path": c["path"]}]}
            | ({"default": True} if c is default else {})
            for c in configs
        ],
    }  # fmt: skip
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True).rstrip()


def _checks() -> dict[str, str]:
    """Each mechanical check with the first sentence of its module, and people's review."""
    return {name: inspect.getdoc(module).splitlines()[0] for name, module in CHECKS.items()} | {"review": REVIEW}


def kept_and_refused(pairs: Sequence[Path], rejected: Sequence[Path]) -> list[dict]:
    """By language: rows kept, rows refused for good (not kept after a later round), and of these how many by check."""
    if not pairs:
        return []
    kept = pd.concat([read_table(path, "pairs", ["pair_id", "language"]) for path in pairs])
    bad = pd.concat([read_table(path, "rejected", ["id", "language", "check"]) for path in rejected])
    bad = bad[~bad["id"].isin(kept["pair_id"])].drop_duplicates()
    checks, counts = sorted(bad["check"].unique()), kept["language"].value_counts()
    return [
        {
            "language": language, "kept": int(counts.get(language, 0)), "refused": rows["id"].nunique(),
            "by": {check: int((rows["check"] == check).sum()) for check in checks},
        }
        for language in sorted({*counts.index, *bad["language"]})
        for rows in [bad[bad["language"] == language]]
    ]  # fmt: skip
