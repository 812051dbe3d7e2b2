"""Invent UMU-Bench's people and draw their faces; read real people where there are some."""


def umu_people(
    places: str, lists: str, people: str, counts: dict[str, int], size: int, seed: int, sources: list[str] = ()
) -> None:
    """Write table `people` (Parquet) from the lists `places` and `lists` (.yaml).

    `counts`: role -> people to invent; `size`: pixels of a picture's side. `sources`: the table of real people, and
    the pictures that it names. ValueError: there are not so many different people; FilesError: a row is not right.
    """
    from unlearning.data.umu.lists import read_lists
    from unlearning.data.umu.people import invent
    from unlearning.data.umu.real import joined, read_real
    from unlearning.tables.artifacts import write_table

    given = read_lists(places, lists)
    made = invent(given, counts, size, seed)
    if sources:
        made = joined(made, read_real(sources[0], [*given.genders.values()], size), sources[0])
    write_table(made, people, "people")
    print(f"people by role: {made['role'].value_counts().to_dict()}")


if __name__ == "__main__":
    from job import run

    run(snakemake, umu_people)  # noqa: F821
