# Needs: answers and items. Makes: embeddings.parquet, sentence embeddings of the answers of a run and of the references.
rule embed:
    input:
        answers=own("answers"),
        questions=data("items"),
    output:
        embeddings="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/embeddings.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-embed.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/embed/s{seed}-e{epoch}-{attack}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.answer
    resources:
        gpu=CONFIG.gpus.answer,
    params:
        job=lambda w: job("embed.py", **embed_values(w)),
    message:
        "Embedding the answers of {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/embed.py"


use rule embed as embed_references with:
    input:
        questions="results/data/{benchmark}/{cut}/{setting}/items.parquet",
    output:
        embeddings="results/data/{benchmark}/{cut}/{setting}/embeddings.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/{setting}/embed.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/{setting}/embed_references.tsv"
    message:
        "Embedding the right answers of {wildcards.benchmark}"
