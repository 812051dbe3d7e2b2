"""Score one run: every metric of its benchmark, as rows of the `scores` table."""


def score(
    questions: str,
    splits: str,
    values: list[str],
    answers: str | list,
    likelihoods: str | list,
    verdicts: str | list,
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
    selection: str | list = (),
    plain: str | list = (),
    attacked: list[str] = (),
    attacks: list[str] = (),
    harness: str | list = (),
    target_harness: str | list = (),
    embeddings: str | list = (),
    target_embeddings: str | list = (),
    references: str | list = (),
    refusals: str | list = (),
    prompts: list[dict] = (),
) -> None:
    """Write `scores` (Parquet) of the run whose tables are `answers`, `likelihoods`, `verdicts`.

    `target` and `retrain` list the same three tables, or the first two, of the model before unlearning and of the one
    trained without the forget set. `second_verdicts` are those of `second_judges` on the run itself. What no metric
    needs may be left out (empty). `plain`: the verdicts of the run without its attack; `attacked`: those under each of
    `attacks`, of a run without one. `harness`, `target_harness`: standard benchmarks of the run and of the target.
    `embeddings`, `target_embeddings`, `references`: sentence embeddings of what run and target answered, and of what is
    right. `refusals`: the file of sentences that models are taught to refuse by.
    `prompts`: the attacks that changed what is right, or which picture is shown. `identity` fills the columns that name
    the run; its `split` says what is forgotten. With the table of a `selection` whose candidates differ in it, `epoch`
    is what the chosen one trained.
    Raises TableError for a table that breaks its contract.
    """
    from dataclasses import replace

    import pandas as pd

    from unlearning.answer.parts import of_split
    from unlearning.answer.prompted import prompted, read_phrases
    from unlearning.score.joint import apart
    from unlearning.score.languages import Language
    from unlearning.score.run import score as score_run
    from unlearning.score.split import with_groups
    from unlearning.score.view import Tables, View
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.tables.schemas import TABLES

    names = ("answers", "likelihoods", "verdicts")
    split = identity["split"]
    items = of_split(with_groups(read_table(questions, "items"), read_table(splits, "splits"), split), split)
    if prompts:  # the language stays the item's: by it the rows are told apart
        asked_as = prompted(items, prompts, questions=items, seed=identity["seed"])
        items = asked_as.assign(language=asked_as["item_id"].map(items.set_index("item_id")["language"]))
    if selection:
        chosen = read_table(selection, "selection").query("chosen")
        identity = identity | {"epoch": int(chosen["epochs"].iloc[0])}

    def tables(paths: list[str], embedded: str | list = (), tested: str | list = ()) -> Tables:
        read = {name: read_table(path, name) for name, path in zip(names, paths, strict=False) if path}
        read |= {name: read_table(path, name) for name, path in (("embeddings", embedded), ("harness", tested)) if path}
        return Tables(**read)

    own = tables([answers, likelihoods, verdicts], embeddings, harness)
    if second_verdicts:
        told = [read_table(path, "verdicts") for path in second_verdicts]
        own = replace(own, verdicts=pd.concat([own.verdicts, *told]))
    view = View(
        items=items,
        run=own,
        plain=tables(["", "", plain]) if plain else None,
        attacks={name: tables(["", "", path]) for name, path in zip(attacks, attacked, strict=True)},
        target=tables(target, target_embeddings, target_harness),
        retrain=tables(retrain) if retrain else None,
        languages={code: Language(**facts) for code, facts in languages.items()},
        values=pd.concat([read_table(path, "values") for path in values]) if values else None,
        seed=identity["seed"],
        draws=draws,
        judge=judge,
        second_judges=tuple(second_judges),
        references=read_table(references, "embeddings") if references else None,
        refusals=read_phrases([refusals])["refusals"] if refusals else {},
    )
    view = apart(view)
    rows = score_run(view, metrics).assign(**identity)
    write_table(rows[[column.name for column in TABLES["scores"]]], scores, "scores")


if __name__ == "__main__":
    from job import run

    run(snakemake, score)  # noqa: F821
