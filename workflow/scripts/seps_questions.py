"""Invent the question set in TOFU's shape that SEPS's default asks about."""


def seps_questions(
    pools: str, phrasebook: str, questions: str, memorised: int, known: int, background: int, attributes: list[str],
    practised: list[str], practice: int, forgotten: int, seed: int,
) -> None:  # fmt: skip
    """Write `questions` (Parquet): see unlearning.data.tofu_shaped.questions."""
    from unlearning.data.phrasebook import read_phrasebook, read_pools
    from unlearning.data.tofu_shaped import questions as invent
    from unlearning.tables.artifacts import write_table

    pool = read_pools(pools)
    book = read_phrasebook(phrasebook, pool)
    made = invent(pool, book, memorised, known, background, attributes, practised, practice, forgotten, seed)
    write_table(made, questions, "questions")


if __name__ == "__main__":
    from job import run

    run(snakemake, seps_questions)  # noqa: F821
