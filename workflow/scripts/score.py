"""Score one run: every metric of its benchmark, as rows of the `scores` table."""


def score(
    questions: str,
    splits: str,
    values: list[str],
    answers: str,
    likelihoods: str,
    verdicts: str,
    second_verdicts: list[str],
    target: list[str],
    retrain: list[str],
    scores: str,
    identity: dict,
    metrics: list[str],
    languages: dict[str, dict],
    judge: str,
    second_judges: list[str],
    draws: int,
) -> None:
    """Write `scores` (Parquet) of the run whose tables are `answers`, `likelihoods`, `verdicts`.

    `target` and `retrain` list the same three tables of the model before unlearning and of the one trained without the
    forget set. `second_verdicts` are those of `second_judges` on the run itself. `identity` fills the columns that name
    the run; its `split` says what is forgotten.
    Raises TableError for a table that breaks its contract.
    """
    from dataclasses import replace

    import pandas as pd

    from unlearning.score.languages import Language
    from unlearning.score.run import score as score_run
    from unlearning.score.split import with_groups
    from unlearning.score.view import Tables, View
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.tables.schemas import TABLES

    names = ("answers", "likelihoods", "verdicts")
    items = with_groups(read_table(questions, "items"), read_table(splits, "splits"), identity["split"])
    asked = read_table(answers, "answers", ["item_id"])["item_id"].unique()
    items = items[items["item_id"].isin(asked)]

    def tables(paths: list[str]) -> Tables:
        read = (read_table(path, name) for path, name in zip(paths, names, strict=True))
        return Tables(*(table[table["item_id"].isin(items["item_id"])] for table in read))

    own = tables([answers, likelihoods, verdicts])
    if second_verdicts:
        told = [read_table(path, "verdicts") for path in second_verdicts]
        own = replace(own, verdicts=pd.concat([own.verdicts, *told]))
    view = View(
        items=items,
        run=own,
        target=tables(target),
        retrain=tables(retrain),
        languages={code: Language(**facts) for code, facts in languages.items()},
        values=pd.concat([read_table(path, "values") for path in values]) if values else None,
        seed=identity["seed"],
        draws=draws,
        judge=judge,
        second_judges=tuple(second_judges),
    )
    rows = score_run(view, metrics).assign(**identity)
    write_table(rows[[column.name for column in TABLES["scores"]]], scores, "scores")


if __name__ == "__main__":
    from job import run

    run(snakemake, score)  # noqa: F821
