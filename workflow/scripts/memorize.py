"""The target model (everything memorised) and the retrained one (the same without the forget set)."""

from pathlib import Path


def memorize(
    base: Path,
    examples: Path,
    model: Path,
    weights: Path,
    log: Path,
    select: dict,
    training: dict,
    lora: dict | None,
    seed: int,
    device: str = "auto",
    dtype: str = "float32",
    splits: Path | None = None,
    work: Path | None = None,
    scale: dict | None = None,
) -> None:
    """Train the `base` model on memorised `examples`; write the `model` record, its `weights` folder and `log`.

    `select`: memorised_languages; background_languages and background_share (that share of each batch is drawn from
    background rows; 0 for none); split: leave out the forget set of that split of `splits` (null for the target).
    `scale`: sharding, gradient_checkpointing, checkpoint_steps. Of several processes that call it together, number 0
    writes.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.encode import pad_id
    from unlearning.models.load import find_device, load_model, load_tokenizer, save_model
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.train.memorise import memorise
    from unlearning.train.plan import make_plan
    from unlearning.train.processes import rank
    from unlearning.train.rows import encode_rows, knowledge_of, of_group

    plan = make_plan({**training, "lora": lora, "dtype": dtype, **(scale or {})})
    table, device, tokenizer = read_table(examples, "examples"), find_device(device), load_tokenizer(base)
    chosen = of_group(table, "memorised", select["memorised_languages"])
    if select["split"]:
        forgotten = knowledge_of(read_table(splits, "splits"), select["split"], "forget")
        chosen = chosen[~chosen["knowledge_id"].isin(forgotten)]
    rows, replay, share = encode_rows(tokenizer, chosen, plan.max_length), None, select["background_share"]
    if share:
        background = of_group(table, "background", select["background_languages"])
        replay = encode_rows(tokenizer, background, plan.max_length)
    network = load_model(base, plan.loads_on(device))
    taught = memorise(network, rows, plan, seed, pad_id(tokenizer), device, replay, share, work)
    if rank() == 0:
        write_table(taught.log, log, "train_log")
        save_model(taught.model, tokenizer, model, taught.facts)


if __name__ == "__main__":
    from job import run

    run(snakemake, memorize, restore=True)  # noqa: F821
