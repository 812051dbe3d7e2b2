"""Match facts, compose multi-hop questions by templates, split and check them, and keep as many of each type."""


def leak_questions(
    facts: str, templates: str, frames: str, general_rules: str, matches: str, composed: str, decomposed: str,
    multihop: str, rejected: str, funnel: str, seed: int, candidates: int, per_type: int, on_short: str,
) -> None:  # fmt: skip
    """Write each step's table (Parquet) from `facts` and the files of wordings; `multihop` are the questions kept.

    ShortError: a type has fewer than `per_type` questions, with `on_short` error.
    """
    from unlearning.data.leak import templated
    from unlearning.data.leak.select import balanced
    from unlearning.data.leak.templates import read_phrases
    from unlearning.tables.artifacts import read_table, write_table

    known, phrases = read_table(facts, "facts"), read_phrases(templates, frames, general_rules)
    found = templated.ask(templated.to_ask(known, phrases, seed, candidates), known, phrases)
    kept, counts = balanced(found.verified.questions, found.verified.funnel, per_type, seed, on_short)
    write_table(found.matches, matches, "matches")
    write_table(found.composed, composed, "composed")
    write_table(found.decomposed, decomposed, "decomposed")
    write_table(kept, multihop, "multihop")
    write_table(found.verified.rejected, rejected, "rejected")
    write_table(counts, funnel, "funnel")
    print(counts.pivot(index="type", columns="step", values="n").to_string())


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_questions)  # noqa: F821
