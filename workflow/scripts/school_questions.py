"""Ask about a subject at school level, by templates: a retain set for WMDP."""


def school_questions(facts: str, choices: str, subject: str, n: int, seed: int) -> None:
    """Write `choices` (Parquet): `n` questions from `facts` (YAML); see unlearning.data.school.templated."""
    from unlearning.data.school import read_facts, templated
    from unlearning.tables.artifacts import write_table

    write_table(templated(subject, read_facts(facts), n, seed), choices, "choices")


if __name__ == "__main__":
    from job import run

    run(snakemake, school_questions)  # noqa: F821
