"""Draw all faces of UMU-Bench's people on one sheet."""


def umu_sheet(people: str, faces: str) -> None:
    """Write the picture `faces` (PNG) of the table `people`: every face with its name."""
    from unlearning.data.umu.sheet import sheet
    from unlearning.tables.artifacts import read_table, replacing

    drawn = sheet(read_table(people, "people", ["name", "image"]))
    with replacing(faces) as temporary:
        temporary.write_bytes(drawn)


if __name__ == "__main__":
    from job import run

    run(snakemake, umu_sheet)  # noqa: F821
