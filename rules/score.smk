# Needs: answers, likelihoods and verdicts of the run, the target and the retrained model; where a metric does, the
# verdicts of the same run without its attack, or under its attacks, and standard benchmarks. Makes: scores.parquet.
rule score:
    input:
        questions=data("items"),
        splits=data("splits"),
        values=value_tables,
        answers=own("answers"),
        likelihoods=own("likelihoods"),
        verdicts=lambda w: own("verdicts")(w) if judged(w.benchmark) else [],
        second_verdicts=second_verdicts,
        target=told_by("target"),
        retrain=told_by("retrain"),
        selection=deciding_selection,
        plain=plain_verdicts,
        attacked=lambda w: [f"{run_folder(w)}/e{w.epoch}/{attack}/verdicts.parquet" for attack in attacks_read(w)],
        harness=tested("harness"),
        target_harness=tested("target:harness"),
        embeddings=embedded("embeddings", own("embeddings")),
        target_embeddings=embedded("target:embeddings", told_in_embeddings),
        references=embedded("references", data("embeddings")),
        refusals=lambda w: "resources/refusals.yaml" if "refusals" in metric_needs(w.benchmark) else [],
    output:
        scores="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/scores.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-score.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/score/s{seed}-e{epoch}-{attack}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("score.py", [*metric_modules(w), *changed_modules(w, SCORED)], **score_values(w)),
    message:
        "Scoring {wildcards.method} ({wildcards.benchmark}, {wildcards.split}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/score.py"
