"""What a loss may ask for by name: each is computed once per batch, and only if asked for.

logits_BTV      logits of the model being trained that predict the answer
logprobs_BT     log-probabilities of the answer's tokens (nats), 0 where masked
labels_BT       the answer's tokens, the padding id where masked
mask_BT         which columns are answer tokens
value_mask_BT   which of them belong to the part of the answer that its rows mark
ref_logits_BTV  logits of the frozen reference model
ref_logprob_B   log-probability of the whole answer under the reference model, from its table
"""

from collections.abc import Sequence

import torch
from torch import nn

from unlearning.models.encode import Batch
from unlearning.models.forward import answer_logits, token_logprobs

NAMES = ("logits_BTV", "logprobs_BT", "labels_BT", "mask_BT", "value_mask_BT", "ref_logits_BTV", "ref_logprob_B")


def quantities(
    names: Sequence[str],
    model: nn.Module,
    batch: Batch,
    reference: nn.Module | None = None,
    ref_logprob_B: torch.Tensor | None = None,
) -> dict[str, torch.Tensor]:
    """The quantities `names` of `batch`. ValueError lists the known ones if another is asked for."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise ValueError(f"a loss asks for unknown quantities {unknown}; known: {', '.join(NAMES)}")
    have = {"ref_logprob_B": ref_logprob_B, "labels_BT": batch.labels_BT}
    have |= {"mask_BT": batch.mask_BT, "value_mask_BT": batch.value_mask_BT}
    if "logits_BTV" in names or "logprobs_BT" in names:
        have["logits_BTV"] = answer_logits(model, batch)
    if "logprobs_BT" in names:
        have["logprobs_BT"] = token_logprobs(have["logits_BTV"], batch.labels_BT, batch.mask_BT)
    if "ref_logits_BTV" in names:
        with torch.no_grad():
            have["ref_logits_BTV"] = answer_logits(reference, batch)
    return {name: have[name] for name in names}
