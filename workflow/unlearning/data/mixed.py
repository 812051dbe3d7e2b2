"""Mixed prompts: several questions in one, to forget and to retain, answered together in numbered parts (SEPS).

A mixed prompt is an item whose `parts` name the items it asks, in order, and whose `split` is the one that says which
of them are to be forgotten. Tasks: rf, fr, rr, ff for pairs (r retain, f forget, in the order asked), and
stress_<n>f<m>r_<order> for n questions to forget and m to retain, the retain ones first (rf) or last (fr).
Source: SEPS, "Unlearning Separability" and its stress test.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from unlearning.seeds import seed_for
from unlearning.text.numbered import numbered

GROUP = "mixed"
ORDERS = ("rf", "fr", "rr", "ff")
LINE = 4  # questions of each side in a line of the stress test
COUNTS = (1, 2, 4)


class MixedError(ValueError):
    """Mixed prompts cannot be made; the message says why and how to mend it."""


def mixed(
    items: pd.DataFrame,
    splits: pd.DataFrame,
    benchmark: str,
    lines: int,
    seed: int,
    ranked: dict[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """The mixed prompts of every split, as rows of table `items`: four pairs a question to forget, then stress tests.

    Each question to forget is paired with one retain question, drawn without replacement, or the one at its rank in
    `ranked` (split -> see `by_similarity`); both orders of that pair are asked. As rr and ff, each of these questions
    goes before another of its own side. `lines` of the stress test (0: none) are LINE questions to forget and LINE to
    retain each. Asked are text items of one question, of the knowledge that a split lists. MixedError where a split has
    too few.
    """
    made = [_of_split(items, splits, split, lines, seed, ranked) for split in splits["split"].unique()]
    rows = pd.concat(made, ignore_index=True)
    by_id = items.set_index("item_id")
    asked = [[by_id.at[part["item_id"], "messages"][-1]["content"] for part in parts] for parts in rows["parts"]]
    right = [[by_id.at[part["item_id"], "reference"] for part in parts] for parts in rows["parts"]]
    empty = pd.Series([[] for _ in range(len(rows))], dtype=object)
    return rows.assign(
        benchmark=benchmark, group=GROUP, knowledge_id=rows["item_id"], language=items["language"].iloc[0],
        modality="text", messages=[[{"role": "user", "content": numbered(texts)[0]}] for texts in asked],
        reference=[numbered(texts)[0] for texts in right],
        aliases=empty, options=empty, candidates=empty,
        **dict.fromkeys(("source_item_id", "person_id", "image", "value", "correct_option")),
    )  # fmt: skip


def ranked(
    items: pd.DataFrame, splits: pd.DataFrame, rank: int, vectors: Callable[[list[str]], Sequence[np.ndarray]]
) -> dict[str, np.ndarray]:
    """split -> `by_similarity` of its questions, which `vectors` embeds."""
    found, asked = {}, items.set_index("item_id")["messages"]
    for split in splits["split"].unique():
        there = sides(items, splits, split)
        embedded = {side: vectors([asked[ident][-1]["content"] for ident in own]) for side, own in there.items()}
        found[split] = by_similarity(np.stack(embedded["forget"]), np.stack(embedded["retain"]), rank)
    return found


def by_similarity(vectors_FD: np.ndarray, vectors_RD: np.ndarray, rank: int) -> np.ndarray:
    """F: of each forget question, the place of the retain question that is the `rank`-th most alike, from 1.

    By the cosine of vectors of length 1. Our reading of the published code, which takes rank 1,800 of 3,960. MixedError
    where there are fewer.
    """
    if rank > len(vectors_RD):
        raise MixedError(
            f"mixed.rank: {rank}, but the split has {len(vectors_RD)} questions to retain; give a smaller rank (the "
            "paper's 1,800 is of 3,960), or pairing: random"
        )
    order_FR = np.argsort(-(vectors_FD @ vectors_RD.T), axis=1, kind="stable")
    return order_FR[:, rank - 1]


def sides(items: pd.DataFrame, splits: pd.DataFrame, split: str) -> dict[str, list[str]]:
    """forget and retain -> the items of `split` that a mixed prompt can ask, in the items' order."""
    chosen = splits[splits["split"] == split].set_index("knowledge_id")["group"]
    group = items["knowledge_id"].map(chosen)
    usable = (items["modality"] == "text") & (items["messages"].map(len) == 1)
    return {side: items.loc[usable & (group == side), "item_id"].tolist() for side in ("forget", "retain")}


