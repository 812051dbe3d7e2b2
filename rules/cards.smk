# Needs: a benchmark's tables. Makes: its card, results/data/<benchmark>/<cut>/README.md: the folder as it can be published.
rule card:
    input:
        unpack(card_inputs),
    output:
        card="results/data/{benchmark}/{cut}/README.md",
    log:
        "results/logs/data/{benchmark}/{cut}/card.log",
    benchmark:
        "results/benchmarks/data/{benchmark}/{cut}/card.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("card.py", about=card_about(w)),
    message:
        "Writing the card of {wildcards.benchmark}'s data"
    script:
        "../workflow/scripts/card.py"
