"""The plain pair: a forget term × a retain term, both in every step."""

from unlearning.models.encode import pad_id
from unlearning.train import unlearn as training
from unlearning.train.loop import Trained
from unlearning.train.rows import Rows, encode_rows

PARAMS = {}
LIMITS = {}
NEEDS = ()


def unlearn(given: training.Given) -> Trained:
    """L = forget_weight · L_forget + retain_weight · L_retain, the terms by name from their folders.

    An epoch is one pass over the forget set; each step draws as many retain examples.
    """
    plan, forget, retain = given.plan, _rows(given, "forget"), _rows(given, "retain")
    return training.unlearn(given.model, forget, retain, plan, given.seed, pad_id(given.tokenizer), **given.running)


def _rows(given: training.Given, side: str) -> Rows:
    """The rows of `side` (forget, retain) with what its term NEEDS."""
    plan, needs = given.plan, given.plan.terms()[side].needs
    return encode_rows(
        given.tokenizer,
        getattr(given, side),
        plan.max_length,
        given.ref_logprobs if "ref_logprobs" in needs else None,
        given.refusals if "refusals" in needs else None,
        questions="question_tokens" in needs,
        **plan.spans(side),
    )
