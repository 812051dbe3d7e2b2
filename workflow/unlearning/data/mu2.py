"""mu2-Bench's examples, items and splits, from the pairs of a setting's languages."""

import numpy as np
import pandas as pd
import pyarrow as pa

from unlearning.data.arrow import Built, table, user_messages
from unlearning.seeds import seed_for

ROLES = ("train", "holdout")


def build(
    pairs: pd.DataFrame,
    roles: dict[str, str],
    forget: dict[str, int],
    heldout_share: float,
    seed: int,
    benchmark: str = "mu2",
) -> Built:
    """mu2-Bench for one setting; `benchmark` is the name that the tables carry.

    - examples: memorised and background people in all languages of `roles` ({code: train or holdout}), without the
      rows held out; who trains on which language is the training step's choice.
    - items: memorised (group retain; a split turns some into forget) and nonmember people in all languages, and the
      held-out background rows (group utility).
    - splits: for each name of `forget` the first n memorised people of one seeded order, so the splits are nested.

    A knowledge instance that the checks refused in one language is missing in that language only, and a language in
    which all were refused has no rows (`without_pairs` names it). Raises ValueError where that leaves nothing to train
    on, to hold out or to translate to, for an empty or too large forget set, or a share that cannot be held out.
    """
    _check_languages(pairs, roles)
    heldout = hold_out(pairs, heldout_share, seed)
    taught = pairs[pairs["role"].isin(["memorised", "background"]) & ~heldout]
    asked = pairs[pairs["role"].isin(["memorised", "nonmember"]) | heldout]
    return Built(_examples(taught, benchmark), _items(asked, benchmark), split_table(pairs, forget, seed))


def _check_languages(pairs: pd.DataFrame, roles: dict[str, str]) -> None:
    if wrong := {code: role for code, role in roles.items() if role not in ROLES}:
        raise ValueError(f"setting: unknown roles {wrong}; roles are {', '.join(ROLES)}")
    if other := sorted(set(pairs["language"]) - set(roles)):
        raise ValueError(f"pairs are in {', '.join(other)}, which the setting does not name: {', '.join(roles)}")
    empty = without_pairs(pairs, roles)
    parts = {
        "trains on": [code for code, role in roles.items() if role == "train"],
        "holds out": [code for code, role in roles.items() if role == "holdout"],
        "translates to": [code for code in roles if code != "en"],
    }
    for what, codes in parts.items():
        if codes and set(codes) <= set(empty):
            raise ValueError(
                f"no question was kept in any language that the setting {what} ({', '.join(codes)}); the reasons stand "
                "in rejected/<language>.parquet of the data's folder. Mend the phrasebook, or the roles' backends and "
                "prompts (another model or revision of a backend is asked anew), or let people decide (make review)"
            )


def without_pairs(pairs: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """The languages of `roles` in which no pair was kept."""
    return [code for code in roles if code not in set(pairs["language"])]


def hold_out(pairs: pd.DataFrame, share: float, seed: int) -> pd.Series:
    """Which of `pairs` are held out for utility: round(share x background rows), one at most per knowledge instance.

    So everything held out in one language is taught in the instance's other languages; an instance in one language only
    is never held out. The choice goes by a hash of each row, so more people leave the order of the others as it was.
    """
    rows = pairs.loc[pairs["role"] == "background", ["pair_id", "knowledge_id"]]
    wanted = round(share * len(rows))
    rows = rows[rows["knowledge_id"].duplicated(keep=False)]
    if not 0 <= share < 1 or wanted > rows["knowledge_id"].nunique():
        raise ValueError(
            f"heldout_share {share}: {wanted} background rows cannot be held out of {rows['knowledge_id'].nunique()} "
            "knowledge instances taught in two languages or more, one each; give a smaller share (0 holds out nothing)"
        )
    ranks = np.array([seed_for(seed, "utility", ident) for ident in rows["pair_id"]], dtype=np.int64)
    ordered = rows.assign(rank=ranks).sort_values("rank").drop_duplicates("knowledge_id")
    return pairs["pair_id"].isin(ordered["pair_id"].iloc[:wanted])


def split_table(pairs: pd.DataFrame, forget: dict[str, int], seed: int) -> pd.DataFrame:
    """Table `splits`: per split, each memorised knowledge instance with forget or retain."""
    knowledge = pairs.loc[pairs["role"] == "memorised", ["person_id", "knowledge_id"]].drop_duplicates()
    order = sorted(knowledge["person_id"].unique(), key=lambda person: seed_for(seed, "forget", person))
    if not forget:
        raise ValueError("no splits given; name at least one, e.g. {p1: 2}")
    tables = []
    for split, people in forget.items():
        if not 0 < people < len(order):
            raise ValueError(
                f"split {split}: {people} people to forget of {len(order)} memorised; forget and retain at least 1 each"
            )
        forgotten = knowledge["person_id"].isin(order[:people])
        group = np.where(forgotten, "forget", "retain")
        tables.append(pd.DataFrame({"split": split, "knowledge_id": knowledge["knowledge_id"], "group": group}))
    return pd.concat(tables, ignore_index=True)


def _examples(pairs: pd.DataFrame, benchmark: str) -> pa.Table:
    return table("examples", len(pairs), {
        "example_id": pairs["pair_id"], "benchmark": benchmark, "group": pairs["role"], "modality": "text",
        "knowledge_id": pairs["knowledge_id"], "person_id": pairs["person_id"], "language": pairs["language"],
        "messages": user_messages(pairs["question"]), "answer": pairs["answer"], "value": pairs["value"],
    })  # fmt: skip


def _items(pairs: pd.DataFrame, benchmark: str) -> pa.Table:
    groups = {"memorised": "retain", "nonmember": "nonmember", "background": "utility"}
    return table("items", len(pairs), {
        "item_id": pairs["pair_id"], "benchmark": benchmark, "task": "qa", "group": pairs["role"].map(groups),
        "knowledge_id": pairs["knowledge_id"], "person_id": pairs["person_id"], "language": pairs["language"],
        "modality": "text", "messages": user_messages(pairs["question"]), "reference": pairs["answer"],
        "value": pairs["value"],
    })  # fmt: skip


def coverage(pairs: pd.DataFrame) -> pd.DataFrame:
    """Per language: knowledge instances present, and how many of those present in any language are missing."""
    present = pairs.groupby("language")["knowledge_id"].nunique()
    return pd.DataFrame({"present": present, "missing": pairs["knowledge_id"].nunique() - present})
