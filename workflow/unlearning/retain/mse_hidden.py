"""Keep what a layer puts out where the reference model has it: the retain side of RMU."""

import torch

from unlearning.train.nll import token_mean

INPUTS = ("hidden_BSD", "ref_hidden_BSD", "sequence_mask_BS")
PARAMS = {"layer": None}
LIMITS = {"layer": {"ge": 0, "below": "layers"}}
ANSWERS = "reference"
NEEDS = ("reference_model",)
UNIT = "squared activation"


def loss(hidden_BSD: torch.Tensor, ref_hidden_BSD: torch.Tensor, sequence_mask_BS: torch.Tensor) -> torch.Tensor:
    """Mean over all tokens of ‖h_θ − h_ref‖² per example, ≥ 0, in squared activations; 0 where both models agree.

    h is what decoder layer `layer` puts out (null: 7/32 of the depth), over prompt and answer, padding left out (Li et
    al. 2024, WMDP, section 4; leak, eq. 5). Its weight α is `retain_weight`: 1200 for a 7B model, to be searched for a
    small one. It starts at 0 and is no number of nats, so that a run with it is not watched for collapse.
    """
    least = torch.promote_types(hidden_BSD.dtype, torch.float32)
    away_BSD = hidden_BSD.to(least) - ref_hidden_BSD.to(least)
    return token_mean(away_BSD.square().sum(-1), sequence_mask_BS)
