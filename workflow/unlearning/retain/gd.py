"""Gradient descent on what is to be kept (with `ga`: Gradient Difference)."""

import torch

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"reduction": "token_mean"}
LIMITS = {"reduction": ("token_mean", "sequence_sum")}
ANSWERS = "reference"
NEEDS = ()


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str) -> torch.Tensor:
    """ℓ(y|x) per example of R in nats, ≥ 0; lower is better kept (Liu et al. 2022). Also the loss of plain training."""
    return nll(logprobs_BT, mask_BT, reduction)
