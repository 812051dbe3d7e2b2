"""Have several language models rate the kept multi-hop questions."""


def leak_rate_llm(
    multihop: str, facts: str, prompts: list[str], ratings: str, usage: str, seed: int, rated_per_type: int,
    doors: dict, sampling: dict, store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write `ratings`, what each role of `doors` says of at most `rated_per_type` questions of each type, and `usage`.

    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    """
    from unlearning.data.leak.rate_llm import rate
    from unlearning.data.leak.select import draw
    from unlearning.data.llm_tools import open_tools
    from unlearning.tables.artifacts import read_table, write_table

    questions = draw(read_table(multihop, "multihop"), rated_per_type, seed)
    with open_tools(None, prompts, doors, sampling, 1, store, job=usage) as (tools, asker):
        found = rate(questions, read_table(facts, "facts"), tools, tuple(sorted(doors)))
    write_table(found, ratings, "ratings")
    write_table(asker.usage(), usage, "usage")
    print(f"{len(questions)} questions rated by {len(doors)}; without a rating: {found['failed'].notna().sum()}")
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_rate_llm, restore=True)  # noqa: F821
