# Needs: examples and splits. Makes: base, target, retrained and unlearned models (model.json, weights/, train_log.parquet).


rule base:
    input:
        examples=data("examples"),
        questions=data("items"),
    output:
        model="results/runs/{benchmark}/{base_model}/{setting}/all/base/s{seed}/model.json",
        log="results/runs/{benchmark}/{base_model}/{setting}/all/base/s{seed}/train_log.parquet",
        weights=directory("results/runs/{benchmark}/{base_model}/{setting}/all/base/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/base/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/base/s{seed}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.base * CONFIG.scale.processes
    resources:
        gpu=CONFIG.gpus.train,
        mem_mb=memory("train"),
        runtime=minutes("train"),
        scale=lambda w: SCALE if CONFIG.base_models[w.base_model].architecture else "{}",
    params:
        job=lambda w: job("base.py", **base_values(w)),
    message:
        "Making the base model {wildcards.base_model} for {wildcards.benchmark}"
    script:
        "../workflow/scripts/base.py"


rule target:
    input:
        base="results/runs/{benchmark}/{base_model}/{setting}/all/base/s{seed}/model.json",
        examples=data("examples"),
    output:
        model="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/model.json",
        log="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/train_log.parquet",
        weights=directory("results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/target/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/target/s{seed}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.train * CONFIG.scale.processes
    resources:
        gpu=CONFIG.gpus.train,
        mem_mb=memory("train"),
        runtime=minutes("train"),
        scale=SCALE,
    params:
        job=lambda w: job("memorize.py", **memorize_values(w, "target")),
    message:
        "Memorising: the target of {wildcards.benchmark} on {wildcards.base_model}"
    script:
        "../workflow/scripts/memorize.py"


rule retrain:
    input:
        base="results/runs/{benchmark}/{base_model}/{setting}/all/base/s{seed}/model.json",
        examples=data("examples"),
        splits=data("splits"),
    output:
        model="results/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}/model.json",
        log="results/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}/train_log.parquet",
        weights=directory("results/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.train * CONFIG.scale.processes
    resources:
        gpu=CONFIG.gpus.train,
        mem_mb=memory("train"),
        runtime=minutes("train"),
        scale=SCALE,
    params:
        job=lambda w: job("memorize.py", **memorize_values(w, "retrain")),
    message:
        "Training without the forget set {wildcards.split} of {wildcards.benchmark} on {wildcards.base_model}"
    script:
        "../workflow/scripts/memorize.py"


rule reference:
    input:
        model="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/model.json",
        examples=data("examples"),
        splits=data("splits"),
    output:
        ref_logprobs="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/ref_logprobs/{split}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.train
    resources:
        gpu=min(CONFIG.gpus.train, 1),
        mem_mb=memory("adjust"),
        runtime=minutes("adjust"),
    params:
        job=lambda w: job("reference.py", **reference_values(w)),
    message:
        "Reference log-probabilities of the forget set {wildcards.split} of {wildcards.benchmark}"
    script:
        "../workflow/scripts/reference.py"


use rule reference as refusal_reference with:
    input:
        model="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/model.json",
        examples=data("examples"),
        splits=data("splits"),
        refusals="resources/refusals.yaml",
    output:
        ref_logprobs="results/runs/{benchmark}/{base_model}/{setting}/all/target/s{seed}/ref_logprobs/{split}~e{epoch}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}~e{epoch}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}~e{epoch}.tsv"
    params:
        job=lambda w: job("reference.py", seed=int(w.seed), epochs=int(w.epoch), **reference_values(w)),
    message:
        "Reference log-probabilities of {wildcards.split} of {wildcards.benchmark}, with {wildcards.epoch} epochs' refusals"


rule unlearn:
    input:
        unpack(unlearn_inputs),
    output:
        model="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/model.json",
        log="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/train_log.parquet",
        weights=directory("results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.tsv"
    wildcard_constraints:
        method="|".join(f"{name}~[0-9]+" if name in SEARCHED else name for name in CONFIG.methods),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.train * CONFIG.scale.processes
    resources:
        gpu=CONFIG.gpus.train,
        mem_mb=memory("train"),
        runtime=minutes("train"),
        scale=SCALE,
    params:
        job=lambda w: job("unlearn.py", terms(w), **unlearn_values(w)),
    message:
        "Unlearning {wildcards.split} of {wildcards.benchmark} on {wildcards.base_model} by {wildcards.method}"
    script:
        "../workflow/scripts/unlearn.py"
