# Needs: values.smk, select_values.smk. Makes: which tasks of lm-evaluation-harness a run is asked, and the files they lie in.
from unlearning.utility import mmlu_csv


@functools.cache
def harness_entries(benchmark):
    """The entries of the benchmark's `harness` behind a metric that it lists, or that a criterion reads."""
    entry = CONFIG.benchmarks[benchmark]
    criteria = {m.select for m in CONFIG.methods.values() if m.select}
    read = {metric for c in criteria for metric in declared(f"unlearning.criteria.{c}", "METRICS")}
    return {name: tasks for name, tasks in entry.harness.items() if name in {*metrics_of(entry), *read}}


def local_tasks(include):
    """The files of a folder of local tasks: definitions and data."""
    found = sorted(str(path) for path in Path(include).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    if not any(path.endswith(".yaml") for path in found):
        raise ValueError(f"include: no folder {include} with tasks in *.yaml; mend its name, from the project's folder")
    return found


def mmlu_files(source):
    return mmlu_csv.files(Path(CONFIG.sources[source].folder).expanduser())


@functools.cache
def harness_files(benchmark):
    """Local tasks and MMLU's own files, as the inputs of the job; ValueError names the key under which they are not."""
    found = {"local": [], "mmlu_files": []}
    for name, tasks in harness_entries(benchmark).items():
        try:
            found["local"] += local_tasks(tasks.include) if tasks.include else []
            found["mmlu_files"] += mmlu_files(tasks.mmlu_csv) if tasks.mmlu_csv else []
        except ValueError as error:
            raise ValueError(f"benchmarks.{benchmark}.harness.{name}: {error}") from error
    return {kind: paths for kind, paths in found.items() if paths}


def check_harness():
    """Refuse missing files before anything runs."""
    for benchmark in sorted({r.benchmark for r in RUNS}):
        try:
            harness_files(benchmark)
        except ValueError as error:
            raise WorkflowError(str(error))


check_harness()


def harness_inputs(w):
    return {"model": model_after(w, w.epoch), **harness_files(w.benchmark)}


def harness_values(w):
    """As for answers; each entry without the name of the source, since the files are inputs."""
    entries = {
        name: tasks.model_dump(exclude={"mmlu_csv"}, exclude_none=True)
        for name, tasks in harness_entries(w.benchmark).items()
    }
    values = likelihood_values(w)
    del values["batch_size"]
    return {"utilities": entries, **values}


def harness_table(w, method=None):
    """The table `harness` of the run, or of `method` at its last epoch; nothing of a run under an attack."""
    if w.get("attack", "none") != "none":
        return []
    epoch = w.epoch if method is None else last_epoch(w, method)
    return f"{run_folder(w, **({} if method is None else {'method': method}))}/e{epoch}/none/harness.parquet"


def tested(need):
    """Input function: the table for `need`, harness or target:harness, where a metric of the benchmark has it."""
    method = need.split(":")[0] if ":" in need else None
    return lambda w: harness_table(w, method) if need in metric_needs(w.benchmark) else []
