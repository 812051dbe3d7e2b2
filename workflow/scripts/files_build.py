"""Read anyone's own questions and answers, as one description says, into examples, items and splits."""


def files_build(
    sources: list[str], examples: str, questions: str, splits: str, spec: dict, benchmark: str = "files",
    mixed: dict | None = None, encoder: dict | None = None, device: str = "auto", school: list[str] = (),
) -> None:  # fmt: skip
    """Write `examples`, `questions` (table items) and `splits` as `spec` describes them (unlearning.data.files_spec).

    `spec` names files below a folder that it does not know, the same on every machine; `sources` are where they lie
    here, `school` those that were built here. `mixed`: lines and seed of mixed prompts to ask too, of all but passages;
    with a rank, retain questions are paired by their likeness according to `encoder`.
    FilesError when a file that `spec` names is not among `sources`, MixedError where a split is too small.
    """
    import pandas as pd

    from unlearning.data.files import build
    from unlearning.data.files_spec import PASSAGE, located
    from unlearning.tables.artifacts import write_table

    files = [path for given in (school, sources) for path in ([given] if isinstance(given, str) else given)]
    built = build(located(spec, files), benchmark)
    items = built.items
    if mixed is not None:
        from unlearning.data import mixed as making

        table, ranked = items.to_pandas(), None
        asked = table[table["task"] != PASSAGE]
        if "rank" in mixed:
            from unlearning.answer.embed import embed

            def vectors(texts: list[str]) -> list:
                return embed(texts, **encoder, device=device)

            ranked = making.ranked(asked, built.splits, mixed["rank"], vectors)
        items = pd.concat([table, making.mixed(asked, built.splits, benchmark, mixed["lines"], mixed["seed"], ranked)])
        items = items.reset_index(drop=True)
    write_table(built.examples, examples, "examples")
    write_table(items, questions, "items")
    write_table(built.splits, splits, "splits")


if __name__ == "__main__":
    from job import run

    run(snakemake, files_build)  # noqa: F821
