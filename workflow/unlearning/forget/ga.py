"""Gradient ascent: make the answer unlikely."""

import torch

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"reduction": "token_mean"}
LIMITS = {"reduction": ("token_mean", "sequence_sum")}
ANSWERS = "reference"
NEEDS = ()


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str) -> torch.Tensor:
    """−ℓ(y|x) per example in nats, ≤ 0 and unbounded below; lower is more forgotten (Jang et al. 2023, eq. 2)."""
    return -nll(logprobs_BT, mask_BT, reduction)
