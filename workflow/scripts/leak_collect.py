"""Make the table of facts: of an invented world, or from MQuAKE's file."""


def leak_collect(
    templates: str, facts: str, seed: int, forget_share: float, world: list[str] = (), sources: list[str] = ()
) -> None:
    """Write `facts` (Parquet) from the file among `sources`, or else those that the file `world` describes.

    `templates` has the wordings of the world's relations. `seed` and `forget_share` are for an invented world.
    """
    from unlearning.data.leak.invented import invent
    from unlearning.data.leak.mquake import read_mquake
    from unlearning.data.leak.templates import read_relations
    from unlearning.tables.artifacts import write_table

    if sources:
        (path,) = sources
        found = read_mquake(path)
    else:
        (path,) = world
        found = invent(path, read_relations(templates), seed, forget_share)
    write_table(found, facts, "facts")
    print(f"{len(found)} facts, {(found['group'] == 'forget').sum()} to be forgotten")


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_collect)  # noqa: F821
