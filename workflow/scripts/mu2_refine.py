"""Mend the grammar of the English questions and answers by a language model, with a check of what it wrote."""


def mu2_refine(
    templates: str, values: str, pools: str, prompts: list[str], languages_file: str, pairs: str, rounds: str,
    usage: str, cut: str, doors: dict, sampling: dict, max_rounds: int, store: str = "results/.llm",
    decided: list[str] | tuple[str, ...] = (),
) -> bool:  # fmt: skip
    """Write `pairs` (the English pairs, refined where that passed), `rounds` (every attempt) and `usage`.

    `values`: the English values; `decided`: files of people's decisions about English. Replies are kept below `store`.
    Returns whether no prompt was refused.
    """
    from unlearning.data.context import offline_context
    from unlearning.data.languages import read_languages
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.phrasebook import read_pools
    from unlearning.data.refine import refine_pairs
    from unlearning.review.decisions import decisions
    from unlearning.tables.artifacts import read_table, write_table

    languages, english = read_languages(languages_file), read_table(templates, "pairs")
    context = offline_context(languages["en"], tuple(languages), read_table(values, "values"))
    said = decisions(decided, set(english["pair_id"]), cut, "en")
    with open_tools(languages["en"], prompts, doors, sampling, max_rounds, store, job=usage) as (tools, asker):
        refined, attempts = refine_pairs(english, read_pools(pools), context, tools, said)
    write_table(refined, pairs, "pairs")
    write_table(attempts, rounds, "rounds")
    write_table(asker.usage(), usage, "usage")
    changed = (refined[["question", "answer"]] != english[["question", "answer"]]).any(axis="columns")
    refused = (attempts["verdict"] == "refused").sum()
    print(f"{changed.sum()} of {len(english)} pairs were refined; attempts refused: {refused}")
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_refine, restore=True)  # noqa: F821
