"""The plain pair: a forget term × a retain term, both in every step."""

from unlearning.models.encode import pad_id
from unlearning.train import unlearn as training
from unlearning.train.loop import Trained
from unlearning.train.rows import encode_rows

PARAMS = {}
LIMITS = {}
NEEDS = ()


def unlearn(given: training.Given) -> Trained:
    """L = forget_weight · L_forget + retain_weight · L_retain, the terms by name from their folders.

    An epoch is one pass over the forget set; each step draws as many retain examples.
    """
    plan, tokenizer = given.plan, given.tokenizer
    forget = encode_rows(tokenizer, given.forget, plan.max_length, given.ref_logprobs, given.refusals)
    retain = encode_rows(tokenizer, given.retain, plan.max_length)
    options = {"device": given.device, "reference": given.reference, "work": given.work}
    return training.unlearn(given.model, forget, retain, plan, given.seed, pad_id(tokenizer), **options)
