"""Sentence embeddings of what a model answered, or of the right answers."""


def embed(
    questions: str, embeddings: str, encoder: dict, device: str, threads: int, answers: str | None = None
) -> None:  # fmt: skip
    """Write `embeddings` (Parquet) of table `answers`, pairs by their parts; without it of the references.

    `encoder`: name, revision and batch_size of a sentence-transformers model (see unlearning.answer.embed).
    EncoderError where there is no such model.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from unlearning.answer.embed import embed as vectors
    from unlearning.answer.parts import apart, plain, stress_test, together
    from unlearning.tables.artifacts import read_table, write_table

    items = read_table(questions, "items")
    if answers:
        told, found = apart(read_table(answers, "answers"), items)
        unread = found.loc[stress_test(found), "item_id"]  # the stress test is judged only
        told = told[~told["item_id"].isin(unread)]
        rows = together(told)[["item_id", "sample", "part"]]
    else:
        told = plain(items).rename(columns={"reference": "text"})
        rows = told[["item_id"]].assign(sample=0, part=0).astype({"sample": "int32", "part": "int32"})
    found = vectors(told["text"].tolist(), **encoder, device=device, threads=threads)
    write_table(rows.assign(embedding=found).reset_index(drop=True), embeddings, "embeddings")


if __name__ == "__main__":
    from job import run

    run(snakemake, embed, restore=True)  # noqa: F821
