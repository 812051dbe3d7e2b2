"""The base model of a benchmark: published, or small and taught the background population."""

from pathlib import Path


def base(
    examples: Path,
    questions: Path,
    model: Path,
    weights: Path,
    log: Path,
    pretrained: dict | None,
    architecture: dict | None,
    training: dict,
    lora: dict | None,
    seed: int,
    device: str = "auto",
    dtype: str = "float32",
    work: Path | None = None,
    scale: dict | None = None,
) -> None:
    """Write the base `model` record, its `weights` folder beside it and `log`.

    `pretrained` {name, revision} is used as it is: nothing is trained and both others stay empty. Else a tokenizer of
    architecture's vocab_size is learnt from all texts of `examples` and `questions`, and a model of `architecture` is
    taught the background rows by `training` (epochs 0 leaves it as it was drawn). `scale`: sharding,
    gradient_checkpointing, checkpoint_steps. Of several processes that call it together, number 0 writes.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.load import save_pretrained_record
    from unlearning.tables.artifacts import read_table, write_table

    table = read_table(examples, "examples")
    if pretrained:
        Path(weights).mkdir(parents=True, exist_ok=True)
        write_table([], log, "train_log")
        pictures = bool((table["modality"] == "image").any())
        save_pretrained_record(pretrained["name"], pretrained["revision"], model, pictures)
        return
    from unlearning.models.encode import pad_id
    from unlearning.models.load import find_device, save_model
    from unlearning.models.small import published_names, small_model
    from unlearning.models.tokenizer import texts_of, train_tokenizer
    from unlearning.train.memorise import memorise
    from unlearning.train.plan import make_plan
    from unlearning.train.processes import rank
    from unlearning.train.rows import encode_rows, of_group

    training = {key: value for key, value in training.items() if key != "background_share"}
    plan = make_plan({**training, "lora": lora, "dtype": dtype, **(scale or {})}, "base")
    device = find_device(device)
    shape = {key: value for key, value in architecture.items() if key not in ("vocab_size", "tokenizer")}
    tokenizer = train_tokenizer(
        texts_of(table, read_table(questions, "items")),
        architecture["vocab_size"],
        architecture.get("tokenizer", "bpe"),
    )
    network, steps, facts = small_model(shape, tokenizer, seed), [], {"steps": 0, "collapsed": False}
    if plan.epochs:
        background = encode_rows(tokenizer, of_group(table, "background"), plan.max_length)
        network, steps, facts, _ = memorise(network, background, plan, seed, pad_id(tokenizer), device, work=work)
    if rank() == 0:
        write_table(steps, log, "train_log")
        save_model(network, tokenizer, model, facts, published_names if shape.get("vision") else None)


if __name__ == "__main__":
    from job import run

    run(snakemake, base, restore=True)  # noqa: F821
