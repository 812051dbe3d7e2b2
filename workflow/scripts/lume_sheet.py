"""The sheet on which two people each judge every story."""


def lume_sheet(documents: str, knowledge: str, csv: str, xlsx: str) -> None:
    """Write the sheet of the stories among `documents`, with their questions, as CSV and for spreadsheets."""
    from unlearning.data.lume.sheet import sheet
    from unlearning.review.csv_file import write_csv
    from unlearning.review.xlsx import write_xlsx
    from unlearning.tables.artifacts import read_table

    shown = sheet(read_table(documents, "documents"), read_table(knowledge, "knowledge"))
    write_csv(shown, csv)
    write_xlsx(shown, xlsx)


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_sheet)  # noqa: F821
