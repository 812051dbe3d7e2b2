"""People's decisions in the translation route: whose texts are theirs, and which of the models' texts they rejected."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.reasons import reason
from unlearning.data.rounds import accepted
from unlearning.review.decisions import beside, rejection, remarks, still_about
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
    said = beside(rows, decided)
    fact = said["english_value"].fillna("")
    same_fact = (fact == "") | (fact == rows["english_value"])
    has_texts = said[list(TEXTS)].notna().all(axis="columns")
    how = said["decision"].where(same_fact & has_texts, None)
    theirs = rows.assign(**{part: said[part] for part in TEXTS})
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
    said = beside(stand, rejections)
    hit = said[said["decision"].notna() & still_about(said, stand)]
    reasons = history["reasons"].to_dict()
    for at, comment in hit["comment"].items():
        reasons[at] = [reason("review", rejection(comment))]
    return history.assign(reasons=pd.Series(reasons, dtype=object))


def notes(rows: pd.DataFrame, decided: pd.DataFrame, rejected: pd.DataFrame) -> list[str]:
    """Remarks in words on `decided` for the log, once `rejected` (the table) is made of `rows`.

    A rejection that is not in it was about a text that no longer is the row's.
    """
    found = reviewed(rows, decided)
    by_people = rejected.loc[rejected["check"] == "review", "id"]
    open_ = found.open[~found.open["id"].isin(by_people)]
    said = beside(open_, decided)
    return remarks(decided, said.loc[said["decision"].notna(), ["id", "decision"]].itertuples(index=False))
