"""MP-ME: in a mixed prompt, no idea about the forget question, and as before about everything else."""

import math

import torch

from unlearning.train import mixed
from unlearning.train.loop import Trained
from unlearning.train.nll import divergence, log_softmax
from unlearning.train.terms import Term
from unlearning.train.unlearn import Given

PARAMS = {}
TAUGHT = "questions"
LIMITS = {}
NEEDS = ("reference_model",)
COST = {"forward": 2, "reference": 2}

INPUTS = ("logits_BTV", "ref_logits_BTV", "mask_BT", "value_mask_BT")


def unlearn(given: Given) -> Trained:
    """forget_weight · Σ_F KL(p_θ ‖ U) + retain_weight · Σ_others KL(p_θ ‖ p_ref), over the text's length, both orders.

    Formula of SEPS. F are the tokens of the forget question and of its answer, the others those of the retain example,
    the numbers and the chat template; a token that overlaps F by a character belongs to it (our reading).
    """
    return mixed.unlearn(given, Term("methods.mp_me", losses, {}, INPUTS, "reference", NEEDS), whole=True)


def losses(
    logits_BTV: torch.Tensor, ref_logits_BTV: torch.Tensor, mask_BT: torch.Tensor, value_mask_BT: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Both parts per text, nats, ≥ 0: forget (0 where p_θ is uniform) and retain (0 where p_θ = p_ref).

    Columns are positions 2 to L of the text: nothing predicts its first token, but the length L counts it.
    `value_mask_BT` marks F.
    """
    logp_BTV = log_softmax(logits_BTV)
    aim_BTV = torch.where(value_mask_BT[..., None], -math.log(logp_BTV.shape[-1]), log_softmax(ref_logits_BTV))
    kl_BT = divergence(logp_BTV, aim_BTV)
    length_B = mask_BT.sum(-1) + 1
    marked = {"forget": mask_BT & value_mask_BT, "retain": mask_BT & ~value_mask_BT}
    return {name: torch.where(mask, kl_BT, 0.0).sum(-1) / length_B for name, mask in marked.items()}
