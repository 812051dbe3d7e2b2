"""Review sheets: the rows of one language that a person should look at, as a table."""

import json
import math

import pandas as pd

from unlearning.data.context import reverse_table
from unlearning.review.decisions import beside, still_about
from unlearning.review.rows import BACK, COLUMNS, TEXTS
from unlearning.seeds import seed_for

SAMPLE = "sample"


def review_sheet(
    pairs: pd.DataFrame,
    rejected: pd.DataFrame,
    english: pd.DataFrame,
    cut: str,
    share: float,
    seed: int,
    decided: pd.DataFrame | None = None,
    back: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The rows of one language to look at, columns `rows.COLUMNS`, all text; failed rows first, then by identifier.

    - every row of `rejected` that is not among `pairs` (table contracts; of several rounds the last), `why` = each
      check that refused it and what that saw;
    - ceil(share x rows) of `pairs`, the first of a seeded order (more share, same rows and further ones), and the rows
      already decided: `why` = sample.

    `english`: the English pairs (table `pairs`). `decided`: earlier decisions (`decisions`), written into the columns
    to fill, so that a new sheet may take the place of an old one; not those about a text that has changed since, which
    `why` says. `back`: back-translations, column id and any of `rows.BACK`.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"review share {share}: should lie between 0 (failed rows only) and 1 (every row)")
    known = set() if decided is None else set(decided["id"])
    rows = pd.concat([_failed(rejected, pairs), _sample(pairs, share, seed, known)], ignore_index=True)
    rows["knowledge_id"] = rows["id"].str.replace(r"/[^/]*$", "", regex=True)
    asked = english[["knowledge_id", "question", "answer"]]
    asked = asked.rename(columns={"question": "english_question", "answer": "english_answer"})
    rows = rows.assign(cut=cut).merge(asked, on="knowledge_id", how="left")
    if back is not None:
        rows = rows.merge(back, on="id", how="left", validate="one_to_one")
    rows = rows.reindex(columns=COLUMNS).fillna("").astype("str")
    return rows if decided is None else _with_earlier(rows, decided)


def _failed(rejected: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The refused rows that never passed: identifier, language, texts and every reason of the last round."""
    rows = rejected[~rejected["id"].isin(pairs["pair_id"])]
    rows = rows[rows["round"] == rows.groupby("id")["round"].transform("max")]
    said = (rows["check"] + ": " + rows["reason"]).groupby(rows["id"]).agg("; ".join)
    rows = rows.drop_duplicates("id").sort_values("id")
    texts = _contents(rows).reindex(columns=[*TEXTS, "english_value"])
    return pd.concat([rows[["id", "language"]], texts], axis="columns").assign(why=rows["id"].map(said))


def _contents(rejected: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame([json.loads(text) for text in rejected["content"]], index=rejected.index)


def _sample(pairs: pd.DataFrame, share: float, seed: int, decided: set[str]) -> pd.DataFrame:
    order = sorted(pairs["pair_id"], key=lambda ident: seed_for(seed, "review", ident))
    chosen = set(order[: math.ceil(share * len(order))]) | decided
    rows = pairs[pairs["pair_id"].isin(chosen)].sort_values("pair_id").rename(columns={"pair_id": "id"})
    return rows[["id", "language", *TEXTS, "english_value"]].assign(why=SAMPLE)


def _with_earlier(rows: pd.DataFrame, decided: pd.DataFrame) -> pd.DataFrame:
    """`rows` with the earlier decisions filled in, or a remark in `why` that one no longer fits the text."""
    merged = beside(rows, decided)
    there = merged["decision"].notna()
    fits = there & still_about(merged, rows)
    for column in ("decision", "comment", "reviewer"):
        rows[column] = merged[column].where(fits, "").fillna("")
    for part in TEXTS:
        rows[f"corrected_{part}"] = merged[part].where(fits & (merged["decision"] == "correct"), "").fillna("")
    gone = "; earlier decision '" + merged["decision"].fillna("") + "' was about another text"
    rows["why"] = rows["why"] + gone.where(there & ~fits, "")
    return rows.astype("str")


def looked_up(pairs: pd.DataFrame, rejected: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """The `back` of the phrasebook route: what each row's value stands for in its pool (table `values`)."""
    rows = pd.concat([pairs.rename(columns={"pair_id": "id"}), _contents(rejected).assign(id=rejected["id"])])
    rows = rows.reindex(columns=["id", "attribute", "value"]).drop_duplicates("id")
    back = (
        reverse_table(values)
        .drop_duplicates()
        .groupby(["attribute", "value"])["back"]
        .agg(", ".join)
        .rename("back_value")
    )
    return rows.merge(back.reset_index(), on=["attribute", "value"], how="left")[["id", "back_value"]]


def attempted(rounds: pd.DataFrame) -> pd.DataFrame:
    """The `back` of route llm (table `rounds`): of each row's attempts the accepted one, or else the last."""
    last = rounds.assign(accepted=rounds["verdict"] == "accepted").sort_values(["accepted", "round"])
    return last.drop_duplicates("id", keep="last")[["id", *BACK]]
