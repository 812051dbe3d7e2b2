# Needs: resources/seps/school; of route llm resources/prompts and the roles' backends. Makes: harmless multiple-choice questions
# at school level, results/data/<benchmark>/<cut>/school/<subject>.parquet, which files.smk reads beside a person's own files.
SCHOOL = "results/data/{benchmark}/{cut}/school"


rule school_questions:
    input:
        facts="resources/seps/school/{subject}.yaml",
    output:
        choices=f"{SCHOOL}/{{subject}}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/school/{subject}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/school_questions.{subject}.tsv"
    wildcard_constraints:
        benchmark=school_of("templates"),
        subject="[a-z]+",
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("school_questions.py", **school_values(w)),
    message:
        "Asking about {wildcards.subject} at school level"
    script:
        "../workflow/scripts/school_questions.py"


rule school_questions_llm:
    input:
        facts="resources/seps/school/{subject}.yaml",
        prompts=prompt_files("writer_school", "verifier_school"),
    output:
        choices=f"{SCHOOL}/{{subject}}.parquet",
        rejected=f"{SCHOOL}/rejected/{{subject}}.parquet",
        rounds=f"{SCHOOL}/rounds/{{subject}}.parquet",
        usage=f"{SCHOOL}/usage/{{subject}}.parquet",
    log:
        "results/logs/data/{benchmark}/{cut}/school/{subject}.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/school_questions_llm.{subject}.tsv"
    wildcard_constraints:
        benchmark=school_of("llm"),
        subject="[a-z]+",
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.complete
    resources:
        gpu=roles_gpus(*SCHOOL_ROLES),
        mem_mb=llm_memory(SCHOOL_ROLES),
        runtime=llm_minutes(SCHOOL_ROLES),
    params:
        job=lambda w: job(
            "school_questions_llm.py",
            max_rounds=benchmark_of(w).school.max_rounds,
            **school_values(w),
            **roles_job(SCHOOL_ROLES),
        ),
    message:
        "Having language models ask about {wildcards.subject} at school level"
    script:
        "../workflow/scripts/school_questions_llm.py"
