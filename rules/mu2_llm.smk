# Needs: resources/mu2, resources/prompts, the roles' backends. Makes: for benchmarks of route llm what mu2.smk makes of
# phrasebooks, with every attempt in rounds/ and what the models took in usage/.
rule mu2_templates:
    input:
        profiles="results/data/{benchmark}/{cut}/profiles.parquet",
        phrasebook="resources/mu2/phrasebook/en.yaml",
    output:
        pairs="results/data/{benchmark}/{cut}/templates.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/templates.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_templates.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=job("mu2_pairs.py"),
    message:
        "Writing the English questions of {wildcards.benchmark} from templates"
    script:
        "../workflow/scripts/mu2_pairs.py"


rule mu2_refine:
    input:
        templates="results/data/{benchmark}/{cut}/templates.parquet",
        values="results/data/{benchmark}/{cut}/values/en.parquet",
        pools="resources/mu2/pools.yaml",
        prompts=prompt_files("refiner", "equivalence_pair"),
        languages_file="resources/mu2/languages.yaml",
        decided=lambda w: decision_files(REVIEW, w.benchmark, "en"),
    output:
        pairs="results/data/{benchmark}/{cut}/english.parquet",
        rounds="results/data/{benchmark}/{cut}/rounds/refined.parquet",
        usage="results/data/{benchmark}/{cut}/usage/refined.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/refined.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_refine.tsv"
    wildcard_constraints:
        benchmark=routed("llm"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=roles_gpus("refiner", "equivalence"),
        mem_mb=llm_memory(["refiner", "equivalence"]),
        runtime=llm_minutes(["refiner", "equivalence"]),
    params:
        job=lambda w: job("mu2_refine.py", **refine_job(w)),
    message:
        "Refining the English questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/mu2_refine.py"


rule mu2_values_llm:
    input:
        pools="resources/mu2/pools.yaml",
        prompts=translation_prompts("translator_value", "equivalence_value"),
        books=reverse_books,
        languages_file="resources/mu2/languages.yaml",
    output:
        values="results/data/{benchmark}/{cut}/values/{language}.parquet",
        rounds="results/data/{benchmark}/{cut}/rounds/values/{language}.parquet",
        usage="results/data/{benchmark}/{cut}/usage/values/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/values/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_values_llm/{language}.tsv"
    wildcard_constraints:
        benchmark=routed("llm"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=translation_gpus,
        mem_mb=llm_memory(translation_roles),
        runtime=llm_minutes(translation_roles),
    params:
        job=lambda w: job("mu2_values_llm.py", **values_job(w)),
    message:
        "Translating the values of {wildcards.benchmark} to {wildcards.language} by a language model"
    script:
        "../workflow/scripts/mu2_values_llm.py"


rule mu2_translate_llm:
    input:
        pairs_en="results/data/{benchmark}/{cut}/english.parquet",
        values="results/data/{benchmark}/{cut}/values/{language}.parquet",
        value_rounds="results/data/{benchmark}/{cut}/rounds/values/{language}.parquet",
        pools="resources/mu2/pools.yaml",
        prompts=translation_prompts("translator_pair", "equivalence_pair"),
        books=reverse_books,
        languages_file="resources/mu2/languages.yaml",
        decided=lambda w: decision_files(REVIEW, w.benchmark, w.language),
    output:
        pairs="results/data/{benchmark}/{cut}/pairs/{language}.parquet",
        rejected="results/data/{benchmark}/{cut}/rejected/{language}.parquet",
        rounds="results/data/{benchmark}/{cut}/rounds/pairs/{language}.parquet",
        usage="results/data/{benchmark}/{cut}/usage/pairs/{language}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/pairs/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_translate_llm/{language}.tsv"
    wildcard_constraints:
        benchmark=routed("llm"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=translation_gpus,
        mem_mb=llm_memory(translation_roles),
        runtime=llm_minutes(translation_roles),
    params:
        job=lambda w: job("mu2_translate_llm.py", cut=w.cut, **translation_job(w)),
    message:
        "Translating and checking the questions of {wildcards.benchmark} in {wildcards.language} by a language model"
    script:
        "../workflow/scripts/mu2_translate_llm.py"
