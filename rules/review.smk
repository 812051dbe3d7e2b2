# Needs: pairs and refused rows of a language. Makes: its review sheet, results/data/<benchmark>/<cut>/review/<language>.*
rule mu2_review:
    input:
        pairs="results/data/{benchmark}/{cut}/pairs/{language}.parquet",
        rejected="results/data/{benchmark}/{cut}/rejected/{language}.parquet",
        english="results/data/{benchmark}/{cut}/english.parquet",
        values="results/data/{benchmark}/{cut}/values/{language}.parquet",
        languages_file="resources/mu2/languages.yaml",
        decided=lambda w: decision_files(REVIEW, w.benchmark, w.language),
        rounds=attempts,
    output:
        csv="results/data/{benchmark}/{cut}/review/{language}.csv",
        xlsx="results/data/{benchmark}/{cut}/review/{language}.xlsx",
        tasks="results/data/{benchmark}/{cut}/review/{language}.json",
    log:
        "results/logs/data/{benchmark}/{cut}/review/{language}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/mu2_review/{language}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("mu2_review.py", language=w.language, cut=w.cut, **review_values(w.benchmark)),
    message:
        "Laying out what people should look at of {wildcards.benchmark} in {wildcards.language}"
    script:
        "../workflow/scripts/mu2_review.py"


rule review:
    input:
        per_language("review/{language}.xlsx"),
        lume_sheets(),
    message:
        "The review sheets lie in results/data/<benchmark>/<cut>/review; decisions belong in config/review/<benchmark>"
