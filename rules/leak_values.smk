# Needs: values.smk, mu2_route.smk. Makes: what the rules of leak-resistant unlearning, and the report of it, read.
from unlearning.config.llm import OFFLINE
from unlearning.data.leak.matches import TYPES

QUESTION_ROLES = ("composer", "decomposer", "uniqueness")
RATERS = ("rater_1", "rater_2", "rater_3")


def leak_of(wanted):
    """A constraint on wildcard benchmark: leak-resistant unlearning, and `wanted(its entry)`. `(?!)` matches nothing."""
    leak = {name: entry for name, entry in CONFIG.benchmarks.items() if isinstance(entry, Leak)}
    return "|".join(name for name, entry in leak.items() if wanted(entry)) or "(?!)"


def leak_wordings(w):
    """Wordings of relations, of the types of question, and general rules, for the benchmark's facts."""
    own = benchmark_of(w).facts
    return {
        "templates": f"resources/leak/templates/{own}.yaml",
        "frames": "resources/leak/frames.yaml",
        "general_rules": f"resources/leak/rules/{own}.yaml",
    }


def leak_values(w, *keys):
    return benchmark_of(w).model_dump(include={"seed", *keys})


def leak_raters(entry):
    """The roles that rate the kept questions: those of the three that are given a model, if any are to be rated."""
    return [role for role in RATERS if entry.rated_per_type and door_of(role)["backend"]["kind"] != OFFLINE]


def leak_roles(entry):
    """The language models that build the benchmark's data, in the order in which they are asked."""
    extracting = ["extractor"] if entry.facts == "texts" else []
    return [*extracting, *(QUESTION_ROLES if entry.route == "llm" else ()), *leak_raters(entry)]


def leak_llm_values(w):
    keys = ("candidates", "per_type", "on_short", "asked_per_type", "max_rounds")
    return leak_values(w, *keys) | roles_job(QUESTION_ROLES)


def leak_usages():
    """What language models took for the data in use."""
    tables = []
    for b in sorted({r.benchmark for r in RUNS if isinstance(CONFIG.benchmarks[r.benchmark], Leak)}):
        entry = CONFIG.benchmarks[b]
        asked = {"extracted": entry.facts == "texts", "questions": entry.route == "llm", "ratings": leak_raters(entry)}
        tables += [f"results/data/{b}/{cut_of(b)}/usage/{name}.parquet" for name, there in asked.items() if there]
    return tables


def leak_built():
    """What the report shows of how the data in use were built."""
    used = sorted({r.benchmark for r in RUNS if isinstance(CONFIG.benchmarks[r.benchmark], Leak)})
    return [f"results/data/{b}/{cut_of(b)}/{table}.parquet" for b in used for table in ("funnel", "quality")]
