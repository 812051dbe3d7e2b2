# Needs: answers and items. Makes: verdicts.parquet, whether each answer is right, and verdicts~<judge>.parquet of second
# judges; beside those of a language model, what it took (usage.parquet, usage~<judge>.parquet).
rule judge:
    input:
        answers="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/answers.parquet",
        questions=data("items"),
    output:
        verdicts="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/verdicts.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-judge.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/judge/s{seed}-e{epoch}-{attack}.tsv"
    wildcard_constraints:
        benchmark=judged_by(OTHER_JUDGES),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: judging_job(w, benchmark_of(w).judge),
    message:
        "Judging the answers of {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/judge.py"


use rule judge as second_judge with:
    output:
        verdicts="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/verdicts~{judge}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-judge~{judge}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/judge/s{seed}-e{epoch}-{attack}~{judge}.tsv"
    wildcard_constraints:
        judge="|".join(OTHER_JUDGES),
    params:
        job=lambda w: judging_job(w, w.judge),
    message:
        "Judging the answers of {wildcards.method} again, by {wildcards.judge} ({wildcards.benchmark}, attack {wildcards.attack})"


rule judge_llm:
    input:
        answers="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/answers.parquet",
        questions=data("items"),
        prompt=judge_prompt,
    output:
        verdicts="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/verdicts.parquet",
        usage="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/usage.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-judge.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/judge/s{seed}-e{epoch}-{attack}.tsv"
    wildcard_constraints:
        benchmark=judged_by(LLM_JUDGES),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=complete_gpus("judge"),
        mem_mb=llm_memory(["judge"]),
        runtime=llm_minutes(["judge"]),
    params:
        job=lambda w: job("judge_llm.py", [*door_modules("judge"), *changed_modules(w)], **judge_llm_values(w)),
    message:
        "Judging the answers of {wildcards.method} by a language model ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/judge_llm.py"


use rule judge_llm as second_judge_llm with:
    output:
        verdicts="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/verdicts~{judge}.parquet",
        usage="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/usage~{judge}.parquet",
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-judge~{judge}.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/judge/s{seed}-e{epoch}-{attack}~{judge}.tsv"
    wildcard_constraints:
        judge="|".join(LLM_JUDGES),
    message:
        "Judging the answers of {wildcards.method} again, by {wildcards.judge} ({wildcards.benchmark}, attack {wildcards.attack})"
