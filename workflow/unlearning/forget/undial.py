"""Self-distillation with adjusted logits: imitate the reference model with the true token pushed down."""

import torch

from unlearning.train.nll import log_softmax, token_mean

INPUTS = ("logits_BTV", "ref_logits_BTV", "labels_BT", "mask_BT")
PARAMS = {"beta": 10.0}
LIMITS = {"beta": {"ge": 0}}
ANSWERS = "reference"
NEEDS = ("reference_model",)


def loss(
    logits_BTV: torch.Tensor, ref_logits_BTV: torch.Tensor, labels_BT: torch.Tensor, mask_BT: torch.Tensor, beta: float
) -> torch.Tensor:
    """Mean over an example's answer tokens of CE(p_θ, softmax(z_ref − β·onehot(y_t))) in nats, ≥ 0.

    Lower imitates more. z_ref are the frozen reference model's logits (Dong et al. 2024, UNDIAL). Prompt and padding
    never count. With β = 0 the gradient vanishes at θ = ref.
    """
    ref_BTV, labels_BT1 = log_softmax(ref_logits_BTV), labels_BT.unsqueeze(-1)
    down_BT1 = torch.full_like(labels_BT1, -beta, dtype=ref_BTV.dtype)
    wanted_BTV = log_softmax(ref_BTV.scatter_add(-1, labels_BT1, down_BT1)).exp()
    return token_mean(-(wanted_BTV * log_softmax(logits_BTV)).sum(-1), mask_BT)
