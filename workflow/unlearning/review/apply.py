"""People's decisions applied to the rows of one language, before and after the mechanical checks."""

import pandas as pd

from unlearning.data.checking import rejected, run_checks
from unlearning.data.context import Context, reverse_table
from unlearning.review.decisions import beside, rejection, remarks, still_about
from unlearning.review.rows import TEXTS


def check_reviewed(
    pairs: pd.DataFrame, decided: pd.DataFrame, context: Context
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """(rows kept, table `rejected`, notes): `run_checks` with people's decisions (`decisions.decisions`).

    Rejected rows are refused, whatever the checks say; approved ones are kept, whatever the checks say; corrected ones
    go through the checks again (round 1) with the corrected values in their pools. A decision about a text that is no
    longer the row's, or about another fact, does not count; `notes` names it.
    """
    said = beside(pairs, decided, "pair_id")
    fits = said["decision"].notna() & still_about(said, pairs)
    how = said["decision"].where(fits, None)
    kept, refused = run_checks(pairs[~how.isin(["correct", "reject"])], context)
    spared = refused["id"].isin(pairs.loc[how == "approve", "pair_id"])
    approved = pairs[pairs["pair_id"].isin(refused.loc[spared, "id"])]
    by_people = rejected(pairs[how == "reject"], "review", said.loc[how == "reject", "comment"].map(rejection), 0)
    kept, refused = [kept, approved], [refused[~spared], by_people]
    if (how == "correct").any():
        corrected = pairs.assign(**{part: said[part].fillna(pairs[part]) for part in TEXTS})[how == "correct"]
        mended, still_refused = run_checks(corrected, with_values(context, corrected), round_=1)
        kept, refused = [*kept, mended], [*refused, still_refused]
    order = {ident: place for place, ident in enumerate(pairs["pair_id"])}
    kept = pd.concat(kept).sort_values("pair_id", key=lambda idents: idents.map(order), ignore_index=True)
    outdated = said.loc[said["decision"].notna() & ~fits, ["pair_id", "decision"]].itertuples(index=False)
    return kept, pd.concat(refused).sort_values(["id", "check"], ignore_index=True), remarks(decided, outdated)


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
