"""One unlearning run: a method, on the target model."""

import importlib
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
    scale: dict | None = None,
    documents_only: bool = False,
    **epochs: Path,
) -> None:
    """Make `target` forget the forget set of `split` by `method`; write the `model` record, its `weights` and `log`.

    `ref_logprobs` and `refusals` are read only where the method or its terms need them, and a frozen copy of the target
    is kept only where one needs that. `epochs`: e<number> -> the record to write after that epoch, its weights beside
    it (e<number>_weights, which only the rule needs); below `work`, if that is given, until the run is done. `scale`:
    sharding, gradient_checkpointing, checkpoint_steps. `documents_only`: leave out what answers a question. Of several
    processes that call it together, number 0 writes.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.models.load import find_device, link_model, load_model, load_tokenizer, save_model
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.train.plan import make_plan
    from unlearning.train.processes import rank
    from unlearning.train.rows import of_split, read_refusals
    from unlearning.train.unlearn import Given

    plan, device, tokenizer = (
        make_plan({**method, "dtype": dtype, **(scale or {})}, "method"),
        find_device(device),
        load_tokenizer(target),
    )
    paths, needs = {"ref_logprobs": ref_logprobs, "refusals": refusals}, plan.needs()
    if absent := [name for name, path in paths.items() if name in needs and not path]:
        name = f"{plan.forget} × {plan.retain}" if plan.method == "pair" else plan.method
        raise ValueError(f"method {name} needs {' and '.join(absent)}: give them as inputs")
    table, parts = read_table(examples, "examples"), read_table(splits, "splits")
    known = read_table(ref_logprobs, "ref_logprobs") if "ref_logprobs" in needs else None
    sentences = read_refusals(refusals) if "refusals" in needs else None
    forget, retain = (of_split(table, parts, split, group, languages, documents_only) for group in ("forget", "retain"))
    place = plan.loads_on(device)
    reference = load_model(target, place) if "reference_model" in needs else None
    places = {name: Path(path) for name, path in epochs.items() if not name.endswith("_weights")}
    drafts = {name: Path(work) / name / "model.json" if work else place for name, place in places.items()}

    def saving(draft: Path):
        return lambda network, facts, finish=None: save_model(network, tokenizer, draft, facts, finish)

    after = {int(name.removeprefix("e")): saving(draft) for name, draft in drafts.items()}
    running = {"target": target, "device": device, "reference": reference, "work": work, "after": after}
    tables = {"forget": forget, "retain": retain, "refusals": sentences, "ref_logprobs": known}
    given = Given(load_model(target, place), tokenizer, plan=plan, seed=seed, **tables, **running)
    unlearned = importlib.import_module(f"unlearning.methods.{plan.method}").unlearn(given)
    if rank():
        return
    for name in drafts if work else ():
        link_model(drafts[name], places[name])
    write_table(unlearned.log, log, "train_log")
    save_model(unlearned.model, tokenizer, model, unlearned.facts, unlearned.finish)


if __name__ == "__main__":
    from job import run

    run(snakemake, unlearn, restore=True)  # noqa: F821
