"""The one door to language models: table `prompts` in, tables `completions` and `usage` out.

Replies come from the response store where it has them; a new one is stored before anything else is done with it, so
whatever ends a job, no reply that can be used is paid for twice. A job that fails forgets those that cannot.
"""

import collections
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.llm.budget import Budget, SpendingCap, cost
from unlearning.llm.endpoint.errors import Stopped
from unlearning.llm.estimate import Stored, described, estimate, total
from unlearning.llm.keys import kept_out, redacted
from unlearning.llm.prompts import requests_of
from unlearning.llm.replies import parse
from unlearning.llm.requests import Backend, Failure, Reply, Request
from unlearning.llm.store import Store
from unlearning.llm.usage import COLUMNS

AGAIN = "This reply cannot be used: {error}. Reply again, and write nothing but {form}."
COMPLETION = {"prompt_id": "str", "sample": "int32", "text": "str", "parsed": "str", "failed": "str"}
NOTHING = "(nothing)"  # an endpoint may refuse a message without text
REASONS = 5  # that an error lists


class NoReplies(ValueError):
    """Prompts without a reply, or none with one that can be used; the message has the counts, reasons and the fix."""


class Door(NamedTuple):
    """An opened backend with its store (none for offline engines), budget (none without a price) and re-asks.

    `name`: what the configuration calls it. `batch`: its requests go into batches, which a later run may read.
    """

    backend: Backend
    store: Store | None
    budget: Budget | None
    reask: int = 0
    key_env: str | None = None
    name: str = "offline"
    batch: bool = False

    def who(self) -> str:
        """The backend in words, for errors."""
        return who(self.name, self.backend.identity)


def who(name: str, identity: Mapping) -> str:
    """The backend that the configuration calls `name`, in words, for errors."""
    kind, endpoint, model = (identity[key] for key in ("backend", "endpoint", "model"))
    return f"backend {name} ({' '.join(filter(None, (kind, model, endpoint and f'at {endpoint}')))})"


@contextlib.contextmanager
def open_door(settings: Mapping, store_folder: Path | str, job: str = "") -> Iterator[Door]:
    """The door of a role: `backend` (the configuration's entry), `name`, `reask`, `cap` (USD) and `price`.

    `job` names who asks, the same when it is run again: so table `usage` tells its replies from those of other jobs.
    Store and budget lie in `store_folder`. Offline engines have neither: what they say is computed as fast as read.
    With `count`, a collections.Counter, nobody is asked: see `unlearning.llm.estimate.Stored`.
    """
    entry, folder = dict(settings["backend"]), Path(store_folder)
    with contextlib.ExitStack() as stack:
        stack.enter_context(kept_out(entry.get("key_env")))
        if entry.get("batch"):
            entry["batches"] = str(folder / f"{settings['name']}.batches.sqlite")
        path = folder / f"{settings['name']}.sqlite"
        if "count" in settings and entry["kind"] != "offline":
            yield Door(Stored(entry, path, settings["count"]), None, None, settings["reask"], name=settings["name"])
            return
        backend = import_module(f"unlearning.llm.backends.{entry['kind']}").open(entry)
        stack.callback(backend.close)
        if entry["kind"] == "offline":
            yield Door(backend, None, None)
            return
        store = stack.enter_context(contextlib.closing(Store(path, job)))
        budget = None
        if settings["price"] is not None:
            budget = Budget(folder / "spending.sqlite", settings["cap"], settings["price"], job)
            stack.callback(budget.close)
            backend.again = budget.reserve
        yield Door(
            backend, store, budget, settings["reask"], entry.get("key_env"), settings["name"], bool(entry.get("batch"))
        )


