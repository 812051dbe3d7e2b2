"""Ask a language model, or an offline engine in its place, every prompt of a table."""


def complete(
    prompts: str,
    completions: str,
    usage: str,
    role: str,
    door: dict,
    store: str = "results/.llm",
    shard: list[int] | None = None,
    shards: list[str] = (),
) -> bool:
    """Write `completions` and `usage` (Parquet) of the table at `prompts`; `door` says who answers for `role`.

    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    `shard`, [k, n]: only every n-th prompt; `shards`: the tables of all n such jobs, which are put together.
    NoReplies: some prompts got no reply, or no reply can be used.
    """
    from unlearning.llm.roles import open_roles
    from unlearning.llm.shards import ask_shard, put_together
    from unlearning.tables.artifacts import read_table, write_table

    asked = read_table(prompts, "prompts")
    if shards:
        replies, used = put_together(asked, role, door, (completions, usage), shards)
    elif shard:
        replies, used = ask_shard(asked, door, store, usage, shard)
    else:
        with open_roles({role: door}, store, job=usage) as asker:
            replies = asker.ask(role, asked)
        used = asker.usage()
    write_table(replies, completions, "completions")
    write_table(used, usage, "usage")
    useless = bool(shard) and replies["parsed"].isna().all()  # restored, it would never be asked anew
    return bool(replies["text"].notna().all()) and not useless


if __name__ == "__main__":
    from job import run

    run(snakemake, complete, restore=True)  # noqa: F821
