"""Translate the value pools into one language by a language model, in rounds, with back-translation."""


def mu2_values_llm(
    pools: str, prompts: list[str], books: list[str], languages_file: str, values: str, rounds: str, usage: str,
    language: str, attributes: list[str], doors: dict, sampling: dict, max_rounds: int, back_translator: dict,
    store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write `values` (the accepted translations), `rounds` (every attempt) and `usage` (what the models took).

    All values of the pools of `attributes`, whether somebody has them or not. English values are themselves.
    Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was refused.
    """
    from unlearning.data.languages import known, read_languages
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.phrasebook import read_pools
    from unlearning.data.rounds import rounds_table
    from unlearning.data.values_llm import english_values, translate_values, values_of
    from unlearning.tables.artifacts import write_table

    read = read_pools(pools)
    pool = {attribute: read[attribute] for attribute in attributes}
    spoken = known(language, read_languages(languages_file), languages_file)
    given = (spoken, prompts, doors, sampling, max_rounds, store, back_translator, books)
    with open_tools(*given, job=usage) as (tools, asker):
        history = english_values(pool) if language == "en" else translate_values(pool, spoken, tools)
    accepted, attempts = values_of(history, language), rounds_table(history, language)
    write_table(accepted, values, "values")
    write_table(attempts, rounds, "rounds")
    write_table(asker.usage(), usage, "usage")
    print(f"{language}: {len(accepted)} of {history['id'].nunique()} values have an accepted translation")
    if accepted.empty:
        print(f"WARNING: no value has an accepted translation in {language}, so all its pairs will be rejected. Why:")
        print(attempts.explode("reasons")["reasons"].value_counts().head().to_string())
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_values_llm, restore=True)  # noqa: F821
