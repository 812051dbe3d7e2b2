# Needs: resources/mu2 (value pools, English phrasebook). Makes: SEPS's own question set, questions.parquet, which files.smk
# turns into its data.
rule seps_questions:
    input:
        pools=SEPS_SOURCES[0],
        phrasebook=SEPS_SOURCES[1],
    output:
        questions="results/data/{benchmark}/{cut}/questions.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/questions.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/seps_questions.tsv"
    wildcard_constraints:
        benchmark=of_kind(Seps),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "seps_questions.py",
            attributes=seps_attributes(benchmark_of(w)),
            practised=benchmark_of(w).people.practised,
            forgotten=max(benchmark_of(w).forget.values()),
            seed=benchmark_of(w).seed,
            **seps_people(benchmark_of(w)),
        ),
    message:
        "Inventing the questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/seps_questions.py"
