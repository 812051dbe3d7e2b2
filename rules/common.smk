# Needs: the configuration. Makes: CONFIG, RUNS, and the functions that the other files' rules share.
import functools
import json

import yaml

from unlearning.cache import code
from unlearning.config import cluster
from unlearning.config.benchmarks import Files, Leak, Lume, Mu2, Seps
from unlearning.config.check_methods import method_for
from unlearning.config.compose import compose
from unlearning.config.load import load
from unlearning.config.resources import check_resources
from unlearning.config.runs import candidates_of, epochs_of, plan, schedule_of, several_epochs
from unlearning.config.umu import Umu
from unlearning.tables.shards import shard_file


def resource(name):
    return yaml.safe_load(Path(workflow.basedir, "resources", name).read_text(encoding="utf-8"))


LANGUAGES = resource("mu2/languages.yaml")
USABLE = [c for c in LANGUAGES if Path(workflow.basedir, f"resources/mu2/phrasebook/{c}.yaml").is_file()]
POOLS = resource("mu2/pools.yaml")["attributes"]

try:
    CONFIG = load(config)
    check_resources(
        CONFIG,
        attributes={name: len(pool["values"]) for name, pool in POOLS.items()},
        languages={c: LANGUAGES[c]["resource"] for c in USABLE},
    )
    RUNS = plan(CONFIG)
except ValueError as error:
    raise WorkflowError(str(error))

SEVERAL = several_epochs(RUNS)

# How a training job is spread: a resource, since what it makes does not depend on it and params would make it run again.
SCALE = json.dumps(CONFIG.scale.model_dump())

# Where answering is split into jobs, `answer` puts their tables together, without a model.
SPLIT = CONFIG.shards.answer > 1

RUN = "results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}"


wildcard_constraints:
    benchmark="[a-z0-9_]+",
    cut="[a-z0-9_]+",
    base_model="[a-z0-9_]+",
    setting="[a-z0-9_]+",
    split="[a-z0-9_]+",
    method="[a-z0-9_]+(~[0-9]+)?",
    attack="[a-z0-9_+]+",
    language="[a-z-]+",
    criterion="[a-z0-9_]+",
    seed="-?[0-9]+",
    epoch="[0-9]+",
    shard="[0-9]+of[0-9]+",


@functools.cache
def fingerprint(script, modules):
    return code.fingerprint(WORKFLOW / "scripts" / script, modules)


def plain(value):
    """Dictionaries sorted, tuples as lists: equal configurations give equal text, which is what Snakemake compares."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items(), key=lambda pair: str(pair[0]))}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def job(script, modules=(), **values):
    """The one parameter of a rule: the configuration values it uses and the fingerprint of the code it can reach."""
    modules = tuple(sorted(set(modules)))
    return {"code": fingerprint(script, modules), "modules": list(modules), "script": script, "values": plain(values)}


def of_kind(kind):
    """A constraint on wildcard benchmark: it is built as `kind`. `(?!)` matches nothing."""
    return "|".join(name for name, entry in CONFIG.benchmarks.items() if isinstance(entry, kind)) or "(?!)"


def benchmark_of(wildcards):
    return CONFIG.benchmarks[wildcards.benchmark]


def cut_of(benchmark):
    entry = CONFIG.benchmarks[benchmark]
    return entry.cut.name if isinstance(entry, Mu2) else entry.cut


def data(name):
    """Input function: a table of the run's benchmark and setting."""

    def path(w):
        return f"results/data/{w.benchmark}/{cut_of(w.benchmark)}/{w.setting}/{name}.parquet"

    return path


def run_folder(w, **changed):
    """The folder of a run like `w`; the target is trained once, under split `all`."""
    parts = dict(w.items()) | {k: str(v) for k, v in changed.items()}
    if parts["method"] in ("base", "target"):
        parts["split"] = "all"
    return RUN.format(**parts)


def last_epoch(w, method):
    return schedule_of(CONFIG.base_models[w.base_model], method).epochs


def languages_of(benchmark, setting):
    """Language code -> role, resource level and script, in the setting's order."""
    entry = CONFIG.benchmarks[benchmark]
    if not isinstance(entry, Mu2):
        return {entry.language: {"role": "train", "resource": "high", "script": "latin"}}
    chosen = entry.settings[setting]
    roles = {c: "train" for c in chosen.train} | {c: "holdout" for c in chosen.holdout}
    return {
        c: {"role": r, "resource": LANGUAGES[c]["resource"], "script": LANGUAGES[c]["script"]} for c, r in roles.items()
    }


def shard_files(n, *tables):
    """The files of the `n` shards of each of `tables`; none where one job makes them."""
    return [shard_file(table, k, n) for table in tables for k in range(1, n + 1)] if n > 1 else []


def each_shard(table):
    """The output of a job that makes a shard of `table`, with wildcard shard; it goes once the table is whole."""
    return temp(table.replace(".parquet", "~{shard}.parquet"))


def shard_of(w):
    """Which shard wildcard shard says: [k, n]."""
    return [int(number) for number in w.shard.split("of")]


def memory(verb):
    """Resource function: MB of a job that does `verb` with its base model."""
    return lambda wildcards, attempt: cluster.memory(CONFIG, verb, wildcards.base_model, attempt)


def minutes(verb):
    """Resource function: minutes of a job that does `verb` with its base model."""
    return lambda wildcards, attempt: cluster.minutes(CONFIG, verb, wildcards.base_model, attempt)


def train_languages(w):
    return [c for c, facts in languages_of(w.benchmark, w.setting).items() if facts["role"] == "train"]
