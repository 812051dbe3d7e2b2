"""Forget and retain terms by name: the folder listing is the registry, a module's literals say what its loss needs.

INPUTS   names of the quantities the loss is called with (see `unlearning.train.quantities`)
PARAMS   its parameters and their defaults; those that its loss does not take are read by the loop (layer, spans)
LIMITS   what they may be, see `unlearning.config.parameters`; only the configuration is held against it
ANSWERS  reference, refusal or both: which answer follows the prompt
NEEDS    what must be made before the run: refusals; ref_logprobs, the reference model's of the answers, and
         refusal_ref_logprobs, those of the refusals; reference_model, the model itself; question_tokens, which tokens
         of a prompt are its question; attention: that model and reference compute attention in the plain way (eager),
         the only one that gives its weights

Only where a term differs from the others:

UNIT        of its value, if that is no number of nats
ALTERNATES  True where a step's examples come from one domain, the steps alternating between domains
trained_layers(depth, …)  a function that gives the decoder layers that train, of `depth`; all else is frozen
"""

import importlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from unlearning.registry import available

REDUCTIONS = ("token_mean", "sequence_sum")


class TermError(ValueError):
    """There is no such term; the message lists those that exist."""


class Term(NamedTuple):
    """A loss and its parameters: `loss(**quantities, **params)` gives one value per example.

    `settings` are the parameters that the loss does not take: what reads them is the loop.
    """

    name: str
    loss: Callable
    params: dict
    inputs: tuple[str, ...]
    answers: str
    needs: tuple[str, ...]
    settings: dict = {}
    unit: str = "nats"
    alternates: bool = False
    trained_layers: Callable | None = None

    def layers(self, depth: int) -> range | None:
        """The decoder layers that train, of `depth`; None = every weight of the model does."""
        return self.trained_layers and self.trained_layers(depth, **_taken(self.trained_layers, self.settings))


def load_term(folder: str, name: str, params: dict | None = None) -> Term:
    """The term `name` of `folder`, its defaults overlaid by those of `params` it knows. TermError if there is none."""
    if name not in available(folder):
        raise TermError(f"unknown {folder} term {name!r}; allowed: {', '.join(available(folder))}")
    return term_of(importlib.import_module(f"unlearning.{folder}.{name}"), params)


def term_of(module: ModuleType, params: dict | None = None) -> Term:
    """The term that `module` is. Whoever always uses one imports its module, so that it depends on that code."""
    own = {key: (params or {}).get(key, default) for key, default in module.PARAMS.items()}
    taken = _taken(module.loss, own)
    return Term(
        module.__name__.removeprefix("unlearning."),
        module.loss,
        taken,
        module.INPUTS,
        module.ANSWERS,
        module.NEEDS,
        {key: value for key, value in own.items() if key not in taken},
        getattr(module, "UNIT", "nats"),
        getattr(module, "ALTERNATES", False),
        getattr(module, "trained_layers", None),
    )


def _taken(function: Callable, params: dict) -> dict:
    """Those of `params` that `function` takes."""
    taken = inspect.signature(function).parameters
    any_name = any(p.kind is p.VAR_KEYWORD for p in taken.values())
    return {key: value for key, value in params.items() if any_name or key in taken}
