"""Forget and retain terms by name: the folder listing is the registry, a module's literals say what its loss needs.

INPUTS   names of the quantities the loss is called with (see `unlearning.train.quantities`)
PARAMS   its parameters and their defaults
ANSWERS  reference or refusal: which answer follows the prompt
NEEDS    of ref_logprobs, reference_model, refusals: what must be made before the run
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

REDUCTIONS = ("token_mean", "sequence_sum")


class TermError(ValueError):
    """There is no such term; the message lists those that exist."""


class Term(NamedTuple):
    """A loss and its parameters: `loss(**quantities, **params)` gives one value per example."""

    name: str
    loss: Callable
    params: dict
    inputs: tuple[str, ...]
    answers: str
    needs: tuple[str, ...]


def term_names(folder: str) -> list[str]:
    """Names of the terms in `folder` (forget or retain), sorted."""
    listing = (Path(__file__).parent.parent / folder).glob("*.py")
    return sorted(path.stem for path in listing if path.stem != "__init__")


def load_term(folder: str, name: str, params: dict | None = None) -> Term:
    """The term `name` of `folder`, its defaults overlaid by those of `params` it knows. TermError if there is none."""
    if name not in term_names(folder):
        raise TermError(f"unknown {folder} term {name!r}; allowed: {', '.join(term_names(folder))}")
    module = importlib.import_module(f"unlearning.{folder}.{name}")
    own = {key: (params or {}).get(key, default) for key, default in module.PARAMS.items()}
    return Term(f"{folder}.{name}", module.loss, own, module.INPUTS, module.ANSWERS, module.NEEDS)
