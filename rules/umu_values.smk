# Needs: values.smk. Makes: what the rules of UMU-Bench's data, and the report of them, read.
from unlearning.data.umu.lists import FIELDS

UMU_LISTS = {"places": "resources/umu/places.yaml", "lists": "resources/umu/people.yaml"}
UMU_WORDS = "resources/umu/questions.yaml"


def umu_counts(entry):
    """Role -> people to invent; real people take the place of the invented known ones."""
    return {**entry.people.model_dump(), **({"known": 0} if entry.real else {})}


def umu_fields(entry):
    return list(FIELDS) if entry.fields == "all" else entry.fields


def umu_layout(w):
    entry = benchmark_of(w)
    return {
        "benchmark": w.benchmark,
        "fields": umu_fields(entry),
        "text_side": entry.text_side,
        "practice": entry.practice,
        "forget": entry.forget,
        "seed": entry.seed,
    }


def umu_faces():
    """The sheets of faces of the data in use."""
    used = sorted({r.benchmark for r in RUNS if isinstance(CONFIG.benchmarks[r.benchmark], Umu)})
    return [f"results/data/{b}/{cut_of(b)}/faces.png" for b in used]
