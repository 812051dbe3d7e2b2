"""What a step of a construction would ask, taken down without asking."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from unlearning.data.leak.templates import VARIANTS
from unlearning.data.rounds import Tools
from unlearning.llm.estimate import TOLD, Asked
from unlearning.llm.prompts import read_prompt
from unlearning.llm.requests import Sampling


class _Seen(Exception):
    """The table of prompts has been seen: nobody needs to answer it."""


class Watch:
    """Takes down the prompts that a step would ask first."""

    def __init__(self, prompts: Sequence[str], sampling: Mapping[str, Mapping], max_rounds: int):
        read = {prompt.name: prompt for prompt in map(read_prompt, prompts)}
        drawn = {role: Sampling(**settings) for role, settings in sampling.items()}
        self.tools = Tools(self._see, lambda texts: [None] * len(texts), read, drawn, max_rounds)
        self._tables: list[tuple[str, pd.DataFrame]] = []

    def _see(self, role: str, prompts: pd.DataFrame) -> pd.DataFrame:
        self._tables.append((role, prompts))
        raise _Seen

    def asked(self, step: Callable[[], object]) -> Iterator[Asked]:
        """What `step` would ask in each of the rounds, if anything; of proposals each round shows those refused."""
        before = len(self._tables)
        try:
            step()
        except _Seen:
            role, prompts = self._tables[before]
            most = {name: sampling.max_tokens for name, sampling in self.tools.sampling.items()}
            yield Asked(role, prompts, self.tools.max_rounds, _grows(role, most))


def _grows(role: str, most: Mapping[str, int]) -> int:
    """Tokens by which a refused attempt lengthens the next prompt, at most: of those that propose, its texts come back,
    what the checks quote of them, and the words of the judge, or of either of them for each wording; a story comes back
    with the question that a verifier answers otherwise.
    """
    if role in ("refiner", "translator"):
        return 4 * most[role] + most["equivalence"] + TOLD
    if role == "composer":
        return 4 * most[role] + VARIANTS * (4 * max(most["decomposer"], most["uniqueness"]) + TOLD)
    if role == "writer":
        return 4 * most[role] + 4 * (most.get("questioner", 0) + most["verifier_1"]) + TOLD
    return 0
