# Needs: prompts.parquet below …/llm/<role>/. Makes: completions.parquet and usage.parquet beside it: the one door to LLMs.
from unlearning.config.doors import door_code, door_gpus, door_settings, sampling_settings
from unlearning.config.llm import ROLES


def door_of(role):
    """Who answers for a role: what `open_door` takes."""
    return door_settings(CONFIG, role)


def sampling_of(role):
    """How a role's replies are drawn: what `Sampling` takes."""
    return sampling_settings(CONFIG, role)


def door_modules(role):
    """The code that answers for a role, for the fingerprint of the job that asks."""
    return door_code(CONFIG, role)


def complete_gpus(role):
    """GPUs of a job that asks this role."""
    return door_gpus(CONFIG, role)


rule complete:
    input:
        prompts="results/{where}/llm/{role}/prompts.parquet",
    output:
        completions="results/{where}/llm/{role}/completions.parquet",
        usage="results/{where}/llm/{role}/usage.parquet",
    log:
        "results/logs/{where}/llm/{role}.log",
    benchmark:
        "results/benchmarks/{where}/llm/{role}.tsv"
    wildcard_constraints:
        where="(data|runs)/.+",
        role="|".join(ROLES),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=lambda w: complete_gpus(w.role),
    params:
        job=lambda w: job("complete.py", door_modules(w.role), door=door_of(w.role)),
    message:
        "Asking the {wildcards.role} ({wildcards.where})"
    script:
        "../workflow/scripts/complete.py"