def complete(
    prompts: pd.DataFrame, door: Door, progress: bool = True, counted: set[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables `completions` (prompts in their order, their samples in theirs) and `usage` of table `prompts`.

    Equal requests are asked once. An unusable reply is asked for again, up to `door.reask` times, with the reply and
    what is wrong with it; then `failed` says what is wrong and `text` holds the reply. Where a request was refused,
    `text` is null and `failed` has the reason; nothing is stored, so a rerun asks again.
    NoReplies, after all that can be asked was asked: other requests got no reply (endpoint down, key refused …).
    SpendingCap: the cap stopped it.
    A job that completes several tables hands `counted`, a set, to each, so that a reply counts once in all its usage.
    """
    asked = list(requests_of(prompts))
    done: list[dict | None] = [None] * len(asked)
    read: list[list[str]] = [[] for _ in asked]  # the keys of each one's replies, none where another may follow
    lost: collections.Counter[str] = collections.Counter()
    used: dict[str, dict[str, Reply]] = {role: {} for role in prompts["role"].unique()}
    waiting = range(len(asked))
    for attempt in range(door.reask + 1):
        keys = {i: Store.key(door.backend.identity, asked[i][0]) for i in waiting}
        results, stopped = answers(door, {keys[i]: asked[i][0] for i in waiting}, progress)
        for i, key in keys.items():
            (request, kind), result = asked[i], results[key]
            if isinstance(result, Reply):
                used[request.role][key] = result
                read[i].append(key)
            elif not result.refused:
                lost[result.reason] += 1
                read[i].clear()
            done[i], request = _read(request, kind, result, last=attempt == door.reask)
            asked[i] = request, kind
        waiting = [i for i in waiting if done[i] is None]
        if stopped or not waiting:
            break
    if door.store:
        over = zip(done, read, strict=True)
        door.store.unusable.update(key for row, keys in over if row and row["failed"] for key in keys)
    if lost:
        _fail(door, prompts, lost, len(asked))
    completions = pd.DataFrame(done, columns=list(COMPLETION)).astype(COMPLETION)
    return completions, _usage(prompts, completions, door, used, set() if counted is None else counted)


def _fail(door: Door, prompts: pd.DataFrame, lost: collections.Counter[str], n: int) -> None:
    if door.store:
        door.store.forget_unusable()
    raise NoReplies(
        f"role {', '.join(prompts['role'].unique())}, {door.who()}: no reply to {lost.total()} of {n} requests. Why: "
        f"{tallied(lost)}. What came is stored and costs nothing again. See that the backend is up and that "
        f"backends.{door.name} has its right address, model and key, then run again: only what is missing is asked"
    )


def tallied(reasons: collections.Counter[str]) -> str:
    """The REASONS commonest of `reasons` with how often each was given, as text."""
    first = reasons.most_common(REASONS)
    rest = reasons.total() - sum(n for _, n in first)
    return "; ".join([*(f"{n} × {reason}" for reason, n in first), *([f"{rest} × something else"] if rest else [])])


def answers(
    door: Door, requests: Mapping[str, Request], progress: bool = False
) -> tuple[dict[str, Reply | Failure], bool]:
    """A result for every key of `requests`, from the store, or asked and stored at once; and whether the backend
    stopped, since all else that could be asked would fail too.
    """
    from tqdm import tqdm

    found = dict(door.store.get(requests)) if door.store else {}
    missing = {key: request for key, request in requests.items() if key not in found}
    if progress and missing and door.budget:
        found_out = estimate(missing.values(), door.backend.identity, door.budget.price)
        print(f"{described(found_out)}\nabout {total(found_out):,.4f} USD, by `prices`", flush=True)
    with tqdm(total=len(missing), unit="reply", disable=not progress or not missing, mininterval=5) as bar:
        while missing:
            try:
                sent, stop = _ask(door, missing, found, bar)
            except Stopped as error:
                failure = _cleaned(Failure(str(error)), door.key_env)
                return {key: found.get(key, failure) for key in requests}, True
            missing = {key: request for key, request in missing.items() if key not in found}
            if stop and not sent:  # with nothing in flight any more, so settling frees nothing either
                raise stop
            if missing and not stop:
                raise RuntimeError(f"backend {door.backend.identity['backend']}: {len(missing)} requests got no result")
    return found, False


def _ask(door: Door, missing: Mapping[str, Request], found: dict, bar) -> tuple[int, SpendingCap | None]:
    """Ask for what is missing, as far as the cap allows; returns how many were sent, and the cap that stopped it."""
    sent: list[tuple[str, float]] = []
    stop: list[SpendingCap] = []
    under_way = door.backend.under_way(missing.values()) if door.batch and door.budget else set()

    def feed() -> Iterable[Request]:
        # those that need no room below the cap come first, and make some
        for i, (key, request) in sorted(enumerate(missing.items()), key=lambda asked: asked[0] not in under_way):
            batched = key if door.batch else None
            try:
                reserved = door.budget.reserve(request, batched, i in under_way) if door.budget else 0.0
            except SpendingCap as error:
                stop.append(error)
                return
            sent.append((key, reserved))
            yield request

    for position, result in door.backend.ask(feed()):
        key, reserved = sent[position]
        if key in found:
            raise RuntimeError(f"backend {door.backend.identity['backend']}: two results for request {position}")
        found[key] = result = _cleaned(result, door.key_env)
        if door.store and isinstance(result, Reply):
            door.store.put(key, result)
        if door.budget:
            door.budget.settle(reserved, result, key)
        bar.update()
    return len(sent), stop[0] if stop else None


def _cleaned(result: Reply | Failure, key_env: str | None) -> Reply | Failure:
    """Without the API key, should an endpoint echo it, and without halves of characters, which no file can hold."""
    field = "text" if isinstance(result, Reply) else "reason"
    text = redacted(getattr(result, field), key_env).encode("utf-8", "replace").decode()
    return result._replace(**{field: text})


def _read(request: Request, kind: str, result: Reply | Failure, last: bool) -> tuple[dict | None, Request]:
    """(the completion, None while it is to be asked for again; the request as it stands now)."""
    row = {"prompt_id": request.prompt_id, "sample": request.sample, "text": None, "parsed": None}
    if isinstance(result, Failure):
        return row | {"failed": result.reason}, request
    parsed, error = parse(kind, result.text)
    if error and result.finish_reason == "length":
        error += f" (it was cut off after {request.sampling.max_tokens} tokens)"
    if error and not last:
        return None, _again(request, result.text, error)
    return row | {"text": result.text, "parsed": parsed, "failed": error}, request


def _again(request: Request, text: str, error: str) -> Request:
    """The request with the unusable reply and what is wrong with it added to the conversation."""
    form = "text" if request.schema is None else f"one JSON object of this schema: {json.dumps(request.schema)}"
    said = {"role": "assistant", "content": text.strip() or NOTHING}
    told = {"role": "user", "content": AGAIN.format(error=error, form=form)}
    return request._replace(messages=[*request.messages, said, told])


def _usage(
    prompts: pd.DataFrame, completions: pd.DataFrame, door: Door, used: dict[str, dict[str, Reply]], counted: set[str]
) -> pd.DataFrame:
    """What the completions took: what this job asked for, and how many replies other jobs' questions had brought.

    Which is which is kept in the store, so it is the same when the job is run again: equal tables, equal usage.
    """
    role_of = dict(zip(prompts["prompt_id"], prompts["role"], strict=True))
    failed = completions.loc[completions["failed"].notna(), "prompt_id"].map(role_of).value_counts()
    price = door.budget.price if door.budget else None
    rows = []
    for role, replies in used.items():
        new = {key: reply for key, reply in replies.items() if key not in counted}
        counted.update(new)
        here = {key: (1, reply.input_tokens, reply.output_tokens) for key, reply in new.items()}
        own = door.store.asked(new) if door.store else here
        asked, read, written = (sum(counts) for counts in zip((0, 0, 0), *own.values(), strict=True))
        rows.append(
            {
                "role": role,
                "backend": door.backend.identity["backend"],
                "model": door.backend.identity["model"],
                "prompts": int((prompts["role"] == role).sum()),
                "asked": asked,
                "from_store": len(new) - len(own),
                "input_tokens": read,
                "output_tokens": written,
                "cost": cost(price, read, written),
                "failed": int(failed.get(role, 0)),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS).astype({"model": "str", "cost": "float64"})
