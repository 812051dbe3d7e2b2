"""Stay close to the reference model's predictions on what is to be kept."""

import torch

from unlearning.train.nll import divergence, log_softmax, token_mean

INPUTS = ("logits_BTV", "ref_logits_BTV", "mask_BT")
PARAMS = {"direction": "theta_ref"}
LIMITS = {"direction": ("theta_ref", "ref_theta")}
ANSWERS = "reference"
NEEDS = ("reference_model",)


def loss(logits_BTV: torch.Tensor, ref_logits_BTV: torch.Tensor, mask_BT: torch.Tensor, direction: str) -> torch.Tensor:
    """Mean over an example's answer tokens of a divergence in nats, ≥ 0, 0 where both models agree.

    theta_ref: KL(p_θ ‖ p_ref), SEPS' formula; ref_theta: KL(p_ref ‖ p_θ), TOFU's convention. Prompt and padding never
    count. ValueError on another `direction`.
    """
    if direction not in LIMITS["direction"]:
        raise ValueError(f"direction {direction!r} is unknown; allowed: {', '.join(LIMITS['direction'])}")
    pair = log_softmax(logits_BTV), log_softmax(ref_logits_BTV)
    return token_mean(divergence(*(reversed(pair) if direction == "ref_theta" else pair)), mask_BT)
