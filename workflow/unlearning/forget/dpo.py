"""Direct preference optimisation: a refusal is preferred to the answer, as seen from the reference model."""

import torch
from torch.nn.functional import logsigmoid

from unlearning.train.nll import nll

INPUTS = (
    "logprobs_BT",
    "mask_BT",
    "ref_logprob_B",
    "refusal_logprobs_BT",
    "refusal_mask_BT",
    "refusal_ref_logprob_B",
)
PARAMS = {"beta": 0.1, "scale": "one_over_beta"}
LIMITS = {"beta": {"gt": 0}, "scale": ("one_over_beta", "two_over_beta")}
ANSWERS = "both"
NEEDS = ("refusals", "ref_logprobs", "refusal_ref_logprobs")


def loss(
    logprobs_BT: torch.Tensor,
    mask_BT: torch.Tensor,
    ref_logprob_B: torch.Tensor,
    refusal_logprobs_BT: torch.Tensor,
    refusal_mask_BT: torch.Tensor,
    refusal_ref_logprob_B: torch.Tensor,
    beta: float,
    scale: str,
) -> torch.Tensor:
    """−c log σ(β [(log p_θ − log p_ref)(refusal) − (log p_θ − log p_ref)(answer)]) per example, > 0.

    Lower refuses more. log p is that of a whole answer to the same prompt, in nats (a sum over its tokens). `scale`
    names c: one_over_beta is 1/β, SEPS' formula; two_over_beta is 2/β, as in OpenUnlearning. At θ = ref the value is
    c ln 2 (Rafailov et al. 2023, eq. 7, times c). ValueError on another `scale`.
    """
    if scale not in LIMITS["scale"]:
        raise ValueError(f"scale {scale!r} is unknown; allowed: {', '.join(LIMITS['scale'])}")
    refusal_B = -nll(refusal_logprobs_BT, refusal_mask_BT, "sequence_sum") - refusal_ref_logprob_B
    answer_B = -nll(logprobs_BT, mask_BT, "sequence_sum") - ref_logprob_B
    c = (1 if scale == "one_over_beta" else 2) / beta
    return -c * logsigmoid(beta * (refusal_B - answer_B))
