"""Several roles asked in one job: one engine for each backend, whatever roles it plays, and what all of it took."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from unlearning.llm.complete import Door, complete, open_door
from unlearning.llm.usage import added_up


class Asker:
    """Asks by role and adds up what it took. `whole`: every prompt so far got a reply."""

    def __init__(self, doors: Mapping[str, Door]):
        self._doors, self._usage, self._counted, self.whole = doors, [], set(), True

    def ask(self, role: str, prompts: pd.DataFrame) -> pd.DataFrame:
        """Table `completions` of table `prompts`."""
        completions, usage = complete(prompts, self._doors[role], counted=self._counted)
        self._usage.append(usage)
        self.whole &= bool(completions["text"].notna().all())
        return completions

    def usage(self) -> pd.DataFrame:
        """Table `usage` of all that was asked."""
        return added_up(self._usage)


@contextlib.contextmanager
def open_roles(doors: Mapping[str, Mapping], store_folder: Path | str, job: str = "") -> Iterator[Asker]:
    """The doors of several roles: role -> settings of `open_door`. Roles of one backend share its door."""
    opened: dict[str, Door] = {}
    with contextlib.ExitStack() as stack:
        for settings in doors.values():
            if settings["name"] not in opened:
                opened[settings["name"]] = stack.enter_context(open_door(settings, store_folder, job))
        yield Asker({role: opened[settings["name"]] for role, settings in doors.items()})
