"""Weighted gradient ascent: tokens that are already unlikely count less."""

import torch

from unlearning.forget import satimp

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"beta": 1.0}
LIMITS = {"beta": {"ge": 0}}
ANSWERS = "reference"
NEEDS = ()


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, beta: float) -> torch.Tensor:
    """mean_t [ p_t^β · log p_t ] per example in nats, ≤ 0; lower is more forgotten (Wang et al. 2025, WGA).

    The weights p_t^β carry no gradient; with β = 0 this is `ga`. It is `satimp` without the second weight.
    """
    return satimp.loss(logprobs_BT, mask_BT, beta1=beta, beta2=0.0)
