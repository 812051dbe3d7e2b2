# Needs: resources/lume, or LUME's published files in a folder named under `sources`; of route llm resources/prompts and the
# roles' backends. Makes: LUME's data, results/data/<benchmark>/<cut>/…, each step by itself: a new cut tells nothing anew.
DOCUMENTS = "results/data/{benchmark}/{cut}"


rule lume_documents:
    input:
        grammars=GRAMMARS,
    output:
        documents=f"{DOCUMENTS}/documents.parquet",
        knowledge=f"{DOCUMENTS}/knowledge.parquet",
        rejected=f"{DOCUMENTS}/rejected.parquet",
        funnel=f"{DOCUMENTS}/funnel.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/documents.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_documents.tsv"
    wildcard_constraints:
        benchmark=lume_of("templates"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("lume_documents.py", background=lume_background(w), **lume_sizes(w)),
    message:
        "Writing the documents of {wildcards.benchmark}"
    script:
        "../workflow/scripts/lume_documents.py"


rule lume_documents_llm:
    input:
        grammars=GRAMMARS,
        sources=lambda w: outside(w.benchmark),
        prompts=prompt_files("writer_story", "writer_person", "questioner", "verifier"),
    output:
        documents=f"{DOCUMENTS}/documents.parquet",
        knowledge=f"{DOCUMENTS}/knowledge.parquet",
        rejected=f"{DOCUMENTS}/rejected.parquet",
        funnel=f"{DOCUMENTS}/funnel.parquet",
        rounds=f"{DOCUMENTS}/rounds.parquet",
        usage=f"{DOCUMENTS}/usage/documents.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/documents.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_documents_llm.tsv"
    wildcard_constraints:
        benchmark=lume_of("llm"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=roles_gpus(*LUME_ROLES),
        mem_mb=llm_memory(LUME_ROLES),
        runtime=llm_minutes(LUME_ROLES),
    params:
        job=lambda w: job("lume_documents_llm.py", **lume_llm_values(w)),
    message:
        "Writing the documents of {wildcards.benchmark} by language models"
    script:
        "../workflow/scripts/lume_documents_llm.py"


rule lume_published:
    input:
        unpack(published_files),
    output:
        documents=f"{DOCUMENTS}/documents.parquet",
        continuations=f"{DOCUMENTS}/continuations.parquet",
        knowledge=f"{DOCUMENTS}/knowledge.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/published.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_published.tsv"
    wildcard_constraints:
        benchmark=lume_of("published"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("lume_published.py"),
    message:
        "Reading the published files of {wildcards.benchmark}"
    script:
        "../workflow/scripts/lume_published.py"


rule lume_cut:
    input:
        documents=f"{DOCUMENTS}/documents.parquet",
    output:
        continuations=f"{DOCUMENTS}/continuations.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/cut.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_cut.tsv"
    wildcard_constraints:
        benchmark=lume_of("templates", "llm"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("lume_cut.py", seed=benchmark_of(w).seed),
    message:
        "Cutting the documents of {wildcards.benchmark} into prompts and what follows"
    script:
        "../workflow/scripts/lume_cut.py"


rule lume_sheet:
    input:
        documents=f"{DOCUMENTS}/documents.parquet",
        knowledge=f"{DOCUMENTS}/knowledge.parquet",
    output:
        csv=f"{DOCUMENTS}/review/stories.csv",
        xlsx=f"{DOCUMENTS}/review/stories.xlsx",
    log:
        "results/logs/data/{benchmark}/{cut}/sheet.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_sheet.tsv"
    wildcard_constraints:
        benchmark=lume_of("templates", "llm"),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("lume_sheet.py"),
    message:
        "Laying out the stories of {wildcards.benchmark} for two reviewers"
    script:
        "../workflow/scripts/lume_sheet.py"


rule lume_build:
    input:
        documents=f"{DOCUMENTS}/documents.parquet",
        continuations=f"{DOCUMENTS}/continuations.parquet",
        knowledge=f"{DOCUMENTS}/knowledge.parquet",
    output:
        examples=f"{DOCUMENTS}/default/examples.parquet",
        questions=f"{DOCUMENTS}/default/items.parquet",
        splits=f"{DOCUMENTS}/default/splits.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/lume.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/lume_build.tsv"
    wildcard_constraints:
        benchmark=of_kind(Lume),
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("lume_build.py", benchmark=w.benchmark, split=benchmark_of(w).splits[0]),
    message:
        "Laying out what {wildcards.benchmark} trains on and asks"
    script:
        "../workflow/scripts/lume_build.py"
