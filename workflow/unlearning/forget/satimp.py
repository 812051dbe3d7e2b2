"""Saturation and importance: gradient ascent that weights each token by how likely it is."""

import torch

from unlearning.train.nll import token_mean

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"beta1": 5.0, "beta2": 1.0}
LIMITS = {"beta1": {"ge": 0}, "beta2": {"ge": 0}}
ANSWERS = "reference"
NEEDS = ()


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, beta1: float, beta2: float) -> torch.Tensor:
    """mean_t [ p_t^β1 (1 − p_t)^β2 · log p_t ] per example in nats, ≤ 0; lower is more forgotten (Yang et al. 2025).

    The weights carry no gradient. β1 passes over tokens that are unlikely already, β2 over those that are certain;
    with β1 = β2 = 0 this is `ga`.
    """
    logp_BT = logprobs_BT.detach()
    weights_BT = logp_BT.exp() ** beta1 * (-torch.expm1(logp_BT)) ** beta2
    return token_mean(weights_BT * logprobs_BT, mask_BT)
