# Needs: a model; local tasks where there are any. Makes: what lm-evaluation-harness reports of it, harness.parquet.
rule harness:
    input:
        unpack(harness_inputs),
    output:
        table="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/none/harness.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-harness.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/harness/s{seed}-e{epoch}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.answer
    resources:
        gpu=CONFIG.gpus.answer,
        mem_mb=memory("answer"),
        runtime=minutes("answer"),
    params:
        job=lambda w: job("harness.py", **harness_values(w)),
    message:
        "Standard benchmarks for {wildcards.method} ({wildcards.benchmark})"
    script:
        "../workflow/scripts/harness.py"
