"""Simple negative preference optimisation: `npo` without a reference model, on the answer's mean per token."""

import torch
from torch.nn.functional import logsigmoid

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT")
PARAMS = {"beta": 4.5, "delta": 0.0}
LIMITS = {"beta": {"gt": 0}}
ANSWERS = "reference"
NEEDS = ()


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, beta: float, delta: float) -> torch.Tensor:
    """−(2/β) log σ(β ℓ_θ − δ) per example, > 0; lower is more forgotten (Fan et al. 2024).

    ℓ is the mean NLL of the answer's tokens in nats. The method's `forget_weight` is meant to be 0.125.
    """
    return -(2 / beta) * logsigmoid(beta * nll(logprobs_BT, mask_BT) - delta)
