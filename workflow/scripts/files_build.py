"""Read anyone's own questions and answers, as one description says, into examples, items and splits."""


def files_build(
    sources: list[str], examples: str, questions: str, splits: str, spec: dict, benchmark: str = "files"
) -> None:
    """Write `examples`, `questions` (table items) and `splits` as `spec` describes them (unlearning.data.files_spec).

    `spec` names files below a folder that it does not know, the same on every machine; `sources` are where they
    lie here. FilesError when a file that `spec` names is not among them.
    """
    from unlearning.data.files import build
    from unlearning.data.files_spec import located
    from unlearning.tables.artifacts import write_table

    built = build(located(spec, [sources] if isinstance(sources, str) else sources), benchmark)
    write_table(built.examples, examples, "examples")
    write_table(built.items, questions, "items")
    write_table(built.splits, splits, "splits")


if __name__ == "__main__":
    from job import run

    run(snakemake, files_build)  # noqa: F821
