"""Run standard benchmarks on a model: tasks of lm-evaluation-harness."""


def harness(
    model: str,
    table: str,
    utilities: dict[str, dict],
    local: list[str] = (),
    mmlu_files: list[str] = (),
    device: str = "auto",
    dtype: str = "float32",
    threads: int = 1,
) -> None:
    """Write `table` (harness, Parquet) of a model.json: the tasks of every entry of `utilities`, metric -> its tasks.

    An entry holds arguments of unlearning.utility.harness.run; one without tasks takes those of `mmlu_files`, MMLU's
    own. `local` are the files below the entries' `include`, here only so that a change of them is seen. HarnessError,
    MmluError: what cannot be run.
    """
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    import torch

    from unlearning.models.load import load_model, load_tokenizer
    from unlearning.tables.artifacts import write_table
    from unlearning.utility import mmlu_csv
    from unlearning.utility.harness import run as run_tasks

    torch.set_num_threads(threads)
    network, tokenizer = load_model(model, device, dtype), load_tokenizer(model)
    rows = []
    for utility, entry in utilities.items():
        tasks = entry.get("tasks") or mmlu_csv.tasks(mmlu_files)
        rows += run_tasks(network, tokenizer, utility, **(entry | {"tasks": tasks}))
    write_table(rows, table, "harness")


if __name__ == "__main__":
    from job import run

    run(snakemake, harness, restore=True)  # noqa: F821
