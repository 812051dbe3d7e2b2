"""People's decisions applied to the rows of one language, before and after the mechanical checks."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.checking import rejected, run_checks
from unlearning.data.context import Context, reverse_table
from unlearning.review.decisions import still_about
from unlearning.review.rows import TEXTS


class Sorted(NamedTuple):
    """Rows of table `pairs` by what people decided, and what was noticed on the way.

    `untouched`: without a decision, or approved; `corrected`: the new texts in place; `approved`: identifiers among
    `untouched` whose text a person approved; `refused`: table `rejected`, check `review`; `notes`: remarks in words.
    """

    untouched: pd.DataFrame
    corrected: pd.DataFrame
    approved: frozenset[str]
    refused: pd.DataFrame
    notes: list[str]


def sort_by_decision(pairs: pd.DataFrame, decided: pd.DataFrame, round_: int = 0) -> Sorted:
    """Split `pairs` (table contract, one language) by `decided` (`decisions.decisions`).

    A decision about a text that is no longer the row's, or about another fact, does not count; `notes` names it.
    """
    beside = pairs[["pair_id"]].merge(decided, left_on="pair_id", right_on="id", how="left").set_axis(pairs.index)
    there = beside["decision"].notna()
    fits = there & still_about(beside, pairs)
    how = beside["decision"].where(fits, None)
    notes = [f"{ident}: {note}" for ident, note in zip(decided["id"], decided["note"], strict=True) if note]
    notes += [
        f"{ident}: the decision '{word}' was about another text; look at the row again"
        for ident, word in beside.loc[there & ~fits, ["pair_id", "decision"]].itertuples(index=False)
    ]
    corrected = pairs[how == "correct"].copy()
    for part in TEXTS:
        corrected[part] = beside.loc[corrected.index, part].fillna(corrected[part])
    rejects = pairs[how == "reject"]
    refused = refused_by_people(rejects, beside.loc[rejects.index, "comment"], round_)
    approved = frozenset(pairs.loc[how == "approve", "pair_id"])
    return Sorted(pairs[~how.isin(["correct", "reject"])], corrected, approved, refused, notes)


def refused_by_people(rows: pd.DataFrame, comments: pd.Series, round_: int = 0) -> pd.DataFrame:
    """Table `rejected` for `rows` that a person rejected: check `review`, reason the person's comment."""
    reasons = "rejected by a person" + (": " + comments.fillna("")).where(comments.fillna("") != "", "")
    return rejected(rows, "review", reasons, round_)


def check_reviewed(
    pairs: pd.DataFrame, decided: pd.DataFrame, context: Context
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """(rows kept, table `rejected`, notes): `run_checks` with people's decisions.

    Rejected rows are refused, whatever the checks say; approved ones are kept, whatever the checks say; corrected ones
    go through the checks again (round 1) with the corrected values in their pools.
    """
    found = sort_by_decision(pairs, decided)
    kept, refused = run_checks(found.untouched, context)
    spared = refused["id"].isin(found.approved)
    approved = found.untouched[found.untouched["pair_id"].isin(set(refused.loc[spared, "id"]))]
    kept, refused = [kept, approved], [refused[~spared], found.refused]
    if len(found.corrected):
        mended, still_refused = run_checks(found.corrected, with_values(context, found.corrected), round_=1)
        kept, refused = [*kept, mended], [*refused, still_refused]
    order = {ident: place for place, ident in enumerate(pairs["pair_id"])}
    kept = pd.concat(kept).sort_values("pair_id", key=lambda idents: idents.map(order), ignore_index=True)
    return kept, pd.concat(refused).sort_values(["id", "check"], ignore_index=True), found.notes


def with_values(context: Context, corrected: pd.DataFrame) -> Context:
    """`context` with the values of `corrected` rows in the place of those they correct, back-translations too.

    What a person corrected no longer stands for the value's meaning, whatever it came back as.
    """
    keys = ["attribute", "english_value"]
    brought = corrected[[*keys, "language", "value"]].drop_duplicates()
    brought = brought.merge(context.values, on=[*keys, "value"], how="left", suffixes=("", "_old"), indicator=True)
    brought = brought.loc[brought["_merge"] == "left_only", [*keys, "language", "value"]]
    if brought.empty:
        return context
    old = pd.MultiIndex.from_frame(context.values[keys]).isin(pd.MultiIndex.from_frame(brought[keys]))
    values = pd.concat([context.values[~old], brought[context.values.columns]], ignore_index=True)
    own = reverse_table(values)
    own = own[own["value"].isin(brought["value"])]  # a person says what they mean; others spelt alike count too
    before = pd.MultiIndex.from_frame(context.values.loc[old, ["attribute", "value", "english_value"]])
    stand = ~pd.MultiIndex.from_frame(context.back[["attribute", "value", "back"]]).isin(before)
    return context._replace(values=values, back=pd.concat([context.back[stand], own], ignore_index=True))
