"""Ask a language model, or an offline engine in its place, every prompt of a table."""


def complete(prompts: str, completions: str, usage: str, role: str, door: dict, store: str = "results/.llm") -> bool:
    """Write `completions` and `usage` (Parquet) of the table at `prompts`; `door` says who answers for `role`.

    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    NoReplies: some prompts got no reply, or no reply can be used.
    """
    from unlearning.llm.roles import open_roles
    from unlearning.tables.artifacts import read_table, write_table

    with open_roles({role: door}, store, job=usage) as asker:
        replies = asker.ask(role, read_table(prompts, "prompts"))
    write_table(replies, completions, "completions")
    write_table(asker.usage(), usage, "usage")
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, complete, restore=True)  # noqa: F821
