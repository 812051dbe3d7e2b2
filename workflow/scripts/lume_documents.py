"""Make LUME's documents and the questions about them, without any language model."""


def lume_documents(
    grammars: list[str], documents: str, knowledge: str, rejected: str, funnel: str, sizes: dict[str, list[int]],
    nonmembers: int, background: dict[str, int], seed: int,
) -> None:  # fmt: skip
    """Write the tables (Parquet) from `grammars`, stories, people, biographies and states (.yaml) of one folder.

    `sizes`: task -> documents to forget and to retain; `background`: task -> further ones that are only taught.
    ValueError: the grammars have not so many different texts.
    """
    from pathlib import Path

    from unlearning.data.lume.construct import offline, read_grammars
    from unlearning.tables.artifacts import write_table

    (folder,) = {Path(path).parent for path in grammars}
    made = offline(read_grammars(folder), sizes, nonmembers, seed, background)
    write_table(made.documents, documents, "documents")
    write_table(made.knowledge, knowledge, "knowledge")
    write_table(made.rejected, rejected, "rejected")
    write_table(made.funnel, funnel, "funnel")
    print(f"{len(made.documents)} documents; drafts refused: {len(made.rejected)}")


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_documents)  # noqa: F821
