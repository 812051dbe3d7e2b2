# Needs: the same as train.smk and answer.smk. Makes: of runs that are scored after several epochs, the models after them,
# e<epoch>/model.json, in the job that trains the run, and all their answers in one job, or in shards.answer jobs.


def trained_through(epochs):
    """The outputs of a training job that keeps its models after `epochs`, the last of which is the run's own."""
    outputs = {"model": f"{RUN}/model.json", "log": f"{RUN}/train_log.parquet", "weights": directory(f"{RUN}/weights")}
    for epoch in epochs[:-1]:
        outputs[f"e{epoch}"] = f"{RUN}/e{epoch}/model.json"
        outputs[f"e{epoch}_weights"] = directory(f"{RUN}/e{epoch}/weights")
    return outputs


def answered(table, epochs):
    return [f"{RUN}/e{epoch}/none/{table}.parquet" for epoch in epochs]


for scored, epochs in SEVERAL.items():
    general = ("unlearn", "answer", *(["answer_shard"] if SPLIT else []))
    names = ["_".join((rule_, "epochs", *scored)) for rule_ in general]
    tables = [*answered("answers", epochs), *answered("likelihoods", epochs)]

    rule:
        name:
            names[0]
        input:
            unpack(unlearn_inputs),
        output:
            **trained_through(epochs),
        log:
            "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.log",
        benchmark:
            "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}.tsv"
        wildcard_constraints:
            **dict(zip(("benchmark", "base_model", "method"), scored)),
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

    rule:
        name:
            names[1]
        input:
            model=lambda w: [model_after(w, epoch) for epoch in epochs_scored(w)],
            questions=data("items"),
            shards=shard_files(CONFIG.shards.answer, *tables),
        output:
            answers=answered("answers", epochs),
            likelihoods=answered("likelihoods", epochs),
        log:
            "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-epochs-answer.log",
        benchmark:
            "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/answer/s{seed}-epochs.tsv"
        wildcard_constraints:
            **dict(zip(("benchmark", "base_model", "method"), scored)),
        conda:
            "../envs/environment.yaml"
        threads: 1 if SPLIT else CONFIG.threads.answer
        resources:
            gpu=0 if SPLIT else CONFIG.gpus.answer,
            mem_mb=memory("gather" if SPLIT else "answer"),
            runtime=minutes("gather" if SPLIT else "answer"),
        params:
            job=lambda w: job("answer.py", **answer_values(w, "none")),
        message:
            "Asking {wildcards.method} ({wildcards.benchmark}) after each epoch that is scored"
        script:
            "../workflow/scripts/answer.py"

    if SPLIT:

        rule:
            name:
                names[2]
            input:
                model=lambda w: [model_after(w, epoch) for epoch in epochs_scored(w)],
                questions=data("items"),
            output:
                answers=[each_shard(table) for table in answered("answers", epochs)],
                likelihoods=[each_shard(table) for table in answered("likelihoods", epochs)],
            log:
                "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-epochs-answer~{shard}.log",
            benchmark:
                "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/answer/s{seed}-epochs~{shard}.tsv"
            wildcard_constraints:
                **dict(zip(("benchmark", "base_model", "method"), scored)),
            conda:
                "../envs/environment.yaml"
            threads: CONFIG.threads.answer
            resources:
                gpu=CONFIG.gpus.answer,
                mem_mb=memory("answer"),
                runtime=minutes("answer"),
            params:
                job=lambda w: job("answer.py", **answer_values(w, "none"), shard=shard_of(w)),
            message:
                "Asking {wildcards.method} ({wildcards.benchmark}) after each epoch that is scored, part {wildcards.shard}"
            script:
                "../workflow/scripts/answer.py"

    for special, usual in zip(names, general):
        workflow.ruleorder(special, usual)
