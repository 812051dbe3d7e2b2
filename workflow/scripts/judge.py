"""Judge each answer against its reference."""


def judge(answers: str, questions: str, verdicts: str, judge: str, prompts: list[dict] = ()) -> None:
    """Write `verdicts` (Parquet): what the judge module `judge` says of every answer, of every part of a mixed prompt.

    ValueError if it is unknown.
    `prompts`: the attacks that changed what is right (see unlearning.answer.prompted).
    """
    from importlib import import_module

    from unlearning.answer.parts import apart, together
    from unlearning.answer.prompted import prompted
    from unlearning.registry import available
    from unlearning.tables.artifacts import read_table, write_table

    if judge not in available("judges"):
        raise ValueError(f"judge {judge!r} is unknown; judges are {', '.join(available('judges'))}")
    module = import_module(f"unlearning.judges.{judge}")
    items = read_table(questions, "items")
    items = prompted(items, prompts, questions=items)
    told, asked = apart(read_table(answers, "answers"), items)
    write_table(together(module.judge(told, asked)), verdicts, "verdicts")


if __name__ == "__main__":
    from job import run

    run(snakemake, judge)  # noqa: F821
