"""Have language models write LUME's stories and biographies, and ask and verify the questions about documents."""


def lume_documents_llm(
    grammars: list[str], prompts: list[str], documents: str, knowledge: str, rejected: str, funnel: str, rounds: str,
    usage: str, sizes: dict[str, list[int]], nonmembers: int, seed: int, doors: dict, sampling: dict, max_rounds: int,
    sources: list[str] = (), columns: dict[str, str] | None = None, spare: int = 0, store: str = "results/.llm",
) -> bool:  # fmt: skip
    """Write the tables (Parquet), `rounds` with every attempt at a text of tasks 1 and 2, and `usage`.

    The roles writer, questioner and verifier_1 to verifier_3 are asked. `sources`: the file of task 3's biographies,
    whose columns `columns` names, with `spare` ones for those without a question; or none, and the grammar invents
    them. Replies are kept below `store`, so a job that was ended goes on where it was. Returns whether no prompt was
    refused. ValueError: too few biographies.
    """
    from pathlib import Path

    import pandas as pd

    from unlearning.data.llm_tools import open_tools
    from unlearning.data.lume.construct import offline, read_grammars
    from unlearning.data.lume.made import joined
    from unlearning.data.lume.questions_llm import replaced
    from unlearning.data.lume.real import read_biographies, sample
    from unlearning.data.lume.writing_llm import write_people, write_stories
    from unlearning.data.refused import counted
    from unlearning.tables.artifacts import write_table

    (folder,) = {Path(path).parent for path in grammars}
    given = read_grammars(folder)
    with open_tools(None, prompts, doors, sampling, max_rounds, store, job=usage) as (tools, asker):
        written = [write(sizes[task], given, tools, seed) for task, write in
                   (("task1", write_stories), ("task2", write_people))]  # fmt: skip
        if sources:
            (path,) = sources
            lives = sample(read_biographies(path, columns), *sizes["task3"], nonmembers, seed, spare)
            lives = replaced(lives, tools)
        else:
            lives = offline(given, {"task3": sizes["task3"]}, nonmembers, seed)
    made = joined([*(part.made for part in written), lives])
    write_table(made.documents, documents, "documents")
    write_table(made.knowledge, knowledge, "knowledge")
    write_table(made.rejected, rejected, "rejected")
    write_table(made.funnel, funnel, "funnel")
    write_table(pd.concat([part.rounds for part in written], ignore_index=True), rounds, "rounds")
    write_table(asker.usage(), usage, "usage")
    print(f"{len(made.documents)} documents")
    for line in counted(made.rejected):
        print(line)
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, lume_documents_llm, restore=True)  # noqa: F821
