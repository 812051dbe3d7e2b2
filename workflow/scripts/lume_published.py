"""Read LUME's published files."""


def lume_published(forget: str, retain: str, documents: str, continuations: str, knowledge: str) -> None:
    """Write the tables (Parquet) of the files `forget` and `retain`. FilesError: a row is not what it should be."""
    from unlearning.data.lume.published import read_published
    from unlearning.tables.artifacts import write_table

    found = read_published("", {"forget": forget, "retain": retain})
    write_table(found.documents, documents, "documents")
    write_table(found.continuations, continuations, "continuations")
    write_table(found.knowledge, knowledge, "knowledge")
    print(f"{len(found.rows)} rows of {len(found.documents)} documents")


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_published)  # noqa: F821
