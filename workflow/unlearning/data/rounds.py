"""Construction by language models in rounds: propose, examine, and propose again with what was wrong."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from unlearning.data.back_services import Back
from unlearning.data.reasons import reason
from unlearning.data.refused import rejected
from unlearning.llm.prompts import Prompt, prompt_table
from unlearning.llm.requests import Sampling

STATUS = re.compile(r"refused: (HTTP \d+)")
TEXTS = ("question", "answer", "paraphrase", "value")


class Tools(NamedTuple):
    """What the rounds work with.

    `ask(role, prompts)` gives table `completions` for table `prompts`; `back(texts)` what each text of the language is
    in English, None where nothing came; `prompts` are by name, `sampling` by role.
    """

    ask: Callable[[str, pd.DataFrame], pd.DataFrame]
    back: Back
    prompts: Mapping[str, Prompt]
    sampling: Mapping[str, Sampling]
    max_rounds: int


def asked(
    tools: Tools, role: str, prompt: str | Sequence[str], ids: Sequence[str], inputs: Sequence[Mapping]
) -> pd.DataFrame:
    """For each of `ids` columns `parsed` (the reply as a dict, None without one) and `failed`; index `ids`.

    `prompt`: the name of the prompt, or of one for each of `ids`. `failed` goes into tables that are published, so of a
    refused request it has the status, not the server's words.
    """
    if not len(ids):
        return pd.DataFrame({"parsed": [], "failed": []}, dtype=object)
    sampling = tools.sampling.get(role, Sampling())
    named = pd.Series([prompt] * len(ids) if isinstance(prompt, str) else prompt)
    tables = [
        prompt_table(tools.prompts[name], role, [ids[i] for i in at], [inputs[i] for i in at], sampling)
        for name, at in named.groupby(named, sort=False).indices.items()
    ]
    completions = tools.ask(role, pd.concat(tables, ignore_index=True)).set_index("prompt_id").loc[list(ids)]
    parsed = [json.loads(text) if isinstance(text, str) else None for text in completions["parsed"]]
    failed = [_published(*row) for row in zip(completions["text"], completions["failed"], strict=True)]
    return pd.DataFrame({"parsed": parsed, "failed": failed}, index=pd.Index(ids), dtype=object)


def _published(text: str | None, failed: str | None) -> str | None:
    """Why a completion is of no use, in our own words: a server's may name accounts and addresses."""
    if not isinstance(failed, str) or isinstance(text, str):
        return failed if isinstance(failed, str) else None
    status = STATUS.match(failed)
    return f"the request was refused{f' ({status[1]})' if status else ''}"


def in_rounds(
    rows: pd.DataFrame,
    propose: Callable[[pd.DataFrame, list[list[dict]]], pd.DataFrame],
    examine: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame],
    max_rounds: int,
) -> pd.DataFrame:
    """Every attempt at `rows` (unique column `id`), round by round, until each is accepted or `max_rounds` are over.

    - `propose(open rows, attempts)` gives them with text columns and `failed` (None, or why there is no text);
      `attempts[i]` are row i's refused ones so far: its texts and `reasons`.
    - `examine(tried, accepted)` gives the tried rows with column `reasons`, a list of (check, reason), empty where
      nothing is wrong, and what else it found; `accepted` are the attempts of earlier rounds that stand.

    The result has all their columns and `round`, counted from 1; a row that could not be proposed has a reason too.
    """
    history: list[pd.DataFrame] = []
    waiting = rows
    for number in range(1, max_rounds + 1):
        if waiting.empty:
            break
        tried = propose(waiting, _attempts(history, waiting["id"]))
        silent = tried["failed"].notna()
        stand = pd.concat([accepted(h) for h in history]) if history else tried.iloc[:0]
        told = tried[silent]
        told = told.assign(reasons=column(([reason("no_reply", failed)] for failed in told["failed"]), told))
        examined = examine(tried[~silent], stand) if not silent.all() else tried.iloc[:0]
        history.append(pd.concat([examined, told]).reindex(tried.index).assign(round=number))
        waiting = waiting[(history[-1]["reasons"].map(len) > 0).to_numpy()]
    return pd.concat(history, ignore_index=True) if history else rows.assign(round=0, reasons=None)


def _attempts(history: list[pd.DataFrame], ids: pd.Series) -> list[list[dict]]:
    found: dict[str, list[dict]] = {ident: [] for ident in ids}
    for attempt in (row for frame in history for row in frame.to_dict("records")):
        if attempt["id"] in found:
            failed = isinstance(attempt["failed"], str)
            texts = {part: None if failed else attempt[part] for part in attempt["proposed"]}
            found[attempt["id"]].append(texts | {"reasons": [why for _, why in attempt["reasons"]]})
    return list(found.values())


def column(texts: Sequence[str | None], rows: pd.DataFrame) -> pd.Series:
    """A column of `rows` in which None stays None (pandas' own text columns turn it into NaN)."""
    return pd.Series(list(texts), index=rows.index, dtype=object)


def proposed(rows: pd.DataFrame, replies: pd.DataFrame, parts: Sequence[str]) -> pd.DataFrame:
    """`rows` with the `parts` of their replies as columns, `failed`, and `proposed`: the names of the parts."""
    texts = {part: column([reply and reply[part] for reply in replies["parsed"]], rows) for part in parts}
    return rows.assign(**texts, failed=column(replies["failed"], rows), proposed=[tuple(parts)] * len(rows))


def accepted(history: pd.DataFrame) -> pd.DataFrame:
    """The attempts that stand."""
    return history[history["reasons"].map(len) == 0]


def refused(history: pd.DataFrame) -> pd.DataFrame:
    """The last attempt at each row of which none stands."""
    last = history.drop_duplicates("id", keep="last")
    return last[last["reasons"].map(len) > 0]


def rounds_table(history: pd.DataFrame, language: str) -> pd.DataFrame:
    """Table `rounds`: each attempt with its texts, what they came back as, and the verdict with its reasons."""
    columns = [*TEXTS, *(f"back_{part}" for part in TEXTS)]
    table = history.reindex(columns=["id", "round", *columns]).astype(object)
    table = table.where(table.notna(), None)
    reasons = [[f"{check}: {why}" for check, why in found] for found in history["reasons"]]
    verdicts = ["refused" if found else "accepted" for found in reasons]
    return table.assign(language=language, reasons=column(reasons, table), verdict=column(verdicts, table))


def rejected_table(attempts: pd.DataFrame, language: str, content: Sequence[str]) -> pd.DataFrame:
    """Table `rejected`: a row for each refused attempt and check, `content` (column names) of it as JSON."""
    rows = []
    for attempt in attempts.to_dict("records"):
        found: dict[str, list[str]] = {}
        for check, why in attempt["reasons"]:
            found.setdefault(check, []).append(why)
        kept = {k: v if isinstance(v, str) else None for k in content for v in [attempt.get(k)]}
        told = json.dumps(kept, ensure_ascii=False, sort_keys=True)
        rows += [(attempt["id"], language, c, "; ".join(r), attempt["round"], told) for c, r in sorted(found.items())]
    return rejected(rows)
