# Needs: a benchmark's tables. Makes: results/publish/<benchmark>/<cut>, copies of those that can be published, and their
# card, README.md.
rule card:
    input:
        unpack(card_inputs),
    output:
        card="results/publish/{benchmark}/{cut}/README.md",
    log:
        "results/logs/data/{benchmark}/{cut}/card.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/card.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("card.py", about=card_about(w)),
    message:
        "Laying out the data of {wildcards.benchmark} as they can be published"
    script:
        "../workflow/scripts/card.py"
