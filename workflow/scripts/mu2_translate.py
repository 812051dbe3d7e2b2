"""Put the pairs into one language and check every row."""


def mu2_translate(
    pairs_en: str,
    values: str,
    pools: str,
    phrasebook: str,
    languages_file: str,
    pairs: str,
    rejected: str,
    language: str,
    cut: str,
    decided: list[str] | tuple[str, ...] = (),
) -> None:
    """Write `pairs` (rows that pass every mechanical check) and `rejected` (the others, each with every reason).

    English goes through the same checks, translated by its own phrasebook. `decided`: files of people's decisions about
    this language; a row they reject is refused, one they approve is kept, one they correct is checked again.
    """
    from unlearning.data.context import offline_context
    from unlearning.data.languages import known, read_languages
    from unlearning.data.phrasebook import read_phrasebook, read_pools, translate
    from unlearning.data.refused import counted
    from unlearning.review.apply import check_reviewed
    from unlearning.review.decisions import decisions
    from unlearning.tables.artifacts import read_table, write_table

    languages = read_languages(languages_file)
    translated_values = read_table(values, "values")
    context = offline_context(known(language, languages, languages_file), tuple(languages), translated_values)
    book = read_phrasebook(phrasebook, read_pools(pools))
    translated = translate(read_table(pairs_en, "pairs"), translated_values, book)
    said = decisions(decided, set(translated["pair_id"]), cut, language)
    kept, refused, notes = check_reviewed(translated, said, context)
    write_table(kept, pairs, "pairs")
    write_table(refused, rejected, "rejected")
    print(f"{language}: {len(kept)} pairs pass every check, {refused['id'].nunique()} are refused")
    print(f"  people decided about {len(said)} of them", *notes, sep="\n  ")
    for line in counted(refused):
        print(line)


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_translate)  # noqa: F821
