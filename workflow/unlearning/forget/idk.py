"""Teach a refusal in the place of the answer."""

import torch

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"reduction": "token_mean"}
LIMITS = {"reduction": ("token_mean", "sequence_sum")}
ANSWERS = "refusal"
NEEDS = ("refusals",)


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str) -> torch.Tensor:
    """ℓ(a_idk|x) per example in nats, ≥ 0, `logprobs_BT` being a refusal's; lower refuses more (Maini et al. 2024)."""
    return nll(logprobs_BT, mask_BT, reduction)
