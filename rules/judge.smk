# Needs: answers and items. Makes: verdicts.parquet, whether each answer is right.
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
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("judge.py", [f"unlearning.judges.{benchmark_of(w).judge}"], judge=benchmark_of(w).judge),
    message:
        "Judging the answers of {wildcards.method} ({wildcards.benchmark}, attack {wildcards.attack})"
    script:
        "../workflow/scripts/judge.py"
