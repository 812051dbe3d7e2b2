"""Lay out what people should look at in one language, for a spreadsheet and for Label Studio."""

RIGHT_TO_LEFT = {"Arabic", "Hebrew", "Syriac", "Thaana"}  # Unicode scripts


def mu2_review(
    pairs: str, rejected: str, english: str, values: str, languages_file: str, csv: str, xlsx: str, tasks: str,
    language: str, cut: str, share: float, seed: int, decided: list[str] | tuple[str, ...] = (),
    rounds: list[str] | tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Write the review sheet of `language` as `csv`, `xlsx` and `tasks` (Label Studio's import).

    It holds every row of `rejected`, the share `share` of `pairs` (drawn by `seed`) and all that is decided already.
    Back-translations come from `rounds`, the attempts of language models, or from the reverse of `values`.
    """
    import json

    from unlearning.data.languages import known, read_languages
    from unlearning.review import label_studio
    from unlearning.review.csv_file import write_csv
    from unlearning.review.decisions import decisions
    from unlearning.review.sheets import attempted, looked_up, review_sheet
    from unlearning.review.xlsx import write_xlsx
    from unlearning.tables.artifacts import read_table, write_text

    scripts = known(language, read_languages(languages_file), languages_file).unicode_scripts
    kept, refused = read_table(pairs, "pairs"), read_table(rejected, "rejected")
    tried = [attempted(read_table(path, "rounds")) for path in rounds]
    back = tried[0] if tried else looked_up(kept, refused, read_table(values, "values"))
    said = decisions(decided, cut=cut, language=language)
    sheet = review_sheet(kept, refused, read_table(english, "pairs"), cut, share, seed, said, back)
    write_csv(sheet, csv)
    write_xlsx(sheet, xlsx, right_to_left=bool(RIGHT_TO_LEFT & set(scripts)))
    write_text(tasks, json.dumps(label_studio.tasks(sheet), ensure_ascii=False, indent=1) + "\n")
    print(f"{language}: {len(sheet)} rows to look at, {(sheet['why'] != 'sample').sum()} of them failed")


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_review)  # noqa: F821
