# Needs: values.smk, mu2_route.smk. Makes: what the rules of LUME's documents, and the report of them, read.
GRAMMARS = [f"resources/lume/{name}.yaml" for name in ("stories", "people", "biographies", "states")]
LUME_ROLES = ("writer", "questioner", "verifier_1", "verifier_2", "verifier_3")


def lume_of(*routes):
    """A constraint on wildcard benchmark: LUME's documents by one of these routes. `(?!)` matches nothing."""
    lume = {name: entry for name, entry in CONFIG.benchmarks.items() if isinstance(entry, Lume)}
    return "|".join(name for name, entry in lume.items() if entry.route in routes) or "(?!)"


def lume_sizes(w):
    """Documents of each task (to forget, to retain), non-members, seed."""
    entry = benchmark_of(w)
    return {
        "sizes": {task: [size.forget, size.retain] for task, size in entry.sizes},
        "nonmembers": entry.nonmembers,
        "seed": entry.seed,
    }


def lume_background(w):
    return {task: size.background for task, size in benchmark_of(w).sizes if size.background}


def lume_roles(entry):
    """The language models that write the benchmark's documents and questions."""
    return list(LUME_ROLES) if entry.route == "llm" else []


def lume_llm_values(w):
    entry = benchmark_of(w)
    columns = {name: column for name, column in entry.columns.model_dump().items() if column}
    real = {"columns": columns, "spare": entry.spare} if entry.task3 == "file" else {}
    return lume_sizes(w) | real | {"max_rounds": entry.max_rounds} | roles_job(LUME_ROLES)


def published_files(w):
    """LUME's published files by group."""
    entry = benchmark_of(w)
    folder = Path(CONFIG.sources[entry.source].folder).expanduser()
    return {group: str(folder / name) for group, name in entry.published.model_dump().items()}


def lume_used(*routes):
    """The folders of the data in use that take one of these routes."""
    used = {r.benchmark: CONFIG.benchmarks[r.benchmark] for r in RUNS}
    lume = sorted(b for b, entry in used.items() if isinstance(entry, Lume) and entry.route in routes)
    return [f"results/data/{b}/{cut_of(b)}" for b in lume]


def lume_usages():
    """What language models took for the data in use."""
    return [f"{folder}/usage/documents.parquet" for folder in lume_used("llm")]


def lume_built():
    """What the report shows of how the data in use were built."""
    return [f"{folder}/funnel.parquet" for folder in lume_used("templates", "llm")]


def lume_sheets():
    """The sheets on which people judge the stories of the data in use."""
    return [f"{folder}/review/stories.xlsx" for folder in lume_used("templates", "llm")]
