"""Ask a language model, or an offline engine in its place, every prompt of a table."""


def complete(prompts: str, completions: str, usage: str, door: dict, store: str = "results/.llm") -> bool:
    """Write `completions` and `usage` (Parquet) of the table at `prompts`; `door` says who answers.

    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether every prompt got a
    reply: where an endpoint failed, the next run asks again.
    """
    from unlearning.llm.complete import complete as ask
    from unlearning.llm.complete import open_door
    from unlearning.tables.artifacts import read_table, write_table

    with open_door(door, store, usage) as opened:
        replies, used = ask(read_table(prompts, "prompts"), opened)
    write_table(replies, completions, "completions")
    write_table(used, usage, "usage")
    return bool(replies["text"].notna().all())


if __name__ == "__main__":
    from job import run

    run(snakemake, complete, restore=True)  # noqa: F821
