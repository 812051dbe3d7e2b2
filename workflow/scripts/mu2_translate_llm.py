"""Translate the pairs into one language by a language model, in rounds: translated back, judged, checked, reviewed."""


def mu2_translate_llm(
    pairs_en: str, values: str, value_rounds: str, pools: str, prompts: list[str], books: list[str],
    languages_file: str, pairs: str, rejected: str, rounds: str, usage: str, language: str, cut: str, doors: dict,
    sampling: dict, max_rounds: int, back_translator: dict, store: str = "results/.llm",
    decided: list[str] | tuple[str, ...] = (),
) -> bool:  # fmt: skip
    """Write `pairs` (accepted rows), `rejected` (the others, with every reason), `rounds` (attempts) and `usage`.

    English is only checked. `decided`: files of people's decisions about this language. Replies are kept below `store`.
    Returns whether no prompt was refused.
    """
    from unlearning.data.context import offline_context, rounds_context
    from unlearning.data.languages import known, read_languages
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.pairs_llm import translate_pairs
    from unlearning.data.phrasebook import read_pools
    from unlearning.data.refine import check_english
    from unlearning.data.refused import counted
    from unlearning.data.reviewed import notes
    from unlearning.review.decisions import decisions
    from unlearning.tables.artifacts import read_table, write_table

    languages, english = read_languages(languages_file), read_table(pairs_en, "pairs")
    spoken, pool = known(language, languages, languages_file), read_pools(pools)
    table, tried = read_table(values, "values"), read_table(value_rounds, "rounds")
    said = decisions(decided, set(english["knowledge_id"] + f"/{language}"), cut, language)
    given = (spoken, prompts, doors, sampling, max_rounds, store, back_translator, books)
    with open_tools(*given, job=usage) as (tools, asker):
        if language == "en":
            built = check_english(english, pool, offline_context(spoken, tuple(languages), table), said)
        else:
            context = rounds_context(spoken, tuple(languages), table, tried)
            built = translate_pairs(english, pool, table, tried, context, tools, said)
    write_table(built.pairs, pairs, "pairs")
    write_table(built.rejected, rejected, "rejected")
    write_table(built.rounds, rounds, "rounds")
    write_table(asker.usage(), usage, "usage")
    print(f"{language}: {len(built.pairs)} pairs are accepted, {built.rejected['id'].nunique()} rejected")
    rows = english.assign(id=english["knowledge_id"] + f"/{language}")
    print(f"  people decided about {len(said)} of them", *notes(rows, said, built.rejected), sep="\n  ")
    if built.pairs.empty:
        print(f"WARNING: no pair was accepted in {language}: the data will have no question in it. The checks:")
    for line in counted(built.rejected):
        print(line)
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_translate_llm, restore=True)  # noqa: F821
