"""Make mu2-Bench's examples, items and splits for one setting."""


def mu2_build(
    pairs: list[str], examples: str, questions: str, splits: str, roles: dict[str, str], forget: dict[str, int],
    heldout_share: float, seed: int, benchmark: str = "mu2", rejected: list[str] | tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Write `examples`, `questions` (table items) and `splits` from one pairs file for each language of `roles`.

    `rejected`, the refused rows of the same languages, are only counted: their reasons go to the log.
    """
    import pandas as pd

    from unlearning.data.mu2 import build, coverage, without_pairs
    from unlearning.tables.artifacts import read_table, write_table

    together = pd.concat([read_table(path, "pairs") for path in pairs], ignore_index=True)
    built = build(together, roles, forget, heldout_share, seed, benchmark)
    write_table(built.examples, examples, "examples")
    write_table(built.items, questions, "items")
    write_table(built.splits, splits, "splits")
    print(coverage(together).to_string())
    for code in without_pairs(together, roles):
        print(f"WARNING: no question was kept in {code}: its scores will be null. See rejected/{code}.parquet for why")
    for path in rejected:
        print(f"{path}: {read_table(path, 'rejected')['id'].nunique()} refused rows")


if __name__ == "__main__":
    from job import run

    run(snakemake, mu2_build)  # noqa: F821
