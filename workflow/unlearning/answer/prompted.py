"""Attacks on prompts: each a pure function from items to items, which keeps item_id, so that verdicts line up.

A module of kind `prompts` has `prompts(items, **params, **needs)`. Its `NEEDS`, where it has any, are out of
questions  all items of the benchmark, before any were chosen
splits     with it, the groups of `questions` are those of the run's split
seed       the run's
phrases    what resources/attacks/<module>.yaml says
"""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd


def prompted(items: pd.DataFrame, attacks: Iterable[Mapping], **given: object) -> pd.DataFrame:
    """`items` as they are asked under `attacks`, {attack: module, params: its settings}, one after the other.

    `given`: questions, seed, and phrases: module -> its phrases. Raises what the attacks raise, and ValueError where
    one changes identities. Items without a turn of the user (documents, passages) ask nothing: they stay as they are,
    at the end, and are shown to no attack.
    """
    silent = ~_asks(items)
    bare, items = items[silent], items[~silent] if silent.any() else items
    if "questions" in given:
        given = given | {"questions": given["questions"][_asks(given["questions"])]}
    for entry in attacks:
        name = entry["attack"]
        module = importlib.import_module(f"unlearning.attacks.{name}")
        own = given | {"phrases": given.get("phrases", {}).get(name)}
        needs = {need: own[need] for need in getattr(module, "NEEDS", ()) if need != "splits"}
        asked = module.prompts(items, **entry["params"], **needs)
        if not asked["item_id"].is_unique or not asked["item_id"].isin(items["item_id"]).all():
            raise ValueError(f"attack {name}: item_id has to stay, each once, so that its verdicts are the item's")
        items = asked
    return pd.concat([items, bare], ignore_index=True) if len(bare) else items


def _asks(items: pd.DataFrame) -> pd.Series:
    return items["messages"].map(lambda turns: any(turn["role"] == "user" for turn in turns)).astype(bool)


def read_phrases(paths: Iterable[str]) -> dict[str, dict]:
    """module -> what its file of phrases says."""
    import yaml

    return {Path(path).stem: yaml.safe_load(Path(path).read_text(encoding="utf-8")) for path in paths}


def with_question(messages: Sequence[Mapping], change: Callable[[str], str]) -> list[dict]:
    """`messages` with the last turn of the user changed; ValueError where there is none (a document)."""
    turns = [dict(turn) for turn in messages]
    last = max((i for i, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    if last is None:
        raise ValueError("an item without a question (no turn of the user) cannot be asked differently")
    turns[last]["content"] = change(turns[last]["content"])
    return turns
