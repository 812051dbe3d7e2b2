"""Several roles asked in one job: one engine for each backend, whatever roles it plays, and what all of it took.

A job in which all replies of a role are of no use fails: an endpoint that talks rubbish must not end as empty tables.
"""

import collections
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from unlearning.llm.complete import Door, NoReplies, complete, open_door, tallied
from unlearning.llm.usage import added_up

FEW = 10  # replies that may all be of no use without ending the job before its end: a later round may do better
SHOWN = 2  # replies of no use that the error shows …
LOGGED = 20  # … and that the log shows; of requests that were refused too
SHORT = 100  # characters of a reply in the error
LONG = 1000  # characters of a reply in the log


class Asker:
    """Asks by role and adds up what it took. `whole`: no prompt so far was refused."""

    def __init__(self, doors: Mapping[str, Door]):
        self._doors, self._usage, self._counted, self.whole = doors, [], set(), True
        self._useful: set[str] = set()
        self._useless: dict[str, list[pd.DataFrame]] = collections.defaultdict(list)

    def ask(self, role: str, prompts: pd.DataFrame) -> pd.DataFrame:
        """Table `completions` of table `prompts`. NoReplies: some got no reply, or more than FEW but none of use."""
        completions, usage = complete(prompts, self._doors[role], counted=self._counted)
        self._usage.append(usage)
        self.whole &= tell_refused(completions, role)
        if completions["parsed"].notna().any():
            self._useful.add(role)
        else:
            self._useless[role].append(completions)
        self._check(role, FEW)
        return completions

    def usage(self) -> pd.DataFrame:
        """Table `usage` of all that was asked."""
        return added_up(self._usage)

    def check(self) -> None:
        """NoReplies if a role was asked but none of its replies is of use."""
        for role in self._doors:
            self._check(role, 0)

    def _check(self, role: str, most: int) -> None:
        """NoReplies if the role was asked more than `most` times and none of its replies is of use."""
        if role in self._useful or sum(map(len, self._useless[role])) <= most:
            return
        door, told = self._doors[role], pd.concat(self._useless[role])
        if door.store:
            door.store.forget_unusable()
        raise none_of_use(role, door.who(), door.name, told)


def tell_refused(completions: pd.DataFrame, role: str) -> bool:
    """Print the first requests of `role` that were refused; returns whether none was."""
    refused = completions[completions["text"].isna()]
    for row in refused.head(LOGGED).itertuples():
        print(f"{role}, prompt {row.prompt_id}: {row.failed}")
    return refused.empty


def none_of_use(role: str, who: str, name: str, told: pd.DataFrame) -> NoReplies:
    """The error that all of table completions `told` is of no use, after the first replies are printed.

    `who` answers, in words, and is called `name` below `backends`.
    """
    replies = told[told["text"].notna()]
    for row in replies.head(LOGGED).itertuples():
        print(f"{role}, prompt {row.prompt_id}: {row.failed}: {_shortened(row.text, LONG)}")
    first = ", ".join(_shortened(text, SHORT) for text in replies["text"].head(SHOWN)) or "none came"
    return NoReplies(
        f"role {role}, {who}: none of {len(told)} replies can be used. Why: "
        f"{tallied(collections.Counter(told['failed']))}. The first replies: {first}; more are in the job's log. "
        f"See that the model of backends.{name} can write the JSON it is asked for, that "
        f"roles.{role}.max_tokens is enough for it and that structured suits an endpoint, then run again: these "
        "prompts are asked anew"
    )


def _shortened(text: str, longest: int) -> str:
    """`text` in quotes, on one line."""
    return repr(text if len(text) <= longest else f"{text[:longest]}…")


@contextlib.contextmanager
def open_roles(doors: Mapping[str, Mapping], store_folder: Path | str, job: str = "") -> Iterator[Asker]:
    """The doors of several roles: role -> settings of `open_door`. Roles of one backend share its door.

    Leaving it checks what came: NoReplies if no reply of a role that was asked is of use.
    """
    opened: dict[str, Door] = {}
    with contextlib.ExitStack() as stack:
        for settings in doors.values():
            if settings["name"] not in opened:
                opened[settings["name"]] = stack.enter_context(open_door(settings, store_folder, job))
        asker = Asker({role: opened[settings["name"]] for role, settings in doors.items()})
        yield asker
        asker.check()
