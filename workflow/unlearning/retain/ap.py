"""Answer preservation: on what is to be kept, the answer stays preferred to a refusal. No reference model."""

import torch
from torch.nn.functional import logsigmoid

from unlearning.train.nll import nll

INPUTS = ("logprobs_BT", "mask_BT", "refusal_logprobs_BT", "refusal_mask_BT")
PARAMS = {"beta": 0.1}
LIMITS = {"beta": {"gt": 0}}
ANSWERS = "both"
NEEDS = ("refusals",)


def loss(
    logprobs_BT: torch.Tensor,
    mask_BT: torch.Tensor,
    refusal_logprobs_BT: torch.Tensor,
    refusal_mask_BT: torch.Tensor,
    beta: float,
) -> torch.Tensor:
    """−(1/β) log σ(−β [log p_θ(a_idk|x) − log p_θ(y|x)]) per example of R, > 0; lower is better kept.

    log p is a whole answer's, in nats (a sum over its tokens), given the same prompt. Where both are equally likely the
    value is (1/β) ln 2 (Yuan et al. 2024, as SEPS prints it).
    """
    refusal_B = -nll(refusal_logprobs_BT, refusal_mask_BT, "sequence_sum")
    answer_B = -nll(logprobs_BT, mask_BT, "sequence_sum")
    return -(1 / beta) * logsigmoid(-beta * (refusal_B - answer_B))
