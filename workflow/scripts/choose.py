"""Select the candidate that becomes a method's model."""


def choose(
    models: list[str],
    logs: list[str],
    scores: list[str],
    against: list[str],
    selection: str,
    model: str,
    weights: str,
    log: str,
    criterion: str,
    candidates: list[dict],
    identity: dict,
) -> None:
    """Write the table `selection`, and the chosen one's record, `weights` and training log as the method's own.

    `models`, `logs` and `scores` list one file a candidate, in the order of `candidates` ({changed, epochs}); `against`
    the scores of the models that the criterion holds them against. `identity` names the method's run. Weights are hard
    links. ValueError where the criterion can choose none.
    """
    import json
    from importlib import import_module

    from unlearning.models.load import link_model, read_model_json
    from unlearning.score import selection as deciding
    from unlearning.tables.artifacts import read_table, write_table

    asks = import_module(f"unlearning.criteria.{criterion}")
    held = {name: read_table(path, "scores") for name, path in zip(asks.AGAINST, against, strict=True)}
    assessed = [asks.assess(read_table(path, "scores"), **held) for path in scores]
    trained = [read_model_json(path)["trained"] for path in models]
    choices = deciding.choose(assessed, [facts["reason"] if facts["collapsed"] else None for facts in trained])
    rows = [
        {
            **identity, "criterion": criterion, "asks": asks.SAYS, "candidate": number, "epochs": entry["epochs"],
            "changed": json.dumps(entry["changed"], ensure_ascii=False),
            "figures": [{"name": name, "value": value} for name, value in choice.figures.items()],
            "eligible": choice.eligible, "chosen": choice.chosen, "note": choice.note,
        }
        for number, (entry, choice) in enumerate(zip(candidates, choices, strict=True), 1)
    ]  # fmt: skip
    best = next(i for i, choice in enumerate(choices) if choice.chosen)
    print(f"chosen: candidate {best + 1}, {rows[best]['changed']}; {choices[best].note or 'eligible'}")
    write_table(read_table(logs[best], "train_log"), log, "train_log")
    link_model(models[best], model)
    write_table(rows, selection, "selection")


if __name__ == "__main__":
    from job import run

    run(snakemake, choose)  # noqa: F821
