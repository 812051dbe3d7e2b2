"""Rows of table `rejected`, and the table of them."""

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
