"""Ask every person's every attribute in English."""


def mu2_pairs(profiles: str, phrasebook: str, pairs: str) -> None:
    """Write `pairs`: one templated English question-answer pair for each row of `profiles`, not yet checked."""
    from unlearning.data.phrasebook import english_pairs, read_phrasebook
    from unlearning.tables.artifacts import read_table, write_table

    write_table(english_pairs(read_table(profiles, "profiles"), read_phrasebook(phrasebook)), pairs, "pairs")


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_pairs)  # noqa: F821
