"""Apply an attack on a model's weights."""


def attack_weights(source: str, model: str, weights: str, attack: str, settings: dict, device: str) -> None:
    """Write `model` (model.json) and the folder `weights` beside it: the model of `source` after `attack`.

    The attack is the function `unlearning.attacks.<attack>.<attack>(model, **settings)`. What `source` says of its
    training is kept. Raises the ValueErrors of the attack, and ModelError.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from importlib import import_module

    from unlearning.models.load import load_model, load_tokenizer, read_model_json, save_model

    apply = getattr(import_module(f"unlearning.attacks.{attack}"), attack)
    network = apply(load_model(source, device), **settings)
    facts = read_model_json(source).get("trained", {})
    save_model(network, load_tokenizer(source), model, {**facts, "attack": {attack: settings}})


if __name__ == "__main__":
    from job import run

    run(snakemake, attack_weights, restore=True)  # noqa: F821
