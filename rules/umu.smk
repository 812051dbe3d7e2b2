# Needs: resources/umu, and a folder with real people where `real` names one. Makes: UMU-Bench's data,
# results/data/<benchmark>/<cut>/…, each step by itself: other words of the questions draw no face anew.
rule umu_people:
    input:
        **UMU_LISTS,
        sources=lambda w: outside(w.benchmark),
    output:
        people="results/data/{benchmark}/{cut}/people.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/people.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/umu_people.tsv"
    wildcard_constraints:
        benchmark=of_kind(Umu),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "umu_people.py",
            counts=umu_counts(benchmark_of(w)),
            size=benchmark_of(w).picture_size,
            seed=benchmark_of(w).seed,
        ),
    message:
        "Inventing the people of {wildcards.benchmark} and drawing their faces"
    script:
        "../workflow/scripts/umu_people.py"


rule umu_sheet:
    input:
        people="results/data/{benchmark}/{cut}/people.parquet",
    output:
        faces="results/data/{benchmark}/{cut}/faces.png",
    log:
        "results/logs/data/{benchmark}/{cut}/faces.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/umu_sheet.tsv"
    wildcard_constraints:
        benchmark=of_kind(Umu),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("umu_sheet.py"),
    message:
        "Drawing all faces of {wildcards.benchmark} on one sheet"
    script:
        "../workflow/scripts/umu_sheet.py"


rule umu_build:
    input:
        people="results/data/{benchmark}/{cut}/people.parquet",
        words=UMU_WORDS,
    output:
        examples="results/data/{benchmark}/{cut}/default/examples.parquet",
        questions="results/data/{benchmark}/{cut}/default/items.parquet",
        splits="results/data/{benchmark}/{cut}/default/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/umu.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/umu_build.tsv"
    wildcard_constraints:
        benchmark=of_kind(Umu),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("umu_build.py", **umu_layout(w)),
    message:
        "Laying out what {wildcards.benchmark} trains on and asks"
    script:
        "../workflow/scripts/umu_build.py"
