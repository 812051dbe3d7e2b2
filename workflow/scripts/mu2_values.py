"""Translate the value pools into one language."""


def mu2_values(pools: str, phrasebook: str, values: str, language: str) -> None:
    """Write `values`: every value of every pool in `language`, whether somebody has it or not."""
    from unlearning.data.phrasebook import read_phrasebook, read_pools, values_table
    from unlearning.tables.artifacts import write_table

    pool = read_pools(pools)
    write_table(values_table(pool, read_phrasebook(phrasebook, pool), language), values, "values")


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_values)  # noqa: F821
