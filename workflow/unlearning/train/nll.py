"""Negative log-likelihoods of answers, as the terms use them. B examples, T answer columns; nats."""

import torch

from unlearning.train.terms import REDUCTIONS


def nll(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str = "token_mean") -> torch.Tensor:
    """Per example, over its answer's tokens (end-of-text included): ≥ 0, low where the answer is likely.

    token_mean: ℓ = −(1/T) Σ_t log p(y_t | x, y_<t); sequence_sum: L = T·ℓ. ValueError on another `reduction`.
    """
    total_B = -torch.where(mask_BT, logprobs_BT, 0.0).sum(-1)
    if reduction == "sequence_sum":
        return total_B
    if reduction == "token_mean":
        return total_B / mask_BT.sum(-1)
    raise ValueError(f"reduction {reduction!r} is unknown; allowed: {', '.join(REDUCTIONS)}")
