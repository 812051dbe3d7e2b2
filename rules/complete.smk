# Needs: prompts.parquet below …/llm/<role>/. Makes: completions.parquet and usage.parquet beside it: the one door to LLMs;
# with shards.complete above 1 in so many jobs, complete_shard, which `complete` then waits for.
BULK = "results/{where}/llm/{role}"


rule complete:
    input:
        prompts=f"{BULK}/prompts.parquet",
        shards=complete_shards,
    output:
        completions=f"{BULK}/completions.parquet",
        usage=f"{BULK}/usage.parquet",
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
        gpu=lambda w: 0 if complete_shards(w) else complete_gpus(w.role),
        mem_mb=llm_memory(lambda w: [] if complete_shards(w) else [w.role]),
        runtime=llm_minutes(lambda w: [] if complete_shards(w) else [w.role]),
    params:
        job=lambda w: job("complete.py", door_modules(w.role), role=w.role, door=door_of(w.role)),
    message:
        "Asking the {wildcards.role} ({wildcards.where})"
    script:
        "../workflow/scripts/complete.py"


use rule complete as complete_shard with:
    input:
        prompts=f"{BULK}/prompts.parquet",
    output:
        completions=each_shard(f"{BULK}/completions.parquet"),
        usage=each_shard(f"{BULK}/usage.parquet"),
    log:
        "results/logs/{where}/llm/{role}~{shard}.log",
    benchmark:
        "results/benchmarks/{where}/llm/{role}~{shard}.tsv"
    resources:
        gpu=lambda w: complete_gpus(w.role),
        mem_mb=llm_memory(lambda w: [w.role]),
        runtime=llm_minutes(lambda w: [w.role]),
    params:
        job=lambda w: job("complete.py", door_modules(w.role), role=w.role, door=door_of(w.role), shard=shard_of(w)),
    message:
        "Asking the {wildcards.role} ({wildcards.where}), part {wildcards.shard}"
