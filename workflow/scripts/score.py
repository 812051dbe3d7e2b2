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
    prompts: list[dict] = (),
) -> None:
    """Write `scores` (Parquet) of the run whose tables are `answers`, `likelihoods`, `verdicts`.

    `target` and `retrain` list the same three tables, or the first two, of the model before unlearning and of the one
    trained without the forget set. `second_verdicts` are those of `second_judges` on the run itself. What no metric
    needs may be left out (empty). `plain`: the verdicts of the run without its attack; `attacked`: those under each of
    `attacks`, of a run without one. `harness`, `target_harness`: standard benchmarks of the run and of the target.
    `prompts`: the attacks that changed what is right. `identity` fills the columns that name the run; its `split` says
    what is forgotten. With the table of a `selection` whose candidates differ in it, `epoch` is what the
    chosen one trained.
    Raises TableError for a table that breaks its contract.
    """
    from dataclasses import replace

    import pandas as pd

    from unlearning.answer.prompted import prompted
    from unlearning.score.languages import Language
    from unlearning.score.run import score as score_run
    from unlearning.score.split import with_groups
    from unlearning.score.view import Tables, View
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.tables.schemas import TABLES

    names = ("answers", "likelihoods", "verdicts")
    items = with_groups(read_table(questions, "items"), read_table(splits, "splits"), identity["split"])
    if prompts:  # the language stays the item's: by it the rows are told apart
        asked_as = prompted(items, prompts, questions=items)
        items = asked_as.assign(language=asked_as["item_id"].map(items.set_index("item_id")["language"]))
    if selection:
        chosen = read_table(selection, "selection").query("chosen")
        identity = identity | {"epoch": int(chosen["epochs"].iloc[0])}
    given = {"answers": answers, "likelihoods": likelihoods}
    told = [read_table(path, name, ["item_id"]) for name, path in given.items() if path]
    items = items[items["item_id"].isin(pd.concat(told)["item_id"])]  # of bare documents there are no answers

    def tables(paths: list[str]) -> Tables:
        read = {name: read_table(path, name) for name, path in zip(names, paths, strict=False) if path}
        return Tables(**{name: table[table["item_id"].isin(items["item_id"])] for name, table in read.items()})

    def tested(path: str | list):
        return read_table(path, "harness") if path else None

    own = replace(tables([answers, likelihoods, verdicts]), harness=tested(harness))
    if second_verdicts:
        told = [read_table(path, "verdicts") for path in second_verdicts]
        own = replace(own, verdicts=pd.concat([own.verdicts, *told]))

    def judged(path: str) -> Tables:
        return tables(["", "", path])

    view = View(
        items=items,
        run=own,
        plain=judged(plain) if plain else None,
        attacks={name: judged(path) for name, path in zip(attacks, attacked, strict=True)},
        target=replace(tables(target) if target else Tables(), harness=tested(target_harness)),
        retrain=tables(retrain) if retrain else None,
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
