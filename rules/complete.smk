# Needs: prompts.parquet below …/llm/<role>/. Makes: completions.parquet and usage.parquet beside it: the one door to LLMs.
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
        mem_mb=llm_memory(lambda w: [w.role]),
        runtime=llm_minutes(lambda w: [w.role]),
    params:
        job=lambda w: job("complete.py", door_modules(w.role), role=w.role, door=door_of(w.role)),
    message:
        "Asking the {wildcards.role} ({wildcards.where})"
    script:
        "../workflow/scripts/complete.py"
