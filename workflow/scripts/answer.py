"""Ask a model every question: answers by decoding, and the likelihoods of known answers."""


def answer(
    model: str | list[str],
    questions: str,
    likelihoods: str | list[str],
    batch_size: int,
    answers: str | list[str] = (),
    decoding: dict[str, dict] | None = None,
    prompts: list[dict] = (),
    phrases: list[str] = (),
    max_new_tokens: int = 0,
    seed: int = 0,
    groups: list[str] | None = None,
    splits: str | None = None,
    split: str | None = None,
    asked_split: str | None = None,
    only: str = "all",
    device: str = "auto",
    dtype: str = "float32",
    threads: int = 1,
    backend: str = "transformers",
    shard: list[int] | None = None,
    shards: list[str] = (),
) -> None:
    """Write `likelihoods` and, where they are wanted, `answers` (Parquet) of a model.json for the items in `questions`.

    `model`, `likelihoods` and `answers` may be lists, one entry a model: all are asked in one job. `decoding` names the
    attack that chooses how answers are decoded, with its settings ({} is greedy). `groups`, `splits`, `split` and
    `only` choose the items (see unlearning.answer.select), without those that another split than `asked_split` asks, of
    which mixed prompts have an answer and no likelihood, and those without messages have a likelihood and no
    answer; `prompts` are the attacks on them, `phrases` the files that these read (see unlearning.answer.prompted).
    `backend`, transformers or vllm, writes the answers.
    `shard`, [k, n]: only every n-th batch, with its rows' numbers; `shards`: the tables of all n such jobs, which are
    put together, so that no model is loaded.
    Raises ValueErrors of what it calls.
    """
    models, scored, written = ([paths] if isinstance(paths, str) else paths for paths in (model, likelihoods, answers))
    if shards:
        from unlearning.tables.artifacts import write_table
        from unlearning.tables.shards import gathered

        for name, paths in (("likelihoods", scored), ("answers", written)):
            for path in paths:
                write_table(gathered(name, path, shards), path, name)
        return
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from importlib import import_module

    import torch

    from unlearning.answer.decoding import Decoding
    from unlearning.answer.generate import generate, stop_ids
    from unlearning.answer.likelihood import likelihoods as score
    from unlearning.answer.parts import of_split, plain
    from unlearning.answer.prompted import prompted, read_phrases
    from unlearning.answer.select import questions as asking
    from unlearning.answer.select import select
    from unlearning.models.load import load_model, load_tokenizer
    from unlearning.score.split import with_groups
    from unlearning.tables.artifacts import read_table, write_table
    from unlearning.tables.shards import WHOLE, numbered

    if backend == "vllm":
        from unlearning.llm.backends.vllm import check_installed

        check_installed()
    chosen = Decoding()
    for attack, settings in (decoding or {}).items():
        chosen = import_module(f"unlearning.attacks.{attack}").decoding(**settings)
    split_table = read_table(splits, "splits") if splits else None
    everything = read_table(questions, "items")
    items = select(of_split(everything, asked_split), groups, split_table, split, only)
    grouped = everything if split_table is None else with_groups(everything, split_table, split)
    items = prompted(items, prompts, questions=grouped, seed=seed, phrases=read_phrases(phrases))
    torch.set_num_threads(threads)

    def write(found, path: str, name: str, rows: int) -> None:
        write_table(*((numbered(found, rows), path, f"{name}_shard") if shard else (found, path, name)))

    def ask(model: str, scored: str, written: str | None) -> None:
        network, tokenizer = load_model(model, device, dtype), load_tokenizer(model)
        own, single, asked = shard or WHOLE, plain(items), asking(items)
        forms = len(single) + int(single["candidates"].map(len).sum())
        write(score(network, tokenizer, single, batch_size, own), scored, "likelihoods", forms)
        if written and backend == "vllm":
            from unlearning.answer.vllm import generate as generate_fast

            stops = stop_ids(network, tokenizer)
            del network  # vLLM takes its place on the GPU
            torch.cuda.empty_cache()
            options = (stops, asked, chosen, seed, max_new_tokens, device, dtype, own)
            write(generate_fast(model, tokenizer, *options), written, "answers", len(asked) * chosen.samples)
        elif written:
            texts = generate(network, tokenizer, asked, chosen, seed, batch_size, max_new_tokens, own)
            write(texts, written, "answers", len(asked) * chosen.samples)

    for paths in zip(models, scored, written or [None] * len(models), strict=True):
        ask(*paths)


if __name__ == "__main__":
    from job import run

    run(snakemake, answer, restore=True)  # noqa: F821
