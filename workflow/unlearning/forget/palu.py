"""Prefix-aware localised unlearning (PALU): flatten the likeliest logits where a sensitive span begins."""

import torch

from unlearning.train.nll import divergence, log_softmax, token_mean

INPUTS = ("logits_BTV", "ref_logits_BTV", "mask_BT", "spans_BT")
PARAMS = {"top_k": 50, "first": 3, "kl_weight": 1.0, "spans": "value", "pipeline": "en_core_web_sm"}
LIMITS = {
    "top_k": {"ge": 1},
    "first": {"ge": 1},
    "kl_weight": {"ge": 0},
    "spans": ("value", "entropy", "pos", "entities"),
}
ANSWERS = "reference"
NEEDS = ("reference_model",)


def loss(
    logits_BTV: torch.Tensor,
    ref_logits_BTV: torch.Tensor,
    mask_BT: torch.Tensor,
    spans_BT: torch.Tensor,
    top_k: int,
    first: int,
    kl_weight: float,
) -> torch.Tensor:
    """mean_{t initial} (1/K) Σ_{i ∈ TopK(ref logits_t)} (z_{t,i} − c_t)² + λ Σ_{t not sensitive} KL(p_ref ‖ p_θ).

    Per example, ≥ 0; lower is more forgotten; the first part in squared logits, the second in nats. `spans_BT` holds
    the number of the sensitive span that an answer token belongs to, 0 for none; initial are the `first` (N) tokens of
    each span, the later ones of a span get no term. c_t is the mean of the vocabulary's logits at t, without gradient;
    K is `top_k`, λ is `kl_weight`. Prompt and padding never count (leak, eq. 7; K 50, N 3, λ 1 are our reading, and so
    are the mean over initial tokens and that an answer without a sensitive token is sensitive as a whole).
    """
    logits_BTV = logits_BTV.to(torch.promote_types(logits_BTV.dtype, torch.float32))
    spans_BT = torch.where(mask_BT, spans_BT, 0)
    spans_BT = torch.where(spans_BT.any(-1, keepdim=True), spans_BT, mask_BT.to(spans_BT.dtype))
    sensitive_BT = spans_BT > 0
    initial_BT = sensitive_BT & (_earlier_in_span(spans_BT) < first)
    top_BTK = ref_logits_BTV.topk(min(top_k, ref_logits_BTV.shape[-1]), -1).indices
    centre_BT1 = logits_BTV.detach().mean(-1, keepdim=True)
    height_BT = (logits_BTV.gather(-1, top_BTK) - centre_BT1).square().mean(-1)
    kl_BT = divergence(log_softmax(ref_logits_BTV), log_softmax(logits_BTV))
    return token_mean(height_BT, initial_BT) + kl_weight * torch.where(mask_BT & ~sensitive_BT, kl_BT, 0.0).sum(-1)


def _earlier_in_span(spans_BT: torch.Tensor) -> torch.Tensor:
    """How many tokens of the same span come before each token."""
    return (spans_BT.unsqueeze(-1) == spans_BT.unsqueeze(-2)).tril(-1).sum(-1)
