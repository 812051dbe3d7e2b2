"""Preference optimisation as UMU calls it: teach a refusal of the forget prompt. The same loss as `idk`."""

import torch

from unlearning.forget import idk

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"reduction": "token_mean"}
LIMITS = {"reduction": ("token_mean", "sequence_sum")}
ANSWERS = "refusal"
NEEDS = ("refusals",)


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, reduction: str) -> torch.Tensor:
    """ℓ(refusal|x) per example in nats, ≥ 0, `logprobs_BT` being the refusal's; lower refuses more (UMU-Bench)."""
    return idk.loss(logprobs_BT, mask_BT, reduction)
