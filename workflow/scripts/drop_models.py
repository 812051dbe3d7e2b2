"""Drop models that `keep_models` does not keep, once all that is planned is scored."""

from pathlib import Path


def drop_models(scores: list[str], dropped: str, models: list[str], store: str = "results/.store") -> None:
    """Drop each of `models` (paths of model.json), once all `scores` are there; list them in the table `dropped`."""
    from unlearning.cache.dropping import drop
    from unlearning.tables.artifacts import write_table

    freed = sum(drop(Path(model), Path(store)) for model in models)
    print(f"{len(models)} models dropped, {freed / 2**20:.1f} MiB freed")
    write_table([{"model": model} for model in models], dropped, "dropped_models")


if __name__ == "__main__":
    from job import run

    run(snakemake, drop_models)  # noqa: F821
