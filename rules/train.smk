# Needs: examples and splits. Makes: base, target, retrained and unlearned models (model.json, weights/, train_log.parquet).
SETTING = "results/runs/{benchmark}/{base_model}/{setting}"


rule base:
    input:
        examples=data("examples"),
        questions=data("items"),
    output:
        model=SETTING + "/all/base/s{seed}/model.json",
        log=SETTING + "/all/base/s{seed}/train_log.parquet",
        weights=directory(SETTING + "/all/base/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/base/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/base/s{seed}.tsv"
    threads: CONFIG.threads.base
    resources:
        gpu=CONFIG.gpus.train,
    params:
        job=lambda w: job("base.py", **base_values(w)),
    message:
        "Making the base model {wildcards.base_model} for {wildcards.benchmark}"
    script:
        "../workflow/scripts/base.py"


rule target:
    input:
        base=SETTING + "/all/base/s{seed}/model.json",
        examples=data("examples"),
    output:
        model=SETTING + "/all/target/s{seed}/model.json",
        log=SETTING + "/all/target/s{seed}/train_log.parquet",
        weights=directory(SETTING + "/all/target/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/target/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/target/s{seed}.tsv"
    threads: CONFIG.threads.train
    resources:
        gpu=CONFIG.gpus.train,
    params:
        job=lambda w: job("memorize.py", **memorize_values(w, "target")),
    message:
        "Memorising: the target of {wildcards.benchmark} on {wildcards.base_model}"
    script:
        "../workflow/scripts/memorize.py"


rule retrain:
    input:
        base=SETTING + "/all/base/s{seed}/model.json",
        examples=data("examples"),
        splits=data("splits"),
    output:
        model=SETTING + "/{split}/retrain/s{seed}/model.json",
        log=SETTING + "/{split}/retrain/s{seed}/train_log.parquet",
        weights=directory(SETTING + "/{split}/retrain/s{seed}/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/retrain/s{seed}.tsv"
    threads: CONFIG.threads.train
    resources:
        gpu=CONFIG.gpus.train,
    params:
        job=lambda w: job("memorize.py", **memorize_values(w, "retrain")),
    message:
        "Training without the forget set {wildcards.split} of {wildcards.benchmark} on {wildcards.base_model}"
    script:
        "../workflow/scripts/memorize.py"


rule reference:
    input:
        model=SETTING + "/all/target/s{seed}/model.json",
        examples=data("examples"),
        splits=data("splits"),
    output:
        ref_logprobs=SETTING + "/all/target/s{seed}/ref_logprobs/{split}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/reference/s{seed}.tsv"
    threads: CONFIG.threads.train
    resources:
        gpu=CONFIG.gpus.train,
    params:
        job=lambda w: job("reference.py", **reference_values(w)),
    message:
        "Reference log-probabilities of the forget set {wildcards.split} of {wildcards.benchmark}"
    script:
        "../workflow/scripts/reference.py"


rule unlearn:
    input:
        unpack(unlearn_inputs),
    output:
        model=RUN + "/model.json",
        log=RUN + "/train_log.parquet",
        weights=directory(RUN + "/weights"),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.tsv"
    wildcard_constraints:
        method="|".join(CONFIG.methods),
    threads: CONFIG.threads.train
    resources:
        gpu=CONFIG.gpus.train,
    params:
        job=lambda w: job("unlearn.py", terms(w), **unlearn_values(w)),
    message:
        "Unlearning {wildcards.split} of {wildcards.benchmark} on {wildcards.base_model} by {wildcards.method}"
    script:
        "../workflow/scripts/unlearn.py"
