# Needs: the candidates of a method (train.smk). Makes: their scores for the criterion, scores~<criterion>.parquet, and of
# the one it chooses the method's own model; selection.parquet says which and why.
ruleorder: likelihood > answer
ruleorder: likelihood_shard > answer_shard


LIKELIHOOD_ONLY = "({})~[0-9]+".format("|".join(n for n in SEARCHED if not writes(CONFIG.methods[n].select)) or "(?!)")


use rule answer as likelihood with:
    input:
        unpack(answer_inputs),
        shards=shard_files(CONFIG.shards.answer, f"{ASKED}/likelihoods.parquet"),
    output:
        likelihoods=f"{ASKED}/likelihoods.parquet",
    wildcard_constraints:
        method=LIKELIHOOD_ONLY,
        attack="none",
    params:
        job=lambda w: job("answer.py", **likelihood_values(w)),
    message:
        "Asking candidate {wildcards.method} ({wildcards.benchmark}) for likelihoods"


use rule answer_shard as likelihood_shard with:
    output:
        likelihoods=each_shard(f"{ASKED}/likelihoods.parquet"),
    wildcard_constraints:
        method=LIKELIHOOD_ONLY,
        attack="none",
    params:
        job=lambda w: job("answer.py", **likelihood_values(w), shard=shard_of(w)),
    message:
        "Asking candidate {wildcards.method} ({wildcards.benchmark}) for likelihoods, part {wildcards.shard}"


use rule score as score_for_criterion with:
    input:
        questions=data("items"),
        splits=data("splits"),
        values=if_needed("values", value_tables),
        answers=if_needed("answers", own("answers")),
        likelihoods=if_needed("likelihoods", own("likelihoods")),
        verdicts=if_needed("verdicts", own("verdicts")),
        second_verdicts=[],
        target=if_needed("target", told_by("target")),
        retrain=if_needed("retrain", told_by("retrain")),
        harness=if_needed("harness", harness_table),
        target_harness=lambda w: harness_table(w, "target") if "target:harness" in needed(w.criterion) else [],
        embeddings=embedded("embeddings", own("embeddings")),
        target_embeddings=embedded("target:embeddings", told_in_embeddings),
        references=embedded("references", data("embeddings")),
    output:
        scores="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/scores~{criterion}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-score~{criterion}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/score/s{seed}-e{epoch}-{attack}~{criterion}.tsv"
    params:
        job=lambda w: job(
            "score.py", [f"unlearning.metrics.{name}" for name in criterion_metrics(w)], **criterion_score_values(w)
        ),
    message:
        "Scoring {wildcards.method} ({wildcards.benchmark}, {wildcards.split}) for the criterion {wildcards.criterion}"


rule select:
    input:
        models=lambda w: candidate_files(w, "model.json"),
        logs=lambda w: candidate_files(w, "train_log.parquet"),
        scores=candidate_scores,
        against=scores_against,
    output:
        selection="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/selection.parquet",
        model="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/model.json",
        log="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/train_log.parquet",
        weights=directory("results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-select.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/select/s{seed}.tsv"
    wildcard_constraints:
        method="|".join(SEARCHED) or "(?!)",
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("choose.py", [f"unlearning.criteria.{criterion_of(w)}"], **choose_values(w)),
    message:
        "Selecting among the candidates of {wildcards.method} ({wildcards.benchmark}, {wildcards.split})"
    script:
        "../workflow/scripts/choose.py"
