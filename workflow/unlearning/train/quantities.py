"""What a loss may ask for by name: each is computed once per batch, and only if asked for.

logits_BTV              logits of the model being trained that predict the answer
logprobs_BT             log-probabilities of the answer's tokens (nats), 0 where masked
mask_BT                 which columns are answer tokens
labels_BT               ids of the answer's tokens; where masked, any id
value_mask_BT           which answer tokens belong to the part of the answer that its rows mark
ref_logits_BTV          logits of the frozen reference model
ref_logprob_B           log-probability of the whole answer under the reference model, from its table
refusal_logprobs_BT, refusal_mask_BT, refusal_ref_logprob_B
                        the same of a refusal of the same prompt, for terms whose ANSWERS are both
text_logits_BUV         logits that predict the last U columns: from the batch's earliest question on
text_mask_BU            which of those columns are tokens of a question or an answer
sequence_mask_BS        which columns are tokens, of prompt or answer
spans_BS, spans_BT      the number of the sensitive span that a column belongs to, 0 for none; of all, of the answer's
hidden_BSD, ref_hidden_BSD
                        what decoder layer `layer` puts out, in both models
unit_D                  a random unit vector of that size, the same throughout a run
attention_LBHSS, ref_attention_LBHSS
                        attention maps of all layers, one tensor per layer, in both models
"""

from collections.abc import Sequence

import torch
from torch import nn

from unlearning.models.encode import Batch
from unlearning.models.forward import answer_logits, last_logits, token_logprobs
from unlearning.models.layers import attention_maps, hidden_states
from unlearning.seeds import seed_for

NAMES = (
    "logits_BTV",
    "logprobs_BT",
    "mask_BT",
    "labels_BT",
    "value_mask_BT",
    "ref_logits_BTV",
    "ref_logprob_B",
    "refusal_logprobs_BT",
    "refusal_mask_BT",
    "refusal_ref_logprob_B",
    "text_logits_BUV",
    "text_mask_BU",
    "sequence_mask_BS",
    "spans_BS",
    "spans_BT",
    "hidden_BSD",
    "ref_hidden_BSD",
    "unit_D",
    "attention_LBHSS",
    "ref_attention_LBHSS",
)


def quantities(
    names: Sequence[str],
    model: nn.Module,
    batch: Batch,
    reference: nn.Module | None = None,
    ref_logprob_B: torch.Tensor | None = None,
    refusal_ref_logprob_B: torch.Tensor | None = None,
    layer: int | None = None,
    seed: int = 0,
) -> dict[str, torch.Tensor]:
    """The quantities `names` of `batch`; where a refusal's are asked for, its second half are the refusals.

    ValueError lists the known ones if another is asked for, and says which were not prepared.
    """
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise ValueError(f"a loss asks for unknown quantities {unknown}; known: {', '.join(NAMES)}")
    told = ("mask_BT", "labels_BT", "value_mask_BT", "text_mask_BU", "spans_BS")
    have = {name: getattr(batch, name) for name in told}
    have |= {"ref_logprob_B": ref_logprob_B, "refusal_ref_logprob_B": refusal_ref_logprob_B}
    if absent := [name for name in names if name in have and have[name] is None]:
        raise ValueError(f"{', '.join(absent)}: not prepared, though a loss asks for it; a term's NEEDS must say so")
    have["sequence_mask_BS"] = batch.attention_mask_BS.bool()
    have["spans_BT"] = batch.spans_BS[:, -batch.labels_BT.shape[1] :]
    if "text_logits_BUV" in names:
        have["text_logits_BUV"] = last_logits(model, batch, batch.text_mask_BU.shape[1])
    if "logits_BTV" in names or "logprobs_BT" in names:
        have["logits_BTV"] = answer_logits(model, batch)
    if "logprobs_BT" in names:
        have["logprobs_BT"] = token_logprobs(have["logits_BTV"], batch.labels_BT, batch.mask_BT)
    if "hidden_BSD" in names:
        have["hidden_BSD"] = hidden_states(model, batch, layer)
    if "unit_D" in names:
        have["unit_D"] = random_unit(seed, have["hidden_BSD"].shape[-1])
    if "attention_LBHSS" in names:
        have["attention_LBHSS"] = attention_maps(model, batch)
    with torch.no_grad():
        if "ref_logits_BTV" in names:
            have["ref_logits_BTV"] = answer_logits(reference, batch)
        if "ref_hidden_BSD" in names:
            have["ref_hidden_BSD"] = hidden_states(reference, batch, layer)
        if "ref_attention_LBHSS" in names:
            have["ref_attention_LBHSS"] = attention_maps(reference, batch)
    if "refusal_logprobs_BT" in names:
        for name in ("logprobs_BT", "mask_BT"):
            have[name], have[f"refusal_{name}"] = have[name].chunk(2)
    return {name: have[name] for name in names}


def random_unit(seed: int, size: int) -> torch.Tensor:
    """A unit vector of `size` uniform random numbers from [0, 1), normalised, drawn from the run's `seed`."""
    generator = torch.Generator().manual_seed(seed_for(seed, "random_unit"))
    vector = torch.rand(size, generator=generator, dtype=torch.float64)
    return vector / vector.norm()
