"""The plain pair: a forget term × a retain term, both in every step."""

from unlearning.models.encode import pad_id
from unlearning.train import unlearn as training
from unlearning.train.loop import Trained
from unlearning.train.rows import Rows, RowsError, encode_rows

PARAMS = {}
LIMITS = {}
NEEDS = ()


def unlearn(given: training.Given) -> Trained:
    """L = forget_weight · L_forget + retain_weight · L_retain, the terms by name from their folders.

    With questions both about pictures and in text, L = α · L_image + β · L_text of such losses, α being `image_weight`
    and β `text_weight` (UMU-Bench); what has weight 0 is left out. An epoch is one pass over the forget set; each step
    draws as many retain examples, of each modality. RowsError where a modality has nothing to forget or to retain.
    """
    plan, weights = given.plan, {"image": given.plan.image_weight, "text": given.plan.text_weight}
    used = [name for name in weights if weights[name] and (given.forget["modality"] == name).any()]
    if not used:
        raise RowsError(
            "nothing would be unlearned: what is to be forgotten has no example of a modality with a weight above 0 "
            f"(image_weight {plan.image_weight}, text_weight {plan.text_weight})"
        )
    parts = [training.Modality(weights[name], _rows(given, "forget", name), _rows(given, "retain", name))
             for name in used]  # fmt: skip
    return training.unlearn_modalities(given.model, parts, plan, given.seed, pad_id(given.tokenizer), **given.running)


def _rows(given: training.Given, side: str, modality: str) -> Rows:
    """The rows of `side` (forget, retain) and `modality` with what the side's term NEEDS."""
    plan, needs = given.plan, given.plan.terms()[side].needs
    table = getattr(given, side)
    table = table[table["modality"] == modality]
    if table.empty:
        raise RowsError(f"the {side} set has no example of modality {modality}, which is to be unlearned")
    return encode_rows(
        given.tokenizer,
        table,
        plan.max_length,
        given.ref_logprobs if "ref_logprobs" in needs else None,
        given.refusals if "refusals" in needs else None,
        questions="question_tokens" in needs,
        **plan.spans(side),
    )
