# Needs: values.smk. Makes: what the rules of leak-resistant unlearning, and the report of it, read.
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


def leak_built():
    """What the report shows of how the data in use were built."""
    used = sorted({r.benchmark for r in RUNS if isinstance(CONFIG.benchmarks[r.benchmark], Leak)})
    return [f"results/data/{b}/{cut_of(b)}/{table}.parquet" for b in used for table in ("funnel", "quality")]
