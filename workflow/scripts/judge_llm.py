"""Judge each answer against its reference by a language model: prompts, replies and verdicts in one job."""


def judge_llm(
    answers: str,
    questions: str,
    prompt: str,
    verdicts: str,
    usage: str,
    scale: str,
    size: int,
    door: dict,
    sampling: dict,
    prompts: list[dict] = (),
    store: str = "results/.llm",
) -> bool:
    """Write `verdicts` (Parquet), what the model behind `door` says of every answer, and `usage`, what that took.

    `prompt`: the prompt file for `scale` (verdict or grade) and `size` (answers per prompt). `door`, `sampling`: who
    plays the role judge, and how replies are drawn. `prompts`: the attacks that changed what is right. Replies that
    cannot be used are in `verdicts` as failed. Replies are kept below `store`, so a job that was ended goes on where it
    was. Returns whether no prompt was refused.
    NoReplies: some prompts got no reply, or no reply can be used.
    """
    from unlearning.answer.parts import apart, together
    from unlearning.answer.prompted import prompted
    from unlearning.judges import llm
    from unlearning.llm.prompts import read_prompt
    from unlearning.llm.requests import Sampling
    from unlearning.llm.roles import open_roles
    from unlearning.tables.artifacts import read_table, write_table

    told, items = read_table(answers, "answers"), read_table(questions, "items")
    told, items = apart(told, prompted(items, prompts, questions=items))
    asked = llm.prompts(told, items, read_prompt(prompt), Sampling(**sampling), scale, size)
    with open_roles({"judge": door}, store, job=usage) as asker:
        completions = asker.ask("judge", asked)
    write_table(together(llm.verdicts(completions, told, items, scale, size)), verdicts, "verdicts")
    write_table(asker.usage(), usage, "usage")
    return asker.whole


if __name__ == "__main__":
    from job import run

    run(snakemake, judge_llm, restore=True)  # noqa: F821
