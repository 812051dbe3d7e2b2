"""Forget and retain terms by name: the folder listing is the registry, a module's literals say what its loss needs.

INPUTS   names of the quantities the loss is called with (see `unlearning.train.quantities`)
PARAMS   its parameters and their defaults
LIMITS   what they may be, see `unlearning.config.parameters`; only the configuration is held against it
ANSWERS  reference, refusal or both: which answer follows the prompt
NEEDS    what must be made before the run: refusals; ref_logprobs, the reference model's of the answers, and
         refusal_ref_logprobs, those of the refusals; reference_model, the model itself; question_tokens, which tokens
         of a prompt are its question
"""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from unlearning.registry import available

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


def load_term(folder: str, name: str, params: dict | None = None) -> Term:
    """The term `name` of `folder`, its defaults overlaid by those of `params` it knows. TermError if there is none."""
    if name not in available(folder):
        raise TermError(f"unknown {folder} term {name!r}; allowed: {', '.join(available(folder))}")
    return term_of(importlib.import_module(f"unlearning.{folder}.{name}"), params)


def term_of(module: ModuleType, params: dict | None = None) -> Term:
    """The term that `module` is. Whoever always uses one imports its module, so that it depends on that code."""
    own = {key: (params or {}).get(key, default) for key, default in module.PARAMS.items()}
    name = module.__name__.removeprefix("unlearning.")
    return Term(name, module.loss, own, module.INPUTS, module.ANSWERS, module.NEEDS)
