# Needs: values.smk, doors.smk, mu2_route.smk. Makes: what the rules of school questions, and of files that use them, read.
from unlearning.data.files_spec import SCHOOL_ROLES, school_file


def school_of(*routes):
    """A constraint on wildcard benchmark: files whose school questions take one of these routes. `(?!)` matches nothing."""
    files = {name: entry for name, entry in CONFIG.benchmarks.items() if isinstance(entry, Files) and entry.subjects()}
    return "|".join(name for name, entry in files.items() if entry.school.route in routes) or "(?!)"


def school_files(w):
    """The school questions that the benchmark's sets name."""
    entry = benchmark_of(w)
    subjects = entry.subjects() if isinstance(entry, Files) else []
    return [f"results/data/{w.benchmark}/{w.cut}/{school_file(subject)}" for subject in subjects]


def school_values(w):
    entry = benchmark_of(w).school
    return {"subject": w.subject, "n": entry.per_subject, "seed": entry.seed}


def school_roles(entry):
    """The language models that write the benchmark's school questions."""
    return list(SCHOOL_ROLES) if entry.subjects() and entry.school.route == "llm" else []


def school_facts(entry):
    return [f"resources/seps/school/{subject}.yaml" for subject in entry.subjects()]


def school_usages():
    """What language models took for the data in use."""
    used = {r.benchmark: CONFIG.benchmarks[r.benchmark] for r in RUNS}
    files = {b: entry for b, entry in sorted(used.items()) if isinstance(entry, Files) and school_roles(entry)}
    return [
        f"results/data/{b}/{cut_of(b)}/school/usage/{s}.parquet" for b, entry in files.items() for s in entry.subjects()
    ]
