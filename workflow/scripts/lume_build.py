"""Lay out what a LUME data set trains on and asks."""


def lume_build(
    documents: str, continuations: str, knowledge: str, examples: str, questions: str, splits: str, benchmark: str,
    split: str,
) -> None:  # fmt: skip
    """Write `examples`, `questions` (table `items`) and `splits` of the documents, where they are cut, and what is
    asked about them."""
    from unlearning.data.lume.layout import build
    from unlearning.tables.artifacts import read_table, write_table

    given = (("documents", documents), ("continuations", continuations), ("knowledge", knowledge))
    built = build(*(read_table(path, name) for name, path in given), split, benchmark)
    write_table(built.examples, examples, "examples")
    write_table(built.items, questions, "items")
    write_table(built.splits, splits, "splits")


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_build)  # noqa: F821
