# Needs: all scores. Makes: models that keep_models does not keep go; a table says which.
localrules:
    drop_models,


rule drop_models:
    input:
        scores=[run.scores for run in RUNS],
    output:
        dropped="results/report/dropped_models.parquet",
    log:
        "results/logs/drop_models.log",
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("drop_models.py", models=dropped_models()),
    message:
        "Dropping models that are not kept (keep_models: {CONFIG.keep_models})"
    script:
        "../workflow/scripts/drop_models.py"
