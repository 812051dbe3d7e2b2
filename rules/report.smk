# Needs: every run's scores and training logs; where models are not kept, that they are gone. Makes: results/report (index.html,
# tables, figures) and the merged scores.
TEMPLATES = sorted(str(p.relative_to(workflow.basedir)) for p in Path(workflow.basedir, "resources/report").glob("*.*"))


rule report:
    input:
        scores=[run.scores for run in RUNS],
        logs=trained("train_log.parquet"),
        rejected=per_language("rejected/{language}.parquet"),
        kept=per_language("pairs/{language}.parquet"),
        usage=usages() + leak_usages() + lume_usages() + school_usages(),
        selections=selections(),
        built=leak_built() + lume_built(),
        faces=umu_faces(),
        dropped=[] if CONFIG.keep_models == "all" else "results/report/dropped_models.parquet",
        template=TEMPLATES,
    output:
        page=report("results/report/index.html", category="Report", caption="../resources/report/page.rst"),
        scores_all="results/report/scores.parquet",
        tables=directory("results/report/tables"),
        figures=directory("results/report/figures"),
    log:
        "results/logs/report.log",
    benchmark:
        "results/benchmarks/report.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("report.py", config_text=yaml.safe_dump(CONFIG.model_dump(mode="json"), sort_keys=False)),
    message:
        "Writing results/report/index.html"
    script:
        "../workflow/scripts/report.py"
