# Needs: values.smk. Makes: what the rules of leak-resistant unlearning read.
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
