"""Have a language model write down the facts that each chunk of the texts states."""


def leak_extract_llm(
    chunks: str, prompts: list[str], extracted: str, unread: str, usage: str, doors: dict, sampling: dict,
    store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write `extracted`, `unread` (table `rejected`: chunks without a reply of use) and `usage`.

    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    """
    from unlearning.data.leak.extract_llm import extract
    from unlearning.data.llm_tools import open_tools
    from unlearning.tables.artifacts import read_table, write_table

    table = read_table(chunks, "chunks")
    with open_tools(None, prompts, doors, sampling, 1, store, job=usage) as (tools, asker):
        found, lost = extract(table, tools)
    write_table(found, extracted, "extracted")
    write_table(lost, unread, "rejected")
    write_table(asker.usage(), usage, "usage")
    print(f"{len(found)} facts of {len(table)} chunks; chunks without a reply of use: {len(lost)}")
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_extract_llm, restore=True)  # noqa: F821
