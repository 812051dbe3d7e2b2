"""Cross-entropy unlearning: keep the model's own prediction, but with the true token ruled out."""

import torch

from unlearning.train.nll import log_softmax, token_mean

INPUTS = ("logits_BTV", "labels_BT", "mask_BT")
PARAMS = {}
ANSWERS = "reference"
NEEDS = ()


def loss(logits_BTV: torch.Tensor, labels_BT: torch.Tensor, mask_BT: torch.Tensor) -> torch.Tensor:
    """Mean over an example's answer tokens but the first of CE(p_θ, q_t) in nats, ≥ 0; lower is more forgotten.

    q_t is the softmax of the model's logits, without gradient, after that of y_t was set to −∞ (Yang 2025, CE-U). An
    answer of one token has none that counts: 0.
    """
    ruled_out_BTV = logits_BTV.detach().scatter(-1, labels_BT.unsqueeze(-1), -torch.inf)
    wanted_BTV = log_softmax(ruled_out_BTV).exp()
    later_BT = mask_BT.clone()
    later_BT[:, 0] = False
    return token_mean(-(wanted_BTV * log_softmax(logits_BTV)).sum(-1), later_BT)
