"""Cut LUME's documents into prompts and what follows."""


def lume_cut(documents: str, continuations: str, seed: int) -> None:
    """Write `continuations` (Parquet) of the `documents` that are no non-members. ValueError: one cannot be cut."""
    from unlearning.data.lume.layout import cut
    from unlearning.tables.artifacts import read_table, write_table

    write_table(cut(read_table(documents, "documents"), seed), continuations, "continuations")


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_cut)  # noqa: F821
