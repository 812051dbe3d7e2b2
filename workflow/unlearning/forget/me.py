"""Maximum entropy: predict every token of question and answer as if nothing had been learnt."""

import math

import torch

from unlearning.train.nll import divergence, log_softmax, token_mean

INPUTS = ("text_logits_BUV", "text_mask_BU")
PARAMS = {}
ANSWERS = "reference"
NEEDS = ("question_tokens",)


def loss(text_logits_BUV: torch.Tensor, text_mask_BU: torch.Tensor) -> torch.Tensor:
    """(1/T') Σ_t KL(p_θ(·|t) ‖ U) = log K − H(p_θ) per example in nats, 0 ≤ ME ≤ log K; lower is more forgotten.

    T' tokens of question and answer (end-of-text included, as everywhere), p_θ(·|t) the prediction of token t, U
    uniform over the K columns of the logits (Yuan et al. 2024; SEPS, appendix). Tokens of the chat template and padding
    do not count. Our reading: a question is what the user says, and a prompt's very first token, which nothing
    predicts, does not count.
    """
    logp_BUV = log_softmax(text_logits_BUV)
    uniform = logp_BUV.new_tensor(-math.log(logp_BUV.shape[-1]))
    return token_mean(divergence(logp_BUV, uniform), text_mask_BU)
