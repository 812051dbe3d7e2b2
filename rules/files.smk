# Needs: files of questions in the folders named under `sources`. Makes: their tables, results/data/<benchmark>/<cut>/default/…
rule files_build:
    input:
        sources=lambda w: outside(w.benchmark),
    output:
        examples="results/data/{benchmark}/{cut}/default/examples.parquet",
        questions="results/data/{benchmark}/{cut}/default/items.parquet",
        splits="results/data/{benchmark}/{cut}/default/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/files.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/files_build.tsv"
    wildcard_constraints:
        benchmark=of_kind(Files),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("files_build.py", spec=benchmark_of(w).spec(), benchmark=w.benchmark),
    message:
        "Reading the files of {wildcards.benchmark}"
    script:
        "../workflow/scripts/files_build.py"
