# Needs: common.smk. Makes: for each rule, exactly the configuration values it uses, and inputs that depend on them.
from unlearning.config.candidates import SEARCH
from unlearning.data.umu.real import picture_files
from unlearning.registry import available, declared


def mu2_languages(benchmark):
    """Every language any setting uses, and English, from which all are translated."""
    settings = CONFIG.benchmarks[benchmark].settings.values()
    return {"en"} | {code for s in settings for code in (*s.train, *s.holdout)}


def mu2_cut(benchmark):
    entry = CONFIG.benchmarks[benchmark]
    cut = entry.cut
    counts = {"memorised": cut.memorised, "nonmember": cut.nonmember, "background": cut.background}
    attributes = list(POOLS) if cut.attributes == "all" else cut.attributes
    return {"counts": counts, "attributes": attributes, "seed": entry.seed}


def mu2_layout(w):
    entry = CONFIG.benchmarks[w.benchmark]
    roles = {c: facts["role"] for c, facts in languages_of(w.benchmark, w.setting).items()}
    return {
        "roles": roles,
        "forget": entry.forget,
        "heldout_share": entry.heldout_share,
        "benchmark": w.benchmark,
        "seed": entry.seed,
    }


@functools.cache
def outside(benchmark):
    """The files outside the project that the benchmark's data are made of; found once, as a table may have to be read."""
    entry = CONFIG.benchmarks[benchmark]
    if getattr(entry, "source", None) is None:
        return []
    if CONFIG.sources[entry.source].hub:
        return [f"results/sources/{entry.source}/{name}.parquet" for name in sorted(entry.files())]
    folder = Path(CONFIG.sources[entry.source].folder).expanduser()
    found = [str(folder / name) for name in sorted(entry.files())]
    if isinstance(entry, Umu):  # its one file is a table that names pictures
        found += [picture for table in found if Path(table).is_file() for picture in picture_files(table)]
    return found


def hub_folder(source):
    """The files of a data set that lies in a folder, and what they are called below it; nothing of one on the Hub."""
    if not CONFIG.sources[source].copied:
        return [], []
    folder = Path(CONFIG.sources[source].hub).expanduser()
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    return [str(folder / name) for name in names], names


def hub_values(source):
    """Which data set; the path of a folder tells of the machine and is left to the job's inputs."""
    entry, (_, names) = CONFIG.sources[source], hub_folder(source)
    return {"names": names} if names else {"hub": entry.hub, "revision": entry.revision}


def check_sources():
    """Refuse a missing file before anything runs: Snakemake would go on with the tables built from an earlier one."""
    for benchmark in sorted({r.benchmark for r in RUNS}):
        source = getattr(CONFIG.benchmarks[benchmark], "source", None)
        if source and (hub := CONFIG.sources[source].hub):
            if CONFIG.sources[source].copied and not hub_folder(source)[0]:
                raise WorkflowError(f"sources.{source}.hub: no folder {hub} with files; mend it, or give owner/name")
            continue
        try:
            missing = [path for path in outside(benchmark) if not Path(path).is_file()]
        except ValueError as error:
            raise WorkflowError(f"benchmarks.{benchmark}.{CONFIG.benchmarks[benchmark].files_key}: {error}")
        if missing:
            entry = CONFIG.benchmarks[benchmark]
            names = "the set's file or align" if isinstance(entry, Files) else "its name"
            raise WorkflowError(
                f"benchmarks.{benchmark}.{entry.files_key}: no file {', '.join(missing)}; mend {names}, or the folder "
                f"sources.{entry.source}"
            )


check_sources()


def running(entry, w):
    """What every training job takes: seed, device, precision, adapters."""
    lora = entry.lora.model_dump() if entry.lora else None
    return {"seed": int(w.seed), "device": CONFIG.device, "dtype": entry.dtype, "lora": lora}


def base_values(w):
    entry = CONFIG.base_models[w.base_model]
    return {
        "pretrained": {"name": entry.name, "revision": entry.revision} if entry.name else None,
        "architecture": entry.architecture.model_dump() if entry.architecture else None,
        "training": entry.base.model_dump(exclude={"background_share"}),
        **running(entry, w),
    }


def memorize_values(w, method):
    entry = CONFIG.base_models[w.base_model]
    training = schedule_of(entry, method).model_dump()
    every = list(languages_of(w.benchmark, w.setting))
    select = {
        "memorised_languages": train_languages(w) if method == "target" else every,
        "background_languages": every,
        "background_share": training.pop("background_share"),
        "split": None if method == "target" else w.split,
    }
    return {"training": training, "select": select, **running(entry, w)}


