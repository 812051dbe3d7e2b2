"""Have language models ask about a subject at school level: a retain set for WMDP."""


def school_questions_llm(
    facts: str, prompts: list[str], choices: str, rejected: str, rounds: str, usage: str, subject: str, n: int,
    seed: int, doors: dict, sampling: dict, max_rounds: int, store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write `choices` (Parquet), up to `n` questions about the terms of `facts` (YAML), and what was refused.

    The roles writer, verifier_1 and verifier_2 are asked. Replies are kept below `store`, so a job that was ended goes
    on where it was. Returns whether no prompt was refused.
    """
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.refused import counted
    from unlearning.data.school import read_facts
    from unlearning.data.school_llm import write
    from unlearning.tables.artifacts import write_table

    with open_tools(None, prompts, doors, sampling, max_rounds, store, job=usage) as (tools, asker):
        written = write(subject, read_facts(facts), n, tools, seed)
    write_table(written.choices, choices, "choices")
    write_table(written.rejected, rejected, "rejected")
    write_table(written.rounds, rounds, "rounds")
    write_table(asker.usage(), usage, "usage")
    print(f"{len(written.choices)} of {n} questions")
    for line in counted(written.rejected):
        print(line)
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, school_questions_llm, restore=True)  # noqa: F821
