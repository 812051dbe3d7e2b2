"""Rows of table `rejected`, the table of them, and what a job says of it."""

import json

import pandas as pd

from unlearning.data.reasons import reason

COLUMNS = ["id", "language", "check", "reason", "round", "content"]


def refusal(ident: str, check: str, why: str, round_: int, **content: object) -> tuple:
    """A row: that `check` refused `content`, of `ident`, in round `round_` (0: before any), and `why`."""
    return (ident, "en", *reason(check, why), round_, json.dumps(content, ensure_ascii=False))


def rejected(rows: list[tuple]) -> pd.DataFrame:
    """Table `rejected` of `rows`."""
    return pd.DataFrame(rows, columns=COLUMNS).astype({"round": "int32"})


def counted(rejected: pd.DataFrame) -> list[str]:
    """A line for each check that refused something: how often, and the first reason."""
    rows = rejected.groupby("check")["reason"].agg(["size", "first"])
    return [f"  {check}: {n}, first: {first}" for check, n, first in rows.itertuples()]
