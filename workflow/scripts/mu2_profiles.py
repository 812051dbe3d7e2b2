"""Draw the invented people of mu2-Bench."""


def mu2_profiles(
    pools: str, phrasebooks: list[str], profiles: str, counts: dict[str, int], attributes: list[str], seed: int
) -> None:
    """Write `profiles`: `counts` people of each role; no name holds a value of any phrasebook."""
    from unlearning.data.phrasebook import read_phrasebook, read_pools, values_table
    from unlearning.data.profiles import draw_profiles, words_of_values
    from unlearning.tables.artifacts import write_table

    pool = read_pools(pools)
    books = [read_phrasebook(path, pool) for path in phrasebooks]
    banned = words_of_values(values_table(pool, book, book.language) for book in books)
    write_table(draw_profiles(pool, counts, attributes, seed, banned), profiles, "profiles")


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_profiles)  # noqa: F821
