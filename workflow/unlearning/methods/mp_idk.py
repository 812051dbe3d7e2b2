"""MP-IDK: in a mixed prompt, a refusal of the forget question and the answer to the other."""

import torch

from unlearning.train import mixed
from unlearning.train.loop import Trained
from unlearning.train.terms import Term
from unlearning.train.unlearn import Given

PARAMS = {}
TAUGHT = "questions"
LIMITS = {}
NEEDS = ("refusals",)
COST = {"forward": 2, "reference": 0}

INPUTS = ("logprobs_BT", "mask_BT", "value_mask_BT")


def unlearn(given: Given) -> Trained:
    """(forget_weight · Σ_refusal CE + retain_weight · Σ_others CE) / the answers' length, both orders (SEPS).

    The others are all other tokens of the answering turn: the retain answer, the numbers, the end (our reading of the
    paper's index set, which is all that is no question). With both weights 1 it is the mean CE over both answers.
    """
    return mixed.unlearn(given, Term("methods.mp_idk", losses, {}, INPUTS, "refusal", NEEDS), whole=False)


def losses(logprobs_BT: torch.Tensor, mask_BT: torch.Tensor, value_mask_BT: torch.Tensor) -> dict[str, torch.Tensor]:
    """Both parts per text, nats, ≥ 0, their sum the mean token NLL of the turn. `value_mask_BT` marks the refusal."""
    marked = {"forget": mask_BT & value_mask_BT, "retain": mask_BT & ~value_mask_BT}
    return {name: -torch.where(mask, logprobs_BT, 0.0).sum(-1) / mask_BT.sum(-1) for name, mask in marked.items()}
