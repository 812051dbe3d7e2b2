"""Composed attacks: `quantize+probab` changes the weights first and then how answers are decoded."""

from collections.abc import Mapping
from typing import NamedTuple

from unlearning.config.methods import Attack
from unlearning.registry import declared

KINDS = ("weights", "prompts", "decoding")


class Parts(NamedTuple):
    """The attacks of a composed name, by what they change, in the order they apply."""

    weights: tuple[str, ...]
    prompts: tuple[str, ...]
    decoding: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, weights first."""
        return self.weights + self.prompts + self.decoding


def compose(name: str, attacks: Mapping[str, Attack]) -> Parts:
    """Split a composed attack name; `none` has no parts.

    Raises ValueError where the parts do not stand in the order weights, prompts, decoding, one is named twice, or two
    attacks would each choose the decoding.
    """
    names = [] if name == "none" else name.split("+")
    kinds = {n: declared(f"unlearning.attacks.{attacks[n].attack}", "KIND") for n in names}
    ordered = sorted(names, key=lambda n: KINDS.index(kinds[n]))
    if ordered != names or len(set(names)) < len(names):
        raise ValueError(
            f"attack {name!r}: write it as {'+'.join(dict.fromkeys(ordered))!r} (weights, prompts, decoding; each once)"
        )
    parts = Parts(*(tuple(n for n in names if kinds[n] == kind) for kind in KINDS))
    if len(parts.decoding) > 1:
        raise ValueError(f"attack {name!r}: {' and '.join(parts.decoding)} both choose the decoding; name one")
    return parts
