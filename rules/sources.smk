# Needs: data sets named under `sources` as `hub`. Makes: their splits, results/sources/<source>/<configuration>/<split>.parquet.
rule hub_split:
    input:
        files=lambda w: hub_folder(w.source)[0],
    output:
        table="results/sources/{source}/{subset}/{part}.parquet",
        version="results/sources/{source}/{subset}/{part}.json",
    log:
        "results/logs/sources/{source}/{subset}-{part}.log",
    benchmark:
        "results/benchmarks/sources/{source}/{subset}-{part}.tsv"
    wildcard_constraints:
        source="[a-z0-9_]+",
        subset="[^/]+",
        part="[^/]+",
    conda:
        "../envs/environment.yaml"
    params:
        job=lambda w: job("hub_split.py", **dict(w.items()), **hub_values(w.source)),
    message:
        "Fetching {wildcards.subset}/{wildcards.part} of {wildcards.source}"
    script:
        "../workflow/scripts/hub_split.py"
