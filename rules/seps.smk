# Needs: resources/mu2 (value pools, English phrasebook). Makes: SEPS's own question set, questions.parquet, which files.smk
# turns into its data.
from unlearning.data.tofu_shaped import spec

SEPS_SOURCES = ["resources/mu2/pools.yaml", "resources/mu2/phrasebook/en.yaml"]


def seps_attributes(entry):
    return list(POOLS) if entry.people.attributes == "all" else entry.people.attributes


def seps_people(entry):
    return {**entry.people.model_dump(exclude={"attributes"}), "practice": entry.practice}


def files_sources(w):
    """The files that the data are read from."""
    own = f"results/data/{w.benchmark}/{w.cut}/questions.parquet"
    return own if isinstance(benchmark_of(w), Seps) else outside(w.benchmark)


def files_spec(entry):
    if isinstance(entry, Files):
        return entry.spec()
    return spec(**seps_people(entry), attributes=len(seps_attributes(entry)), forget=entry.forget)


def files_mixed(entry):
    """What making mixed prompts takes, where there are any."""
    if entry.mixed is None:
        return {}
    found = {"mixed": {"lines": entry.mixed.stress_lines, "seed": entry.mixed.seed}}
    if entry.mixed.pairing == "random":
        return found
    found["mixed"]["rank"] = entry.mixed.rank
    return found | {"encoder": entry.encoder.model_dump(), "device": CONFIG.device}


rule seps_questions:
    input:
        pools=SEPS_SOURCES[0],
        phrasebook=SEPS_SOURCES[1],
    output:
        questions="results/data/{benchmark}/{cut}/questions.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/questions.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/seps_questions.tsv"
    wildcard_constraints:
        benchmark=of_kind(Seps),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "seps_questions.py",
            attributes=seps_attributes(benchmark_of(w)),
            seed=benchmark_of(w).seed,
            **seps_people(benchmark_of(w)),
        ),
    message:
        "Inventing the questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/seps_questions.py"
