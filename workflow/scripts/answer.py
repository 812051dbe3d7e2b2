"""Ask a model every question: answers by decoding, and the likelihoods of known answers."""


def answer(
    model: str,
    questions: str,
    answers: str,
    likelihoods: str,
    decoding: dict[str, dict],
    max_new_tokens: int,
    batch_size: int,
    seed: int,
    groups: list[str] | None = None,
    splits: str | None = None,
    split: str | None = None,
    only: str = "all",
    device: str = "auto",
    dtype: str = "float32",
    threads: int = 1,
) -> None:
    """Write `answers` and `likelihoods` (Parquet) of the model.json `model` for the items in `questions`.

    `decoding` names the attack that chooses how answers are decoded, with its settings ({} is greedy). `groups`,
    `splits`, `split` and `only` choose the items (see unlearning.answer.select). Raises ValueErrors of what it calls.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from importlib import import_module

    import torch

    from unlearning.answer.decoding import Decoding
    from unlearning.answer.generate import generate
    from unlearning.answer.likelihood import likelihoods as score
    from unlearning.answer.select import select
    from unlearning.models.load import load_model, load_tokenizer
    from unlearning.tables.artifacts import read_table, write_table

    chosen = Decoding()
    for attack, settings in decoding.items():
        chosen = import_module(f"unlearning.attacks.{attack}").decoding(**settings)
    split_table = read_table(splits, "splits") if splits else None
    items = select(read_table(questions, "items"), groups, split_table, split, only)
    torch.set_num_threads(threads)
    network, tokenizer = load_model(model, device, dtype), load_tokenizer(model)
    scored = score(network, tokenizer, items, batch_size)
    written = generate(network, tokenizer, items, chosen, seed, batch_size, max_new_tokens)
    write_table(scored, likelihoods, "likelihoods")
    write_table(written, answers, "answers")


if __name__ == "__main__":
    from job import run

    run(snakemake, answer, restore=True)  # noqa: F821
