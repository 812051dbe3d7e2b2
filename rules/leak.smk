# Needs: resources/leak, or MQuAKE's file in a folder named under `sources`. Makes: the data of leak-resistant unlearning,
# results/data/<benchmark>/<cut>/…
LEAK = "results/data/{benchmark}/{cut}"


rule leak_collect:
    input:
        templates=lambda w: leak_wordings(w)["templates"],
        world=lambda w: [] if outside(w.benchmark) else ["resources/leak/invented.yaml"],
        sources=lambda w: outside(w.benchmark),
    output:
        facts=f"{LEAK}/facts.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/facts.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_collect.tsv"
    wildcard_constraints:
        benchmark=leak_of(lambda entry: entry.facts != "texts"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("leak_collect.py", **leak_values(w, "forget_share")),
    message:
        "Collecting the facts of {wildcards.benchmark}"
    script:
        "../workflow/scripts/leak_collect.py"


rule leak_questions:
    input:
        unpack(leak_wordings),
        facts=f"{LEAK}/facts.parquet",
    output:
        matches=f"{LEAK}/matches.parquet",
        composed=f"{LEAK}/composed.parquet",
        decomposed=f"{LEAK}/decomposed.parquet",
        multihop=f"{LEAK}/multihop.parquet",
        rejected=f"{LEAK}/rejected.parquet",
        funnel=f"{LEAK}/funnel.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/questions.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_questions.tsv"
    wildcard_constraints:
        benchmark=leak_of(lambda entry: entry.route == "templates"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("leak_questions.py", **leak_values(w, "candidates", "per_type", "on_short")),
    message:
        "Composing and checking the multi-hop questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/leak_questions.py"


rule leak_quality:
    input:
        multihop=f"{LEAK}/multihop.parquet",
        facts=f"{LEAK}/facts.parquet",
        ratings=lambda w: [f"{LEAK}/ratings.parquet".format(**w)] if leak_raters(benchmark_of(w)) else [],
    output:
        quality=f"{LEAK}/quality.parquet",
        csv=f"{LEAK}/review/en.csv",
        xlsx=f"{LEAK}/review/en.xlsx",
    log:
        "results/logs/data/{benchmark}/{cut}/quality.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_quality.tsv"
    wildcard_constraints:
        benchmark=of_kind(Leak),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("leak_quality.py", **leak_values(w, "review_per_type")),
    message:
        "Measuring how varied the questions of {wildcards.benchmark} are"
    script:
        "../workflow/scripts/leak_quality.py"


rule leak_build:
    input:
        unpack(leak_wordings),
        facts=f"{LEAK}/facts.parquet",
        multihop=f"{LEAK}/multihop.parquet",
    output:
        examples=f"{LEAK}/default/examples.parquet",
        questions=f"{LEAK}/default/items.parquet",
        splits=f"{LEAK}/default/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/leak.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_build.tsv"
    wildcard_constraints:
        benchmark=of_kind(Leak),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "leak_build.py",
            benchmark=w.benchmark,
            split=benchmark_of(w).splits[0],
            **leak_values(w, "candidates", "practice", "paraphrases"),
        ),
    message:
        "Laying out what {wildcards.benchmark} trains on and asks"
    script:
        "../workflow/scripts/leak_build.py"
