"""What the target model thinks of the forget set: the reference quantities of preference-type terms."""

from pathlib import Path


def reference(
    model: Path,
    examples: Path,
    splits: Path,
    ref_logprobs: Path,
    split: str,
    languages: list[str],
    device: str = "auto",
    dtype: str = "float32",
    max_length: int | None = None,
    batch_size: int = 64,
    refusals: Path | None = None,
    seed: int = 0,
    epochs: int = 0,
    documents_only: bool = False,
) -> None:
    """Write log p(answer | prompt) under the target `model`, for the forget set of `split` in `languages`.

    With `refusals`, also those of the refusals that `epochs` epochs of `seed` draw. `max_length` must be that of the
    method that reads the table. `documents_only`: leave out what answers a question.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.load import load_model, load_tokenizer
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.train.reference import reference_logprobs
    from unlearning.train.rows import of_split, read_refusals

    table, parts = read_table(examples, "examples"), read_table(splits, "splits")
    forget = of_split(table, parts, split, "forget", languages, documents_only)
    network, tokenizer = load_model(model, device, dtype), load_tokenizer(model)
    sentences = read_refusals(refusals) if refusals else None
    scored = reference_logprobs(network, tokenizer, forget, max_length, batch_size, sentences, seed, epochs)
    write_table(scored, ref_logprobs, "ref_logprobs")


if __name__ == "__main__":
    from job import run

    run(snakemake, reference, restore=True)  # noqa: F821
