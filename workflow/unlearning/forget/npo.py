"""Negative preference optimisation: gradient ascent that slows down as the answer becomes unlikely."""

import torch
from torch.nn.functional import logsigmoid

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT", "ref_logprob_B")
PARAMS = {"beta": 0.1}
LIMITS = {"beta": {"gt": 0}}
ANSWERS = "reference"
NEEDS = ("ref_logprobs",)


def loss(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, ref_logprob_B: torch.Tensor, beta: float) -> torch.Tensor:
    """−(2/β) log σ(β (L_θ − L_ref)) per example, > 0; lower is more forgotten (Zhang et al. 2024, eq. 3).

    L is the NLL of the whole answer in nats (a sum over its tokens), `ref_logprob_B` = −L_ref. At θ = ref the value is
    (2/β) ln 2 and the gradient is minus that of L_θ.
    """
    gained_B = nll(logprobs_BT, mask_BT, "sequence_sum") + ref_logprob_B
    return -(2 / beta) * logsigmoid(beta * gained_B)
