# Needs: values.smk. Makes: what the rules of SEPS's own question set, and of files with mixed prompts, read.
from unlearning.data.tofu_shaped import WRONG, spec

SEPS_SOURCES = ["resources/mu2/pools.yaml", "resources/mu2/phrasebook/en.yaml"]


def seps_attributes(entry):
    every = [name for name, pool in POOLS.items() if len(pool["values"]) > WRONG]
    return every if entry.people.attributes == "all" else entry.people.attributes


def seps_people(entry):
    return {**entry.people.model_dump(exclude={"attributes", "practised"}), "practice": entry.practice}


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