def _of_split(items, splits, split: str, lines: int, seed: int, ranked: dict[str, np.ndarray] | None) -> pd.DataFrame:
    there = sides(items, splits, split)
    gone, stay = there["forget"], there["retain"]
    if len(gone) < 2 or len(stay) < 2:
        raise MixedError(
            f"mixed: split {split} has {len(gone)} questions to forget and {len(stay)} to retain; pairs of two of a "
            "side take two of each at least"
        )
    if ranked is None:
        drawn = _shuffled(stay, seed, f"{split}/partner")
        partner = [drawn[i % len(drawn)] for i in range(len(gone))]
    else:
        partner = [stay[i] for i in ranked[split]]
    side = dict.fromkeys(gone, "forget") | dict.fromkeys(stay, "retain")
    pairs = {
        "rf": zip(partner, gone, strict=True),
        "fr": zip(gone, partner, strict=True),
        "rr": zip(partner, _others(partner, stay, seed, f"{split}/rr"), strict=True),
        "ff": zip(gone, _others(gone, gone, seed, f"{split}/ff"), strict=True),
    }
    rows = [(f"{split}/{order}/{i:04d}", order, list(pair)) for order in ORDERS for i, pair in enumerate(pairs[order])]
    if lines:
        rows += _stress(gone, stay, split, lines, seed)
    return pd.DataFrame(
        {
            "item_id": [f"mixed/{name}" for name, _, _ in rows],
            "task": [task for _, task, _ in rows],
            "split": split,
            "parts": [[{"item_id": ident, "group": side[ident]} for ident in asked] for _, _, asked in rows],
        }
    )


def _stress(gone: list[str], stay: list[str], split: str, lines: int, seed: int) -> list[tuple[str, str, list[str]]]:
    """(name, task, items) of every prompt: per line {1, 2, 4} to forget × {1, 2, 4} to retain × two orders."""
    if len(gone) < LINE * lines or len(stay) < LINE:
        raise MixedError(
            f"mixed.stress_lines: {lines} lines take {LINE * lines} questions to forget and {LINE} to retain; split "
            f"{split} has {len(gone)} and {len(stay)}; lower it, or 0 for no stress test"
        )
    cut, rows = _shuffled(gone, seed, f"{split}/stress"), []
    for line in range(lines):
        own = cut[LINE * line : LINE * (line + 1)]
        other = _shuffled(stay, seed, f"{split}/stress/{line}")[:LINE]
        for n in COUNTS:
            for m in COUNTS:
                for order, asked in (("rf", other[:m] + own[:n]), ("fr", own[:n] + other[:m])):
                    task = f"stress_{n}f{m}r_{order}"
                    rows.append((f"{split}/{task}/{line:04d}", task, asked))
    return rows


def _others(first: Sequence[str], among: Sequence[str], seed: int, purpose: str) -> list[str]:
    """For each of `first` another of `among`, each as often as the next one."""
    drawn = _shuffled(list(among), seed, purpose)
    place = {ident: i for i, ident in enumerate(drawn)}
    return [drawn[(place[ident] + 1) % len(drawn)] for ident in first]


def _shuffled(idents: list[str], seed: int, purpose: str) -> list[str]:
    return sorted(idents, key=lambda ident: seed_for(seed, f"mixed/{purpose}", ident))
