"""The prompts of one job asked in several, each a share of the requests, and put together to what one job would write.

Equal requests fall to one shard, so each is asked once, and all that they took adds up. In the store and the record of
spending shards go by the name of the whole job: what they asked stays its own, however many they are.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from unlearning.llm.budget import cost
from unlearning.llm.complete import complete, open_door, who
from unlearning.llm.requests import identity_of
from unlearning.llm.roles import none_of_use, tell_refused
from unlearning.llm.usage import added_up
from unlearning.tables.artifacts import TableError, read_table
from unlearning.tables.shards import shards_of, whole_file


def prompts_of(prompts: pd.DataFrame, shard: Sequence[int]) -> pd.DataFrame:
    """Those of table `prompts` that fall to `shard`, (k, n), from 1: every n-th that asks something else."""
    k, n = shard
    columns = (prompts[name] for name in ("messages", "sampling", "reply"))
    said = [json.dumps([*map(dict, turns), *rest]) for turns, *rest in zip(*columns, strict=True)]
    return prompts[pd.factorize(pd.Series(said, dtype=object))[0] % n == k - 1]


def ask_shard(
    prompts: pd.DataFrame, door: Mapping, store_folder: Path | str, usage: str, shard: Sequence[int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables `completions` and `usage` of the prompts that fall to `shard`; `usage`: where the latter will lie.

    `door`: settings of `open_door`. Replies of no use are no error here, since those of other shards may be of some;
    where all are, they are not kept, so that the shard, run again, asks anew. NoReplies: some got none.
    """
    with open_door(door, store_folder, whole_file(usage, shard)) as opened:
        completions, used = complete(prompts_of(prompts, shard), opened)
        tell_refused(completions, ", ".join(prompts["role"].unique()))
        if opened.store and completions["parsed"].isna().all():
            opened.store.forget_unusable()
    return completions, used


def put_together(
    prompts: pd.DataFrame, role: str, door: Mapping, paths: tuple[str, str], files: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables completions and usage, to be written at `paths`, of table `prompts` from their shards among `files`.

    A shard that has them all, as one that was restored from an earlier whole table does, is the table. TableError: a
    completion is missing or comes twice. NoReplies: none is of use; then the shards go, so that a new run asks anew.
    """
    completions, usage = (
        [read_table(file, name) for file in shards_of(path, files)]
        for name, path in zip(("completions", "usage"), paths, strict=True)
    )
    total = prompts["samples"].sum()
    whole = [(found, used) for found, used in zip(completions, usage, strict=True) if len(found) == total]
    completions, usage = zip(*whole[:1], strict=True) if whole else (completions, usage)
    found = _in_order(prompts, pd.concat(completions), paths[0], files)
    if total and found["parsed"].isna().all():
        for file in files:
            Path(file).unlink(missing_ok=True)
        raise none_of_use(role, who(door["name"], identity_of(door["backend"])), door["name"], found)
    used = added_up([table for table in usage if len(table)])
    read, written = used["input_tokens"], used["output_tokens"]
    paid = [cost(door["price"], *tokens) for tokens in zip(read, written, strict=True)]  # as one job would round it
    return found, used.assign(cost=pd.Series(paid, used.index, "float64"))


def _in_order(prompts: pd.DataFrame, found: pd.DataFrame, path: str, files: Sequence[str]) -> pd.DataFrame:
    ids = zip(prompts["prompt_id"], prompts["samples"], strict=True)
    wanted = [(ident, sample) for ident, samples in ids for sample in range(samples)]
    there = list(zip(found["prompt_id"], found["sample"], strict=True))
    if sorted(wanted) != sorted(there):
        raise TableError(
            f"table completions, shards of {path}: {len(set(wanted) - set(there))} completions are missing, "
            f"{len(there) - len(set(there))} come twice, {len(set(there) - set(wanted))} are of no prompt; delete "
            f"{', '.join(shards_of(path, files))} and run again"
        )
    place = {key: i for i, key in enumerate(there)}
    return found.iloc[[place[key] for key in wanted]].reset_index(drop=True)
