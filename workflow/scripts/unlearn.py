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
    **epochs: Path,
) -> None:
    """Make `target` forget the forget set of `split` by `method`; write the `model` record, its `weights` and `log`.

    `ref_logprobs` and `refusals` are read only where the method's terms need them, and a frozen copy of the target is
    kept only where one needs that. `epochs`: e<number> -> the record to write after that epoch, its weights beside it
    (e<number>_weights, which only the rule needs); below `work`, if that is given, until the run is done.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.encode import pad_id
    from unlearning.models.load import find_device, link_model, load_model, load_tokenizer, save_model
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
    forget, retain = (of_split(table, parts, split, group, languages) for group in ("forget", "retain"))
    places = {name: Path(path) for name, path in epochs.items() if not name.endswith("_weights")}
    drafts = {name: Path(work) / name / "model.json" if work else place for name, place in places.items()}

    def saving(draft: Path):
        return lambda network, facts: save_model(network, tokenizer, draft, facts)

    unlearned = training.unlearn(
        load_model(target, device),
        encode_rows(tokenizer, forget, plan.max_length, known, sentences),
        encode_rows(tokenizer, retain, plan.max_length),
        plan,
        seed,
        pad_id(tokenizer),
        device,
        load_model(target, device) if "reference_model" in needs else None,
        work,
        {int(name.removeprefix("e")): saving(draft) for name, draft in drafts.items()},
    )
    for name in drafts if work else ():
        link_model(drafts[name], places[name])
    write_table(unlearned.log, log, "train_log")
    save_model(unlearned.model, tokenizer, model, unlearned.facts)


if __name__ == "__main__":
    from job import run

    run(snakemake, unlearn, restore=True)  # noqa: F821
