"""Match facts, have language models compose, split and judge multi-hop questions, and keep as many of each type."""


def leak_questions_llm(
    facts: str, templates: str, frames: str, general_rules: str, prompts: list[str], matches: str, composed: str,
    decomposed: str, uniqueness: str, multihop: str, rejected: str, funnel: str, rounds: str, usage: str, seed: int,
    candidates: int, per_type: int, asked_per_type: int, on_short: str, doors: dict,
    sampling: dict, max_rounds: int, store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write each step's table (Parquet): of at most `asked_per_type` matches of each type, `per_type` are kept.

    The roles composer, decomposer and uniqueness are asked; the checks in code run beside them. Replies are kept below
    `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    ShortError: a type has fewer than `per_type` questions, with `on_short` error.
    """
    from unlearning.data.leak import asking_llm, templated
    from unlearning.data.leak.knowledge import index
    from unlearning.data.leak.select import balanced
    from unlearning.data.leak.templates import read_phrases
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.refused import counted
    from unlearning.tables.artifacts import read_table, write_table

    known, phrases = read_table(facts, "facts"), read_phrases(templates, frames, general_rules)
    there = templated.to_ask(known, phrases, seed, candidates)
    with open_tools(None, prompts, doors, sampling, max_rounds, store, job=usage) as (tools, asker):
        found = asking_llm.ask(there, index(known), tools, asked_per_type, seed)
    kept, counts = balanced(found.questions, found.funnel, per_type, seed, on_short)
    write_table(kept, multihop, "multihop")
    write_table(counts, funnel, "funnel")
    for name, path in (
        ("matches", matches), ("composed", composed), ("decomposed", decomposed), ("uniqueness", uniqueness),
        ("rejected", rejected), ("rounds", rounds),
    ):  # fmt: skip
        write_table(getattr(found, name), path, name)
    write_table(asker.usage(), usage, "usage")
    print(counts.pivot(index="type", columns="step", values="n").to_string())
    for line in counted(found.rejected):
        print(line)
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_questions_llm, restore=True)  # noqa: F821
