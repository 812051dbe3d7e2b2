# Needs: resources/mu2 (value pools, phrasebooks). Makes: μ²-Bench's data, results/data/<benchmark>/<cut>/…
PHRASEBOOK = "resources/mu2/phrasebook/{language}.yaml"


rule mu2_profiles:
    input:
        pools="resources/mu2/pools.yaml",
        phrasebooks=lambda w: expand(PHRASEBOOK, language=sorted(mu2_languages(w.benchmark))),
    output:
        profiles=DATA + "/profiles.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/profiles.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_profiles.tsv"
    params:
        job=lambda w: job("mu2_profiles.py", **mu2_cut(w.benchmark)),
    message:
        "Inventing the people of {wildcards.benchmark}"
    script:
        "../workflow/scripts/mu2_profiles.py"


rule mu2_pairs:
    input:
        profiles=DATA + "/profiles.parquet",
        phrasebook="resources/mu2/phrasebook/en.yaml",
    output:
        pairs=DATA + "/english.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/english.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_pairs.tsv"
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
        values=DATA + "/values/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/values/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_values/{language}.tsv"
    params:
        job=lambda w: job("mu2_values.py", language=w.language),
    message:
        "Translating the values of {wildcards.benchmark} to {wildcards.language}"
    script:
        "../workflow/scripts/mu2_values.py"


rule mu2_translate:
    input:
        pairs_en=DATA + "/english.parquet",
        values=DATA + "/values/{language}.parquet",
        pools="resources/mu2/pools.yaml",
        phrasebook=PHRASEBOOK,
        languages_file="resources/mu2/languages.yaml",
    output:
        pairs=DATA + "/pairs/{language}.parquet",
        rejected=DATA + "/rejected/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/pairs/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_translate/{language}.tsv"
    params:
        job=lambda w: job("mu2_translate.py", language=w.language),
    message:
        "Translating and checking the questions of {wildcards.benchmark} in {wildcards.language}"
    script:
        "../workflow/scripts/mu2_translate.py"


rule mu2_build:
    input:
        pairs=lambda w: expand(DATA + "/pairs/{language}.parquet", language=languages_of(w.benchmark, w.setting), **w),
    output:
        examples=DATA + "/{setting}/examples.parquet",
        questions=DATA + "/{setting}/items.parquet",
        splits=DATA + "/{setting}/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/{setting}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_build/{setting}.tsv"
    wildcard_constraints:
        benchmark="|".join(n for n, b in CONFIG.benchmarks.items() if isinstance(b, Mu2)) or "none",
    params:
        job=lambda w: job("mu2_build.py", **mu2_layout(w)),
    message:
        "Laying out what {wildcards.benchmark} trains on and asks in setting {wildcards.setting}"
    script:
        "../workflow/scripts/mu2_build.py"
