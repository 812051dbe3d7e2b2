"""People's decisions in the translation route: whose texts are theirs, and which of the models' texts they rejected."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.reasons import reason
from unlearning.data.rounds import accepted
from unlearning.review.decisions import still_about
from unlearning.review.rows import TEXTS


class Reviewed(NamedTuple):
    """Rows for the models; rows with the texts that people approved, or wrote; and the rejections, for later."""

    open: pd.DataFrame
    approved: pd.DataFrame
    corrected: pd.DataFrame
    rejections: pd.DataFrame


def reviewed(rows: pd.DataFrame, decided: pd.DataFrame | None) -> Reviewed:
    """Split `rows` (id, english_value …) by `decided` (`unlearning.review.decisions.decisions`).

    The texts of an approval are those that people saw, so a model that would write others now is not asked. A decision
    about another fact (`english_value`) does not count, nor an approval or correction whose sheet lacked a text.
    """
    if decided is None or decided.empty:
        none = rows.iloc[:0].assign(**dict.fromkeys(TEXTS, pd.Series(dtype=object)))
        return Reviewed(rows, none, none, pd.DataFrame())
    beside = rows[["id"]].merge(decided, on="id", how="left").set_axis(rows.index)
    fact = beside["english_value"].fillna("")
    same_fact = (fact == "") | (fact == rows["english_value"])
    has_texts = beside[list(TEXTS)].notna().all(axis="columns")
    how = beside["decision"].where(same_fact & has_texts, None)
    theirs = rows.assign(**{part: beside[part] for part in TEXTS})
    return Reviewed(
        rows[~how.isin(["approve", "correct"])],
        theirs[how == "approve"],
        theirs[how == "correct"],
        decided[decided["decision"] == "reject"],
    )


def reject(history: pd.DataFrame, rejections: pd.DataFrame) -> pd.DataFrame:
    """`history` (`rounds.in_rounds`) with reason `review` at every accepted text that a person rejected.

    A text that no longer is the one they rejected stands.
    """
    if rejections.empty or history.empty:
        return history
    stand = accepted(history)
    beside = stand[["id"]].merge(rejections, on="id", how="left").set_axis(stand.index)
    hit = beside[beside["decision"].notna() & still_about(beside, stand)]
    reasons = history["reasons"].to_dict()
    for at, comment in hit["comment"].items():
        reasons[at] = [reason("review", f"rejected by a person{f': {comment}' if comment else ''}")]
    return history.assign(reasons=pd.Series(reasons, dtype=object))
