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
"""

from collections.abc import Sequence

import torch
from torch import nn

from unlearning.models.encode import Batch
from unlearning.models.forward import answer_logits, last_logits, token_logprobs

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
)


def quantities(
    names: Sequence[str],
    model: nn.Module,
    batch: Batch,
    reference: nn.Module | None = None,
    ref_logprob_B: torch.Tensor | None = None,
    refusal_ref_logprob_B: torch.Tensor | None = None,
) -> dict[str, torch.Tensor]:
    """The quantities `names` of `batch`; where a refusal's are asked for, its second half are the refusals.

    ValueError lists the known ones if another is asked for, and says which were not prepared.
    """
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise ValueError(f"a loss asks for unknown quantities {unknown}; known: {', '.join(NAMES)}")
    have = {name: getattr(batch, name) for name in ("mask_BT", "labels_BT", "value_mask_BT", "text_mask_BU")}
    have |= {"ref_logprob_B": ref_logprob_B, "refusal_ref_logprob_B": refusal_ref_logprob_B}
    if absent := [name for name in names if name in have and have[name] is None]:
        raise ValueError(f"{', '.join(absent)}: not prepared, though a loss asks for it; a term's NEEDS must say so")
    if "text_logits_BUV" in names:
        have["text_logits_BUV"] = last_logits(model, batch, batch.text_mask_BU.shape[1])
    if "logits_BTV" in names or "logprobs_BT" in names:
        have["logits_BTV"] = answer_logits(model, batch)
    if "logprobs_BT" in names:
        have["logprobs_BT"] = token_logprobs(have["logits_BTV"], batch.labels_BT, batch.mask_BT)
    if "ref_logits_BTV" in names:
        with torch.no_grad():
            have["ref_logits_BTV"] = answer_logits(reference, batch)
    if "refusal_logprobs_BT" in names:
        for name in ("logprobs_BT", "mask_BT"):
            have[name], have[f"refusal_{name}"] = have[name].chunk(2)
    return {name: have[name] for name in names}
