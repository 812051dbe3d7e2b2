# Needs: doors.smk, values.smk. Makes: what the rules of route llm (mu2_llm.smk) take from the configuration, by
# benchmark, and where people's decisions lie.
from unlearning.data.back_services import LLM, REVERSE
from unlearning.review.places import decision_files, elsewhere, misplaced
from unlearning.review.rows import ENDINGS

REVIEW = "config/review"


def routed(route):
    """A constraint on wildcard benchmark: its data take this route. `(?!)` matches nothing."""
    mu2 = {name: entry for name, entry in CONFIG.benchmarks.items() if isinstance(entry, Mu2)}
    return "|".join(name for name, entry in mu2.items() if entry.route == route) or "(?!)"


def prompt_files(*names):
    return [f"resources/prompts/{name}.yaml" for name in names]


def back_roles(entry):
    """The role that translates back, where a language model does; its prompt has the same name."""
    return ["backtranslator"] if entry.back_translator.service == LLM else []


def translation_prompts(*names):
    """Input function: the prompts of a step, and the back-translator's where that is a model; none for English."""

    def paths(w):
        if w.language == "en":
            return []
        return prompt_files(*names, *back_roles(benchmark_of(w)))

    return paths


def reverse_books(w):
    """The phrasebooks that translate back in tests."""
    reverse = benchmark_of(w).back_translator.service == REVERSE and w.language != "en"
    codes = [w.language, "en"] if reverse else []
    return [f"resources/mu2/phrasebook/{code}.yaml" for code in codes]


def roles_job(roles):
    """What a job that asks several roles takes, their code included."""
    return {
        "modules": [module for role in roles for module in door_modules(role)],
        "doors": {role: door_of(role) for role in roles},
        "sampling": {role: sampling_of(role) for role in roles},
    }


def roles_gpus(*roles):
    return max(complete_gpus(role) for role in roles)


def translation_roles(w):
    """None for English, which is not translated."""
    if w.language == "en":
        return []
    return ["translator", "equivalence", *back_roles(benchmark_of(w))]


def translation_gpus(w):
    return roles_gpus(*translation_roles(w)) if translation_roles(w) else 0


def translation_job(w):
    """Who translates, judges and translates back."""
    entry, roles = benchmark_of(w), translation_roles(w)
    return {
        "language": w.language,
        "max_rounds": entry.max_rounds,
        "back_translator": entry.back_translator.model_dump() if roles else None,
        **roles_job(roles),
    }


def values_job(w):
    return {"attributes": mu2_cut(w.benchmark)["attributes"], **translation_job(w)}


def refine_job(w):
    return {"cut": w.cut, "max_rounds": benchmark_of(w).max_rounds, **roles_job(["refiner", "equivalence"])}


def check_review():
    """Refuse a file of people's decisions that nothing would read, before anything runs; warn of other benchmarks'."""
    benchmarks = {name: isinstance(entry, Mu2) for name, entry in CONFIG.benchmarks.items()}
    wrong = misplaced(REVIEW, benchmarks, {code: facts["name"] for code, facts in LANGUAGES.items()})
    if wrong:
        raise WorkflowError(
            f"files below {REVIEW} that nothing would read:",
            *(f"  - {problem}" for problem in wrong),
            f"  (people's decisions lie at {REVIEW}/<benchmark>/<language>{', '.join(ENDINGS)}; "
            "what is no review sheet belongs somewhere else)",
        )
    if workflow.is_main_process:  # jobs read this file again
        for line in elsewhere(REVIEW, benchmarks):
            print(f"warning: {line}", file=sys.stderr)


check_review()


def attempts(w):
    """Where language models translate: what they tried."""
    folder = f"results/data/{w.benchmark}/{w.cut}/rounds/pairs"
    return [f"{folder}/{w.language}.parquet"] if benchmark_of(w).route == "llm" else []
