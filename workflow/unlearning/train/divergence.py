"""Divergences between predicted distributions. B examples, T columns, V vocabulary; nats."""

import torch
from torch.nn.functional import log_softmax


def log_distribution(logits_BTV: torch.Tensor) -> torch.Tensor:
    """log p of every token, in float32, or float64 if the logits are."""
    return log_softmax(logits_BTV.to(torch.promote_types(logits_BTV.dtype, torch.float32)), -1)


def divergence(logp_BTV: torch.Tensor, logq_BTV: torch.Tensor) -> torch.Tensor:
    """`kl_BT` = KL(p ‖ q) = Σ_v p_v (log p_v − log q_v), ≥ 0, 0 where both agree."""
    return (logp_BTV.exp() * (logp_BTV - logq_BTV)).sum(-1)
