"""The folder that can be published: a benchmark's tables and their card, README.md, which `datasets` loads them by."""

import inspect
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import yaml

from unlearning.data.checking import CHECKS
from unlearning.data.reasons import REVIEW, STEPS
from unlearning.llm.prompts import read_prompt
from unlearning.tables.artifacts import read_table, replacing_folder, sha256_file
from unlearning.tables.schemas import TABLES

SIZES = ((1e3, "n<1K"), (1e4, "1K<n<10K"), (1e5, "10K<n<100K"), (1e6, "100K<n<1M"), (1e7, "1M<n<10M"))
LARGEST = "n>10M"
MODEL = ("kind", "model", "revision")  # of a model's settings, what a reader of the card needs
HOLDS = {  # by the configuration's name, or else by its table's
    "examples": "what a model is taught",
    "items": "what it is asked",
    "splits": "what each split forgets and retains",
    "profiles": "the invented people",
    "people": "the people, with all that is said about them and their pictures",
    "templates": "the English questions and answers as templates make them",
    "english": "the English questions and answers that are translated",
    "values": "the values in each language, whether somebody has them or not",
    "pairs": "the questions and answers of each language that passed every check",
    "rejected": "those that did not, with the reasons",
    "facts": "what is known, and which of it is to be forgotten",
    "matches": "facts that together answer a question of a type",
    "composed": "the questions made of them, in every wording",
    "decomposed": "their single hops, as read back",
    "uniqueness": "whether a language model finds that they have one right answer",
    "ratings": "what language models say of the kept questions' quality",
    "rounds": "every attempt at composing a question",
    "multihop": "the questions that passed every check and were kept, with their other wordings",
    "funnel": "how many were left after each step",
    "quality": "how varied they are",
    "documents": "the documents, with what each is about",
    "continuations": "where each document is cut: what stands before, what comes after",
    "knowledge": "the questions about the documents, with their answers",
    "rounds_refined": "every attempt at refining an English question and answer",
    "rounds_values": "every attempt at translating a value",
    "rounds_pairs": "every attempt at translating a question and answer",
}


class Config(NamedTuple):
    """One configuration of the data set: the files of one table, by their path in the published folder."""

    name: str
    table: str
    files: dict[str, Path]
    rows: int
    path: str  # one file, or a pattern of all

    @property
    def holds(self) -> str:
        """What stands in it, in words."""
        return HOLDS.get(self.name) or HOLDS[self.table]


def publish(
    folder: Path, template: str, tables: Mapping[str, str | Sequence[str]], sources: Sequence[str],
    prompts: Sequence[str], about: Mapping,
) -> None:  # fmt: skip
    """Make `folder` anew: copies of `tables` and the card by the Jinja `template`; nothing else lies in it.

    `tables`: configuration -> its table's file, or one file a language. Files without a row are left out, as `datasets`
    cannot load a configuration without any. `sources`, `prompts` and `about` as in `card`.
    """
    with replacing_folder(folder) as new:
        for config in configurations(tables):
            for inside, path in config.files.items():
                (new / inside).parent.mkdir(exist_ok=True)
                shutil.copyfile(path, new / inside)
        (new / "README.md").write_text(card(template, tables, sources, prompts, about), encoding="utf-8")


def configurations(tables: Mapping[str, str | Sequence[str]]) -> list[Config]:
    """What `datasets.load_dataset` finds in the published folder; tables without a row are not among it."""
    found = []
    for name, given in tables.items():
        alone = isinstance(given, str)
        read = {path: pq.read_metadata(path) for path in ([given] if alone else given)}
        read = {path: facts for path, facts in read.items() if facts.num_rows}
        if read:
            files = {f"{name}.parquet" if alone else f"{name}/{Path(path).name}": Path(path) for path in read}
            (table,) = {facts.metadata[b"table"].decode() for facts in read.values()}
            rows = sum(facts.num_rows for facts in read.values())
            found.append(Config(name, table, files, rows, f"{name}.parquet" if alone else f"{name}/*.parquet"))
    return found


def card(
    template: str, tables: Mapping[str, str | Sequence[str]], sources: Sequence[str], prompts: Sequence[str],
    about: Mapping,
) -> str:  # fmt: skip
    """The text of README.md by the Jinja `template`; nothing in it depends on when or where it is written.

    `tables` as in `publish`; `rejected` with `pairs` gives the counts of rows kept and refused. `sources` and `prompts`
    are told by name and version. `about`: benchmark, cut, title, summary, license, licence (the note), tags,
    facts {label: text}, models {role: settings}.
    """
    import jinja2

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    configs = configurations(tables)
    default = next((c for c in configs if c.table == "items"), configs[0])
    funnel = kept_and_refused(tables.get("pairs", ()), tables.get("rejected", ()))
    text = environment.from_string(template).render(
        **{key: _line(about[key]) for key in ("benchmark", "cut", "title", "summary", "licence")},
        facts={label: _line(said) for label, said in about["facts"].items()},
        models={role: {key: _cell(settings.get(key)) for key in MODEL} for role, settings in about["models"].items()},
        front_matter=_front_matter(configs, default, about), configs=configs, default=default,
        empty=[name for name in tables if name not in {c.name for c in configs}],
        funnel=funnel, refusing=sorted({c for row in funnel for c in row["by"]}),
        checks=_checks(any(c.table == "rounds" for c in configs)),
        sources=[(_name(Path(p)), sha256_file(p)[:12]) for p in sources],
        prompts=[read_prompt(path) for path in prompts],
        tables={name: TABLES[name] for name in dict.fromkeys(c.table for c in configs)},
    )  # fmt: skip
    return text.rstrip() + "\n"


def _line(text: str) -> str:
    """One line of text: words of a configuration cannot start a heading or a table."""
    return " ".join(str(text).split())


def _cell(text: str | None) -> str:
    return _line(text or "–").replace("|", r"\|")


def _name(path: Path) -> str:
    """A file of the project by its path, any other by its name, as paths tell of the machine."""
    return path.name if path.is_absolute() else str(path)


def _front_matter(configs: list[Config], default: Config, about: Mapping) -> str:
    """What the Hub and `datasets` read: licence, languages, size, configurations."""
    items = [path for c in configs if c.table == "items" for path in c.files.values()]
    languages = sorted({code for path in items for code in read_table(path, "items", ["language"])["language"]})
    rows = sum(config.rows for config in configs)
    found = {
        "pretty_name": _line(about["title"]), "license": about["license"], "language": languages,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "size_categories": [next((name for limit, name in SIZES if rows < limit), LARGEST)],
        "task_categories": ["question-answering"], "tags": ["machine-unlearning", *about["tags"]],
        "configs": [
            {"config_name": c.name, "data_files": [{"split": "train", "path": c.path}]}
            | ({"default": True} if c is default else {})
            for c in configs
        ],
    }  # fmt: skip
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True).rstrip()


def _checks(by_models: bool) -> dict[str, str]:
    """Each check that ran, with what it asks for: the mechanical ones' modules say it in their first line."""
    mechanical = {name: inspect.getdoc(module).splitlines()[0] for name, module in CHECKS.items()}
    return mechanical | (STEPS if by_models else {}) | REVIEW


def kept_and_refused(pairs: Sequence[str], rejected: Sequence[str]) -> list[dict]:
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
