"""Representation misdirection (RMU): push what a layer puts out towards a random direction."""

import torch

from unlearning.models.layers import layer_number
from unlearning.train.nll import token_mean

INPUTS = ("hidden_BSD", "sequence_mask_BS", "unit_D")
PARAMS = {"c": 6.5, "layer": None}
LIMITS = {"c": {"gt": 0}, "layer": {"ge": 0, "below": "layers"}}
ANSWERS = "reference"
NEEDS = ()
UNIT = "squared activation"
ALTERNATES = True


def loss(hidden_BSD: torch.Tensor, sequence_mask_BS: torch.Tensor, unit_D: torch.Tensor, c: float) -> torch.Tensor:
    """Mean over all tokens of ‖h_θ − c·u‖² per example, ≥ 0, in squared activations; lower is more forgotten.

    h_θ is what decoder layer `layer` puts out (null: 7/32 of the depth, see `unlearning.models.layers.layer_number`),
    over prompt and answer, padding left out; u a random unit vector, the same throughout a run (Li et al. 2024, WMDP,
    section 4; leak, eq. 5). With `retain: mse_hidden`, `retain_weight` is their α. c 6.5 is theirs for a 7B model (our
    reading of 2 to 6.5): a small model's activations are smaller.
    """
    hidden_BSD = hidden_BSD.to(torch.promote_types(hidden_BSD.dtype, torch.float32))
    away_BSD = hidden_BSD - c * unit_D.to(hidden_BSD)
    return token_mean(away_BSD.square().sum(-1), sequence_mask_BS)


def trained_layers(depth: int, layer: int | None) -> range:
    """Layers l−2, l−1 and l, as far as they exist: only these train."""
    number = layer_number(layer, depth)
    return range(max(number - 2, 0), number + 1)
