"""What the report reads: scores, run folders, provenance files, training logs, benchmark files, refused rows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.cache import provenance
from unlearning.cache.dropping import record_of
from unlearning.llm.usage import added_up
from unlearning.tables.artifacts import read_table
from unlearning.tables.schemas import schema

RUN = ("benchmark", "base_model", "setting", "split", "method", "seed", "epoch", "attack")
KEPT_FACTS = ("rule", "code", "params", "seed", "versions", "revision", "backend")


class Artifact(NamedTuple):
    """A file of a run's history: its content fingerprint as the reader of it recorded it, and what made it."""

    path: str
    content: str
    rule: str
    code: str


class Run(NamedTuple):
    """One score table: which run, its file, the facts recorded beside it, and every artifact it came from."""

    identity: dict
    path: str
    facts: dict
    artifacts: tuple[Artifact, ...]


class Log(NamedTuple):
    """A training log and the run it belongs to, read off its path."""

    benchmark: str
    base_model: str
    setting: str
    split: str
    method: str
    seed: str
    steps: pd.DataFrame


def _collapsed(scores_path: Path) -> bool:
    """Whether model.json says so: that of the epoch, `.../s<seed>/e<epoch>/<attack>/scores.parquet`, or of the run."""
    epoch, run = [*scores_path.parents][1:3] if len(scores_path.parents) > 2 else [scores_path.parent] * 2
    record = record_of(epoch) or record_of(run)
    return bool(record.get("trained", {}).get("collapsed", False))


def read_scores(paths: Sequence[str]) -> pd.DataFrame:
    """All score tables as one, with `artifact` (the file) and `collapsed` (its run was stopped) beside the columns."""
    if not paths:
        raise ValueError("report: no score tables given; enable an experiment in the configuration and run again")
    frames = [
        read_table(Path(path), "scores").assign(artifact=str(path), collapsed=_collapsed(Path(path)))
        for path in sorted(paths)
    ]
    return pd.concat(frames, ignore_index=True)


def _history(path: str, content: str, found: dict[str, Artifact]) -> None:
    """Collect `path` and, through the provenance files beside each, everything it was made from."""
    if path in found:
        return
    facts = provenance.read(path)
    found[path] = Artifact(path, content, str(facts.get("rule", "")), str(facts.get("code", "")))
    for source, its_content in sorted(facts.get("inputs", {}).items()):
        _history(source, str(its_content), found)


def read_runs(scores: pd.DataFrame) -> list[Run]:
    """One `Run` per score table and identity, ordered by identity."""
    runs = []
    for identity in scores[[*RUN, "artifact"]].drop_duplicates().sort_values([*RUN]).to_dict("records"):
        path = identity.pop("artifact")
        facts = provenance.read(path)
        found: dict[str, Artifact] = {}
        for source, content in sorted(facts.get("inputs", {}).items()):
            _history(source, str(content), found)
        kept = {name: facts[name] for name in KEPT_FACTS if name in facts}
        runs.append(Run(identity, path, kept, tuple(sorted(found.values()))))
    return runs


def read_logs(paths: Iterable[str]) -> list[Log]:
    """Training logs `.../<benchmark>/<base>/<setting>/<split>/<method>/s<seed>/train_log.parquet`, in order."""
    logs = []
    for path in sorted(paths):
        parts = Path(path).parts[-7:-1]
        if len(parts) < 6:
            raise ValueError(
                f"report: {path} is not a run's training log; it should lie at "
                "<benchmark>/<base>/<setting>/<split>/<method>/s<seed>/train_log.parquet"
            )
        logs.append(Log(*parts, read_table(Path(path), "train_log")))
    return logs


def step_of(path: Path) -> str:
    """The step a benchmark file belongs to, read off its path below the folder of benchmark files.

    `data/<benchmark>/<cut>/<step>…` and, below `runs/<benchmark>/<base>/<setting>/`: `<step>/s<seed>` (base, target),
    `<split>/<step or method>/s<seed>` (a method's own is `unlearn`), `<split>/<method>/<step>/…`.
    """
    kind, *parts = path.with_suffix("").parts
    if kind == "data" and len(parts) > 2:
        return parts[2]
    if kind != "runs" or len(parts) < 5:
        return kind
    if len(parts) == 6:
        return parts[4] if parts[4] in ("retrain", "reference") else "unlearn"
    return parts[3] if len(parts) == 5 else parts[5]


def read_times(folder: str) -> list[dict]:
    """Jobs, seconds and peak MiB by step, slowest first, from Snakemake's benchmark files below `folder`.

    An empty list where there are none. A measure that Snakemake could not take (NA, -) is left out.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        table = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        if "s" in table:
            peak = table["max_rss"].max() if "max_rss" in table else None
            rows.append((step_of(path.relative_to(folder)), len(table), table["s"].sum(), peak))
    if not rows:
        return []
    frame = pd.DataFrame(rows, columns=["step", "jobs", "seconds", "peak"])
    by = frame.groupby("step").agg(jobs=("jobs", "sum"), seconds=("seconds", "sum"), peak=("peak", "max")).reset_index()
    by = by.sort_values(["seconds", "step"], ascending=[False, True])
    return by.astype(object).where(by.notna(), None).to_dict("records")


def read_usage(paths: Iterable[str]) -> list[dict]:
    """What language models took, added up by role, backend and model: prompts, replies, tokens, cost, failed.

    `cost` (USD) is None where a table of the row has no price. A reply that several jobs use counts where it was asked.
    """
    found = added_up([read_table(Path(path), "usage") for path in sorted(paths)])
    return found.astype(object).where(found.notna(), None).to_dict("records")


def read_selections(paths: Iterable[str]) -> pd.DataFrame:
    """All tables of selections as one."""
    found = [read_table(Path(path), "selection") for path in sorted(paths)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=schema("selection").names)


def read_roles(config: dict) -> dict[str, dict[str, dict[str, list[str]]]]:
    """benchmark -> setting -> train, holdout -> language codes, from the configuration; {} where it names none."""
    return {
        name: {
            setting: {role: list(roles.get(role) or ()) for role in ("train", "holdout")}
            for setting, roles in (benchmark.get("settings") or {}).items()
        }
        for name, benchmark in (config.get("benchmarks") or {}).items()
    }


def read_funnel(rejected: Sequence[str], kept: Sequence[str]) -> list[dict]:
    """By language: rows kept, and rows refused by each check (a row counts once a check, however many rounds it went).

    `rejected` are tables of refused rows, `kept` the tables of pairs that stayed; either may be empty.
    """
    refused = [read_table(Path(p), "rejected", ["id", "language", "check"]) for p in sorted(rejected)]
    stayed = [read_table(Path(p), "pairs", ["language"]) for p in sorted(kept)]
    bad = pd.concat(refused).drop_duplicates() if refused else pd.DataFrame(columns=["id", "language", "check"])
    counts = bad.groupby(["language", "check"]).size().unstack(fill_value=0)
    good = pd.concat(stayed)["language"].value_counts() if stayed else pd.Series(dtype=int)
    return [
        {
            "language": language,
            "kept": int(good.get(language, 0)) if stayed else None,
            "refused": {c: int(counts.loc[language, c]) if language in counts.index else 0 for c in counts.columns},
        }
        for language in sorted(set(good.index) | set(counts.index))
    ]
