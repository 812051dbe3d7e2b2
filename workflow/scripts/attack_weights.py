"""Apply an attack on a model's weights."""


def attack_weights(
    source: str,
    model: str,
    weights: str,
    attack: str,
    settings: dict,
    device: str,
    examples: str | None = None,
    splits: str | None = None,
    **running,
) -> None:
    """Write `model` (model.json) and the folder `weights` beside it: the model of `source` after `attack`.

    The attack is the function `unlearning.attacks.<attack>.<attack>(model, **settings)`; one that needs examples and
    splits gets these tables too, the tokenizer, the device, and `running`: split, languages, seed, dtype. What `source`
    says of its training and of earlier attacks is kept. Raises the ValueErrors of the attack, and ModelError.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from importlib import import_module

    from unlearning.models.load import find_device, load_model, load_tokenizer, read_model_json, save_model
    from unlearning.tables.artifacts import read_table

    apply = getattr(import_module(f"unlearning.attacks.{attack}"), attack)
    device, tokenizer, given = find_device(device), load_tokenizer(source), {}
    if examples:
        tables = {"examples": read_table(examples, "examples"), "splits": read_table(splits, "splits")}
        given = tables | {"tokenizer": tokenizer, "device": device, **running}
    network = apply(load_model(source, device), **settings, **given)
    facts = read_model_json(source).get("trained", {})
    attacks = {**facts.get("attack", {}), attack: settings}
    save_model(network, tokenizer, model, {**facts, "attack": attacks})


if __name__ == "__main__":
    from job import run

    run(snakemake, attack_weights, restore=True)  # noqa: F821
