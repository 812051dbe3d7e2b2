"""One unlearning run: a forget term and a retain term on the target model."""

from pathlib import Path


def unlearn(
    target: Path,
    examples: Path,
    splits: Path,
    model: Path,
    weights: Path,
    log: Path,
    method: dict,
    split: str,
    languages: list[str],
    seed: int,
    device: str = "auto",
    dtype: str = "float32",
    ref_logprobs: Path | None = None,
    refusals: Path | None = None,
    work: Path | None = None,
) -> None:
    """Make `target` forget the forget set of `split` by `method`; write the `model` record, its `weights` and `log`.

    `ref_logprobs` and `refusals` are read only where the method's terms need them, and a frozen copy of the target is
    kept only where one needs that.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.encode import pad_id
    from unlearning.models.load import find_device, load_model, load_tokenizer, save_model
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.train import unlearn as training
    from unlearning.train.plan import make_plan
    from unlearning.train.rows import encode_rows, of_split, read_refusals

    plan, device, tokenizer = (
        make_plan({**method, "dtype": dtype}, "method"),
        find_device(device),
        load_tokenizer(target),
    )
    given, needs = {"ref_logprobs": ref_logprobs, "refusals": refusals}, plan.needs()
    if absent := [name for name, path in given.items() if name in needs and not path]:
        raise ValueError(f"method {plan.forget} × {plan.retain} needs {' and '.join(absent)}: give them as inputs")
    table, parts = read_table(examples, "examples"), read_table(splits, "splits")
    known = read_table(ref_logprobs, "ref_logprobs") if "ref_logprobs" in needs else None
    sentences = read_refusals(refusals) if "refusals" in needs else None

    def rows(side):
        asked, chosen = plan.terms()[side].needs, of_split(table, parts, split, side, languages)
        return encode_rows(
            tokenizer,
            chosen,
            plan.max_length,
            known if "ref_logprobs" in asked else None,
            sentences if "refusals" in asked else None,
            "question_tokens" in asked,
            **plan.spans(side),
        )

    unlearned = training.unlearn(
        load_model(target, device),
        rows("forget"),
        rows("retain"),
        plan,
        seed,
        pad_id(tokenizer),
        device,
        load_model(target, device) if "reference_model" in needs else None,
        work,
    )
    write_table(unlearned.log, log, "train_log")
    save_model(unlearned.model, tokenizer, model, unlearned.facts)


if __name__ == "__main__":
    from job import run

    run(snakemake, unlearn, restore=True)  # noqa: F821