def documents_only(w):
    """The switch of LUME that leaves prompts out of what is unlearned, where it is on."""
    entry = benchmark_of(w)
    return {"documents_only": True} if isinstance(entry, Lume) and entry.documents_only else {}


def reference_values(w):
    dtype = CONFIG.base_models[w.base_model].dtype
    values = {"split": w.split, "languages": train_languages(w), "device": CONFIG.device, "dtype": dtype}
    return values | documents_only(w)


def terms(w):
    return method_for(CONFIG, w.base_model, w.method).modules


def needs(w):
    return {need for module in terms(w) for need in declared(module, "NEEDS", ())}


def unlearn_inputs(w):
    inputs = {
        "target": f"{run_folder(w, method='target')}/model.json",
        "examples": data("examples")(w),
        "splits": data("splits")(w),
    }
    if "ref_logprobs" in needs(w):
        epochs = method_for(CONFIG, w.base_model, w.method).epochs
        drawn = f"~e{epochs}" if "refusal_ref_logprobs" in needs(w) else ""
        inputs["ref_logprobs"] = f"{run_folder(w, method='target')}/ref_logprobs/{w.split}{drawn}.parquet"
    if "refusals" in needs(w):
        inputs["refusals"] = "resources/refusals.yaml"
    return inputs


def unlearn_values(w):
    """The method's own adapters, if it has any, stand in its entry."""
    values = running(CONFIG.base_models[w.base_model], w)
    del values["lora"]
    method = method_for(CONFIG, w.base_model, w.method).model_dump(exclude=set(SEARCH))
    values |= {"split": w.split, "languages": train_languages(w)}
    return {"method": method, **values, **documents_only(w)}


def epochs_scored(w):
    """The epochs of the run that are scored without attack, where there are several; else nothing."""
    return SEVERAL.get((w.benchmark, w.base_model, w.method), [])


def model_after(w, epoch):
    """The model.json of the run after `epoch`: its own after the last, one that was kept by the way before."""
    folder = run_folder(w)
    return f"{folder}/e{epoch}/model.json" if int(epoch) in epochs_scored(w)[:-1] else f"{folder}/model.json"


def likelihood_values(w):
    return {
        "batch_size": benchmark_of(w).asking.batch_size,
        "device": CONFIG.device,
        "dtype": CONFIG.base_models[w.base_model].dtype,
        "threads": CONFIG.threads.answer,
    }


def mixed_of(w):
    """How the benchmark's mixed prompts are made; None where it has none."""
    return getattr(benchmark_of(w), "mixed", None)


def embed_values(w):
    return {"encoder": benchmark_of(w).encoder.model_dump(), "device": CONFIG.device, "threads": CONFIG.threads.answer}


def embedded(need, source):
    """Input function: what `source` gives where the metrics of the scores read the embeddings called `need`."""

    def path(w):
        needs = needed(w.criterion) if "criterion" in w.keys() else metric_needs(w.benchmark)
        return source(w) if need in needs else []

    return path


def told_in_embeddings(w):
    """The embeddings of the target's answers without attack."""
    return f"{run_folder(w, method='target')}/e{last_epoch(w, 'target')}/none/embeddings.parquet"


def judged(benchmark):
    """Whether a metric of the benchmark reads verdicts, of whatever model; else nothing is judged."""
    return any(need.split(":")[-1] == "verdicts" for need in metric_needs(benchmark))


def told_by(method):
    """Input function: answers, likelihoods and, where they are read, verdicts of `method` at its last epoch without
    attack."""

    def paths(w):
        folder = f"{run_folder(w, method=method)}/e{last_epoch(w, method)}/none"
        read = "verdicts" in needed(w.criterion) if "criterion" in w.keys() else judged(w.benchmark)
        return [f"{folder}/{name}.parquet" for name in ("answers", "likelihoods", *(["verdicts"] if read else []))]

    return paths


def own(name):
    """Input function: a table of the scored run itself."""

    def path(w):
        return f"{run_folder(w)}/e{w.epoch}/{w.attack}/{name}.parquet"

    return path


def second_verdicts(w):
    return [own(f"verdicts~{judge}")(w) for judge in benchmark_of(w).second_judges]


LLM_JUDGES = [name for name in available("judges") if "complete" in declared(f"unlearning.judges.{name}", "NEEDS")]
OTHER_JUDGES = [name for name in available("judges") if name not in LLM_JUDGES]


