"""How varied the kept questions are, and the sheet on which people judge some of them."""


def leak_quality(
    multihop: str, facts: str, quality: str, csv: str, xlsx: str, seed: int, review_per_type: int,
    ratings: list[str] = (),
) -> None:  # fmt: skip
    """Write `quality` (Parquet) of the questions in `multihop`, and a sheet with `review_per_type` of each type.

    `ratings`: one table of what raters say of them, or none.
    """
    import pandas as pd

    from unlearning.data.leak import quality as figures
    from unlearning.data.leak.rate_llm import figures as rated
    from unlearning.data.leak.sheet import sheet
    from unlearning.review.csv_file import write_csv
    from unlearning.review.xlsx import write_xlsx
    from unlearning.tables.artifacts import read_table, write_table

    questions = read_table(multihop, "multihop")
    said = [rated(read_table(path, "ratings"), questions) for path in ratings]
    write_table(pd.concat([figures.quality(questions, seed), *said], ignore_index=True), quality, "quality")
    shown = sheet(questions, read_table(facts, "facts"), review_per_type, seed)
    write_csv(shown, csv)
    write_xlsx(shown, xlsx)


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_quality)  # noqa: F821
