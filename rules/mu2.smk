# Needs: resources/mu2 (value pools, phrasebooks). Makes: μ²-Bench's data, results/data/<benchmark>/<cut>/…
PHRASEBOOK = "resources/mu2/phrasebook/{language}.yaml"


rule mu2_profiles:
    input:
        pools="resources/mu2/pools.yaml",
        phrasebooks=lambda w: expand(PHRASEBOOK, language=sorted(mu2_languages(w.benchmark))),
    output:
        profiles="results/data/{benchmark}/{cut}/profiles.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/profiles.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_profiles.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("mu2_profiles.py", **mu2_cut(w.benchmark)),
    message:
        "Inventing the people of {wildcards.benchmark}"
    script:
        "../workflow/scripts/mu2_profiles.py"


rule mu2_pairs:
    input:
        profiles="results/data/{benchmark}/{cut}/profiles.parquet",
        phrasebook="resources/mu2/phrasebook/en.yaml",
    output:
        pairs="results/data/{benchmark}/{cut}/english.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/english.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_pairs.tsv"
    wildcard_constraints:
        benchmark=routed("phrasebook"),
    conda:
        "../envs/environment.yaml"
    params:
        job=job("mu2_pairs.py"),
    message:
        "Writing the English questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/mu2_pairs.py"


rule mu2_values:
    input:
        pools="resources/mu2/pools.yaml",
        phrasebook=PHRASEBOOK,
    output:
        values="results/data/{benchmark}/{cut}/values/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/values/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_values/{language}.tsv"
    wildcard_constraints:
        benchmark=routed("phrasebook"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("mu2_values.py", language=w.language),
    message:
        "Translating the values of {wildcards.benchmark} to {wildcards.language}"
    script:
        "../workflow/scripts/mu2_values.py"


rule mu2_translate:
    input:
        pairs_en="results/data/{benchmark}/{cut}/english.parquet",
        values="results/data/{benchmark}/{cut}/values/{language}.parquet",
        pools="resources/mu2/pools.yaml",
        phrasebook=PHRASEBOOK,
        languages_file="resources/mu2/languages.yaml",
        decided=lambda w: decision_files(REVIEW, w.benchmark, w.language),
    output:
        pairs="results/data/{benchmark}/{cut}/pairs/{language}.parquet",
        rejected="results/data/{benchmark}/{cut}/rejected/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/pairs/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_translate/{language}.tsv"
    wildcard_constraints:
        benchmark=routed("phrasebook"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("mu2_translate.py", language=w.language, cut=w.cut),
    message:
        "Translating and checking the questions of {wildcards.benchmark} in {wildcards.language}"
    script:
        "../workflow/scripts/mu2_translate.py"


rule mu2_build:
    input:
        pairs=lambda w: expand(
            "results/data/{benchmark}/{cut}/pairs/{language}.parquet",
            language=languages_of(w.benchmark, w.setting),
            **w,
        ),
    output:
        examples="results/data/{benchmark}/{cut}/{setting}/examples.parquet",
        questions="results/data/{benchmark}/{cut}/{setting}/items.parquet",
        splits="results/data/{benchmark}/{cut}/{setting}/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/{setting}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_build/{setting}.tsv"
    wildcard_constraints:
        benchmark=of_kind(Mu2),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("mu2_build.py", **mu2_layout(w)),
    message:
        "Laying out what {wildcards.benchmark} trains on and asks in setting {wildcards.setting}"
    script:
        "../workflow/scripts/mu2_build.py"
