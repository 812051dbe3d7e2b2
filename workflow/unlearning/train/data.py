"""Which examples each step sees: a pure function of (seed, step), so a resumed run continues as if never stopped."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from unlearning.seeds import seed_for


@lru_cache(maxsize=16)
def shuffled(n: int, seed: int, purpose: str, turn: int) -> np.ndarray:
    """A permutation of range(n) for pass number `turn`, from its own seed. Read-only."""
    order = np.random.default_rng(seed_for(seed, purpose, str(turn))).permutation(n)
    order.setflags(write=False)
    return order


def endless(n: int, seed: int, purpose: str, start: int, stop: int) -> np.ndarray:
    """Places start..stop−1 of an endless stream: all of range(n) in a shuffled order, then again in another, …"""
    turns = range(start // n, -(-stop // n))
    parts = [shuffled(n, seed, purpose, turn)[max(start - turn * n, 0) : min(stop - turn * n, n)] for turn in turns]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Schedule:
    """Steps over a leading set of `n` examples, each accompanied by `ratio` as many of a following set of `n_follow`.

    An epoch is one pass over the leading set, shuffled anew by seed_for(seed, lead, epoch); no batch crosses its end.
    The following set is drawn without replacement until it is used up, from its own seed.
    """

    n: int
    batch_size: int
    epochs: int
    seed: int
    n_follow: int = 0
    ratio: float = 1.0
    lead: str = "forget_order"
    follow: str = "retain_order"

    @property
    def steps_per_epoch(self) -> int:
        return math.ceil(self.n / self.batch_size)

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    def epoch(self, step: int) -> int:
        """Epoch (from 0) of `step` (from 0)."""
        return step // self.steps_per_epoch

    def _span(self, step: int) -> tuple[int, int]:
        within = step % self.steps_per_epoch * self.batch_size
        return within, min(within + self.batch_size, self.n)

    def leading(self, step: int) -> np.ndarray:
        """Indices of the leading examples of `step`."""
        start, stop = self._span(step)
        return shuffled(self.n, self.seed, self.lead, self.epoch(step))[start:stop]

    def following(self, step: int) -> np.ndarray:
        """Indices of the following examples of `step`: over any number of steps, `ratio` times the leading ones."""
        if not self.n_follow:
            return np.empty(0, dtype=np.int64)
        start, stop = (
            # The small amount keeps 0.1 + 0.2 ≠ 0.3 from losing an example.
            int(self.ratio * (self.epoch(step) * self.n + place) + 1e-9)
            for place in self._span(step)
        )
        return endless(self.n_follow, self.seed, self.follow, start, stop)


@dataclass(frozen=True)
class Alternating(Schedule):
    """A Schedule whose steps each take their leading examples from one domain, from the domains in turn.

    `domains` says which domain each leading example is of. An epoch is one pass over all of them: a domain that is used
    up has no more turns in it. Each domain is shuffled by itself.
    """

    domains: tuple[str, ...] = ()

    @cached_property
    def _batches(self) -> list[tuple[int, str, int]]:
        """An epoch's steps: from which place of which domain, and how many examples."""
        counts, size = Counter(self.domains), self.batch_size
        return sorted((at, name, min(size, n - at)) for name, n in counts.items() for at in range(0, n, size))

    @property
    def steps_per_epoch(self) -> int:
        return len(self._batches)

    def _span(self, step: int) -> tuple[int, int]:
        sizes = [size for _, _, size in self._batches[: step % self.steps_per_epoch + 1]]
        return sum(sizes[:-1]), sum(sizes)

    def leading(self, step: int) -> np.ndarray:
        start, name, size = self._batches[step % self.steps_per_epoch]
        members = np.flatnonzero(np.array(self.domains) == name)
        order = shuffled(len(members), self.seed, f"{self.lead}/{name}", self.epoch(step))
        return members[order[start : start + size]]


def refusals_in(refusals: Mapping[str, Sequence], language: str) -> Sequence:
    """The refusals in `language`, or those in English where it has none."""
    return refusals.get(language) or refusals["en"]


def refusal_choice(seed: int, epoch: int, example_id: str, n: int) -> int:
    """Which of `n` refusals an example gets in an epoch: hash(seed, epoch, example_id) modulo n."""
    return seed_for(seed, "refusal", f"{epoch}/{example_id}") % n
