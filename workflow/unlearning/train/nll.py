"""What several terms compute of an answer's tokens. B examples, T answer columns, V vocabulary; nats."""

import torch

from unlearning.train.terms import REDUCTIONS


def nll(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str = "token_mean") -> torch.Tensor:
    """Per example, over its answer's tokens (end-of-text included): ≥ 0, low where the answer is likely.

    token_mean: ℓ = −(1/T) Σ_t log p(y_t | x, y_<t); sequence_sum: L = T·ℓ. ValueError on another `reduction`.
    """
    if reduction == "sequence_sum":
        return -torch.where(mask_BT, logprobs_BT, 0.0).sum(-1)
    if reduction == "token_mean":
        return -token_mean(logprobs_BT, mask_BT)
    raise ValueError(f"reduction {reduction!r} is unknown; allowed: {', '.join(REDUCTIONS)}")


def token_mean(values_BT: torch.Tensor, mask_BT: torch.Tensor) -> torch.Tensor:
    """Per example, the mean of the values where the mask is True; 0 where it is True nowhere."""
    return torch.where(mask_BT, values_BT, 0.0).sum(-1) / mask_BT.sum(-1).clamp(min=1)


def log_softmax(logits_BTV: torch.Tensor) -> torch.Tensor:
    """Log-probabilities over the vocabulary, ≤ 0, in float32 or, if the logits are wider, as wide."""
    return torch.log_softmax(logits_BTV.to(torch.promote_types(logits_BTV.dtype, torch.float32)), -1)


def divergence(logp_BTV: torch.Tensor, logq_BTV: torch.Tensor) -> torch.Tensor:
    """`kl_BT` = KL(p ‖ q) = Σ_v p_v (log p_v − log q_v), ≥ 0, 0 where both agree."""
    return (logp_BTV.exp() * (logp_BTV - logq_BTV)).sum(-1)
