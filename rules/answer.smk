# Needs: a model and the items. Makes: what it answers and how likely it finds the right answers, in one job.
rule answer:
    input:
        unpack(answer_inputs),
    output:
        answers="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/answers.parquet",
        likelihoods="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/likelihoods.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-answer.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/answer/s{seed}-e{epoch}-{attack}.tsv"
    conda:
        "../envs/environment.yaml"
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
        ),
    message:
        "Asking {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/answer.py"
