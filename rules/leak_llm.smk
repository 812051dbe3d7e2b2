# Needs: leak.smk, resources/prompts, the roles' backends, texts. Makes: facts extracted from texts; for benchmarks of route
# llm what leak.smk makes by templates, with every attempt; what raters say; and what the models took, in usage/.
rule leak_chunks:
    input:
        sources=lambda w: outside(w.benchmark),
    output:
        chunks=f"{LEAK}/chunks.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/chunks.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_chunks.tsv"
    wildcard_constraints:
        benchmark=leak_of(lambda entry: entry.facts == "texts"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("leak_chunks.py", chunk_words=benchmark_of(w).chunk_words),
    message:
        "Cutting the texts of {wildcards.benchmark} into chunks"
    script:
        "../workflow/scripts/leak_chunks.py"


rule leak_extract_llm:
    input:
        chunks=f"{LEAK}/chunks.parquet",
        prompts=prompt_files("extractor"),
    output:
        extracted=f"{LEAK}/extracted.parquet",
        unread=f"{LEAK}/unread.parquet",
        usage=f"{LEAK}/usage/extracted.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/extracted.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_extract_llm.tsv"
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=roles_gpus("extractor"),
        mem_mb=llm_memory(["extractor"]),
        runtime=llm_minutes(["extractor"]),
    params:
        job=lambda w: job("leak_extract_llm.py", **roles_job(["extractor"])),
    message:
        "Extracting facts from the texts of {wildcards.benchmark} by a language model"
    script:
        "../workflow/scripts/leak_extract_llm.py"


rule leak_text_facts:
    input:
        chunks=f"{LEAK}/chunks.parquet",
        extracted=f"{LEAK}/extracted.parquet",
        unread=f"{LEAK}/unread.parquet",
    output:
        facts=f"{LEAK}/facts.parquet",
        rejected=f"{LEAK}/rejected_facts.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/text_facts.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_text_facts.tsv"
    wildcard_constraints:
        benchmark=leak_of(lambda entry: entry.facts == "texts"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job(
            "leak_text_facts.py",
            forget=sorted(Path(name).name for name, group in benchmark_of(w).documents.items() if group == "forget"),
        ),
    message:
        "Merging what was extracted from the texts of {wildcards.benchmark}"
    script:
        "../workflow/scripts/leak_text_facts.py"


rule leak_questions_llm:
    input:
        unpack(leak_wordings),
        facts=f"{LEAK}/facts.parquet",
        prompts=prompt_files(*(f"composer_{name}" for name in TYPES), "decomposer", "uniqueness"),
    output:
        matches=f"{LEAK}/matches.parquet",
        composed=f"{LEAK}/composed.parquet",
        decomposed=f"{LEAK}/decomposed.parquet",
        uniqueness=f"{LEAK}/uniqueness.parquet",
        multihop=f"{LEAK}/multihop.parquet",
        rejected=f"{LEAK}/rejected.parquet",
        funnel=f"{LEAK}/funnel.parquet",
        rounds=f"{LEAK}/rounds.parquet",
        usage=f"{LEAK}/usage/questions.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/questions.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_questions_llm.tsv"
    wildcard_constraints:
        benchmark=leak_of(lambda entry: entry.route == "llm"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=roles_gpus(*QUESTION_ROLES),
        mem_mb=llm_memory(QUESTION_ROLES),
        runtime=llm_minutes(QUESTION_ROLES),
    params:
        job=lambda w: job("leak_questions_llm.py", **leak_llm_values(w)),
    message:
        "Composing and checking the multi-hop questions of {wildcards.benchmark} by language models"
    script:
        "../workflow/scripts/leak_questions_llm.py"


rule leak_rate_llm:
    input:
        multihop=f"{LEAK}/multihop.parquet",
        facts=f"{LEAK}/facts.parquet",
        prompts=prompt_files("rater"),
    output:
        ratings=f"{LEAK}/ratings.parquet",
        usage=f"{LEAK}/usage/ratings.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/ratings.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/leak_rate_llm.tsv"
    wildcard_constraints:
        benchmark=of_kind(Leak),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=lambda w: roles_gpus(*leak_raters(benchmark_of(w))),
        mem_mb=llm_memory(lambda w: leak_raters(benchmark_of(w))),
        runtime=llm_minutes(lambda w: leak_raters(benchmark_of(w))),
    params:
        job=lambda w: job(
            "leak_rate_llm.py", **leak_values(w, "rated_per_type"), **roles_job(leak_raters(benchmark_of(w)))
        ),
    message:
        "Rating the multi-hop questions of {wildcards.benchmark}"
    script:
        "../workflow/scripts/leak_rate_llm.py"
