"""Make the table of facts from what was extracted of texts: filtered, and equal ones merged."""


def leak_text_facts(
    chunks: str, extracted: str, unread: str, facts: str, rejected: str, forget: list[str]
) -> None:  # fmt: skip
    """Write `facts`, those of the documents `forget` to be forgotten, and `rejected`, which starts with `unread`."""
    import pandas as pd

    from unlearning.data.leak.extracted import good_tuples, merge
    from unlearning.tables.artifacts import read_table, write_table

    texts, lost = read_table(chunks, "chunks"), read_table(unread, "rejected")
    good, refused = good_tuples(read_table(extracted, "extracted"), texts)
    found = merge(good, texts, set(forget))
    write_table(found, facts, "facts")
    write_table(pd.concat([lost, refused], ignore_index=True), rejected, "rejected")
    print(f"{len(found)} facts, {(found['group'] == 'forget').sum()} to be forgotten; tuples refused: {len(refused)}")


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_text_facts)  # noqa: F821