def judged_by(judges):
    """A constraint on wildcard benchmark: its primary judge is one of `judges`. `(?!)` matches nothing."""
    return "|".join(name for name, entry in CONFIG.benchmarks.items() if entry.judge in judges) or "(?!)"


def judging_job(w, judge):
    """The parameter of a judge that needs no language model."""
    return job("judge.py", [f"unlearning.judges.{judge}", *changed_modules(w)], judge=judge, **changed_values(w))


def judge_prompt(w):
    judging = benchmark_of(w).judging
    return f"resources/prompts/{declared('unlearning.judges.llm', 'PROMPTS')[judging.scale][judging.form]}.yaml"


def judge_llm_values(w):
    judging = benchmark_of(w).judging
    return {
        "scale": judging.scale,
        "size": judging.size,
        "door": door_of("judge"),
        "sampling": sampling_of("judge"),
        **changed_values(w),
    }


def usages():
    """What language models took: one table a run and LLM judge, and those of the data that they built."""
    tables = [f"results/data/{b}/{cut_of(b)}/usage/refined.parquet" for b in mu2_used("llm")]
    tables += [t for kind in ("values", "pairs") for t in per_language(f"usage/{kind}/{{language}}.parquet", "llm")]
    for run in RUNS:
        entry, folder = CONFIG.benchmarks[run.benchmark], f"{run_folder(run._asdict())}/e{run.epoch}/{run.attack}"
        tables += [f"{folder}/usage.parquet"] if entry.judge in LLM_JUDGES and judged(run.benchmark) else []
        tables += [f"{folder}/usage~{judge}.parquet" for judge in entry.second_judges if judge in LLM_JUDGES]
        if run.method in SEARCHED and entry.judge in LLM_JUDGES and "verdicts" in needed(criterion_of(run)):
            tables += candidate_files(run._asdict(), "e{epochs}/none/usage.parquet")
    return list(dict.fromkeys(tables))


def value_tables(w):
    entry = benchmark_of(w)
    if not isinstance(entry, Mu2):
        return []
    folder = f"results/data/{w.benchmark}/{entry.cut.name}/values"
    return [f"{folder}/{language}.parquet" for language in languages_of(w.benchmark, w.setting)]


def metrics_of(entry):
    """The benchmark's metrics; two judges are compared even where the list does not name it."""
    return list(dict.fromkeys([*entry.metrics, *(["kappa"] if entry.second_judges else [])]))


def metric_modules(w):
    return [f"unlearning.metrics.{name}" for name in metrics_of(benchmark_of(w))]


@functools.cache
def metric_needs(benchmark):
    """What the benchmark's metrics need: likelihoods, answers, verdicts, values, harness; of target:, plain: and the like."""
    metrics = metrics_of(CONFIG.benchmarks[benchmark])
    return {need for name in metrics for need in declared(f"unlearning.metrics.{name}", "NEEDS")}


def score_values(w):
    entry = benchmark_of(w)
    attacks = {"attacks": found} if (found := attacks_read(w)) else {}
    identity = {k: w[k] for k in ("benchmark", "base_model", "setting", "split", "method", "attack")}
    return {
        "identity": identity | {"seed": int(w.seed), "epoch": int(w.epoch)},
        "metrics": metrics_of(entry),
        "languages": languages_of(w.benchmark, w.setting),
        "judge": entry.judge if judged(w.benchmark) else "",
        "second_judges": entry.second_judges,
        "draws": CONFIG.bootstrap_draws,
        **changed_values(w, SCORED),
        **attacks,
    }


def trained(name):
    """The file `name` of every trained model of the enabled runs, once each."""
    folders = {run_folder(r._asdict()): None for r in RUNS if r.attack == "none"}
    bases = {run_folder(r._asdict(), method="base"): None for r in RUNS}
    return [f"{folder}/{name}" for folder in [*bases, *folders]]


def mu2_used(route=None):
    """The μ² benchmarks in use; with `route`, those whose data take it."""
    used = {r.benchmark: CONFIG.benchmarks[r.benchmark] for r in RUNS}
    return [b for b, entry in used.items() if isinstance(entry, Mu2) and route in (None, entry.route)]


def per_language(table, route=None):
    """A table of every μ² data set in use, in each of its languages; `table` holds {language}, `route` as in mu2_used."""
    return [
        f"results/data/{b}/{cut_of(b)}/{table.format(language=language)}"
        for b in mu2_used(route)
        for language in sorted({c for r in RUNS if r.benchmark == b for c in languages_of(b, r.setting)})
    ]


def review_values(benchmark):
    entry = CONFIG.benchmarks[benchmark]
    return {"share": entry.review_share, "seed": entry.seed}
