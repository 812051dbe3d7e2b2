"""Cut texts into chunks of whole sentences, from which a language model takes facts."""


def leak_chunks(sources: list[str], chunks: str, chunk_words: int) -> None:
    """Write `chunks` (Parquet) of the UTF-8 texts `sources`; a document is called by its file's name.

    ValueError: a text that is not UTF-8, two of one name, or none with a sentence.
    """
    from pathlib import Path

    import pandas as pd

    from unlearning.data.leak.chunks import chunk, read_text
    from unlearning.tables.artifacts import write_table

    names = [Path(path).name for path in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{', '.join(twice)}: several texts of this name; documents are told apart by their name")
    found = [chunk(read_text(path), name, chunk_words) for path, name in zip(sources, names, strict=True)]
    table = pd.concat(found, ignore_index=True)
    if table.empty:
        raise ValueError(f"{', '.join(sources)}: no sentence in any of these texts; give texts")
    write_table(table, chunks, "chunks")
    print(f"{len(table)} chunks of {len(sources)} texts, {table['n_words'].sum()} words")


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_chunks)  # noqa: F821
