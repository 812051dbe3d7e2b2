# Needs: a model and the items. Makes: what it answers and how likely it finds the right answers, in one job; with
# shards.answer above 1 in so many, answer_shard, which `answer` then waits for.
ASKED = f"{RUN}/e{{epoch}}/{{attack}}"


rule answer:
    input:
        unpack(answer_inputs),
        shards=shard_files(CONFIG.shards.answer, f"{ASKED}/answers.parquet", f"{ASKED}/likelihoods.parquet"),
    output:
        answers=f"{ASKED}/answers.parquet",
        likelihoods=f"{ASKED}/likelihoods.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-answer.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/answer/s{seed}-e{epoch}-{attack}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: 1 if SPLIT else CONFIG.threads.answer
    resources:
        gpu=0 if SPLIT else CONFIG.gpus.answer,
        mem_mb=memory("gather" if SPLIT else "answer"),
        runtime=minutes("gather" if SPLIT else "answer"),
    params:
        job=lambda w: job(
            "answer.py",
            asking_modules(w.attack),
            **answer_values(w, w.attack),
        ),
    message:
        "Asking {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/answer.py"


use rule answer as answer_shard with:
    input:
        unpack(answer_inputs),
    output:
        answers=each_shard(f"{ASKED}/answers.parquet"),
        likelihoods=each_shard(f"{ASKED}/likelihoods.parquet"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-answer~{shard}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/answer/s{seed}-e{epoch}-{attack}~{shard}.tsv"
    threads: CONFIG.threads.answer
    resources:
        gpu=CONFIG.gpus.answer,
        mem_mb=memory("answer"),
        runtime=minutes("answer"),
    params:
        job=lambda w: job(
            "answer.py",
            asking_modules(w.attack),
            **answer_values(w, w.attack),
            shard=shard_of(w),
        ),
    message:
        "Asking {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack}), part {wildcards.shard}"
