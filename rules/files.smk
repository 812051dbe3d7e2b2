# Needs: files of questions in the folders named under `sources`. Makes: their tables, results/data/<benchmark>/<cut>/default/…
rule files_build:
    input:
        sources=files_sources,
        school=school_files,
    output:
        examples="results/data/{benchmark}/{cut}/default/examples.parquet",
        questions="results/data/{benchmark}/{cut}/default/items.parquet",
        splits="results/data/{benchmark}/{cut}/default/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/files.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/files_build.tsv"
    wildcard_constraints:
        benchmark=f"{of_kind(Files)}|{of_kind(Seps)}",
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "files_build.py",
            spec=files_spec(benchmark_of(w)),
            benchmark=w.benchmark,
            **files_mixed(benchmark_of(w)),
        ),
    message:
        "Reading the files of {wildcards.benchmark}"
    script:
        "../workflow/scripts/files_build.py"
