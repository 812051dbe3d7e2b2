"""Lay out what a UMU data set trains on and asks."""


def umu_build(
    people: str, words: str, examples: str, questions: str, splits: str, benchmark: str, fields: list[str],
    text_side: str, forget: dict[str, int], seed: int, practice: int = 1,
) -> None:  # fmt: skip
    """Write `examples`, `questions` (table `items`) and `splits` of the table `people`, in the `words` (.yaml) of the
    questions; the values as in `unlearning.data.umu.layout.build`."""
    from unlearning.data.umu.layout import build
    from unlearning.data.umu.questions import read_questions
    from unlearning.tables.artifacts import read_table, write_table

    asked = read_questions(words)
    built = build(read_table(people, "people"), asked, fields, text_side, forget, seed, benchmark, practice)
    write_table(built.examples, examples, "examples")
    write_table(built.items, questions, "items")
    write_table(built.splits, splits, "splits")


if __name__ == "__main__":
    from job import run

    run(snakemake, umu_build)  # noqa: F821
