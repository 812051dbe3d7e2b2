"""Lay out what a leak-resistant data set trains on and asks."""


def leak_build(
    facts: str, multihop: str, templates: str, frames: str, general_rules: str, examples: str, questions: str,
    splits: str, benchmark: str, split: str, seed: int, candidates: int, practice: int, paraphrases: int,
) -> None:  # fmt: skip
    """Write `examples`, `questions` (table `items`) and `splits` from `facts` and the kept questions in `multihop`.

    At most `practice` chains of each type among the facts that stay are composed by templates and taught, in every
    wording, so that the target learns to chain.
    """
    from unlearning.data.leak import layout, templated
    from unlearning.data.leak.knowledge import index
    from unlearning.data.leak.templates import read_phrases, with_generic
    from unlearning.tables.artifacts import read_table, write_table

    known = read_table(facts, "facts")
    phrases = with_generic(read_phrases(templates, frames, general_rules), index(known))
    chains = templated.to_practise(known, phrases, seed, candidates, practice)
    taught = templated.ask(chains, known, phrases).verified.questions
    kept = read_table(multihop, "multihop")
    built = layout.build(known, phrases, kept, taught, paraphrases, split, benchmark)
    write_table(built.examples, examples, "examples")
    write_table(built.items, questions, "items")
    write_table(built.splits, splits, "splits")


if __name__ == "__main__":
    from job import run

    run(snakemake, leak_build)  # noqa: F821
