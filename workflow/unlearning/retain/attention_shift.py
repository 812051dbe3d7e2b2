"""Attention shifting (AS): look at the important tokens of what is to be kept."""

import torch

from unlearning.train.attention import chosen_layers, shift_divergence

INPUTS = ("attention_LBHSS", "ref_attention_LBHSS", "sequence_mask_BS", "spans_BS")
PARAMS = {"shift": 0.7, "spans": "entropy", "pipeline": "en_core_web_sm", "first_layer": 0, "last_layer": None}
LIMITS = {
    "shift": {"ge": 0, "lt": 1},
    "spans": ("value", "entropy", "pos", "entities"),
    "first_layer": {"ge": 0, "below": "layers"},
    "last_layer": {"ge": 0, "below": "layers"},
}
ANSWERS = "reference"
NEEDS = ("reference_model", "attention")


def loss(
    attention_LBHSS: tuple[torch.Tensor, ...],
    ref_attention_LBHSS: tuple[torch.Tensor, ...],
    sequence_mask_BS: torch.Tensor,
    spans_BS: torch.Tensor,
    shift: float,
) -> torch.Tensor:
    """Σ_layers Σ_heads mean_i KL(A_θ,i ‖ A*_i), A*_ij ∝ A^ref_ij (1 + λ·1[j important]), per example in nats, ≥ 0.

    As the forget term of the same name, with more attention to the important tokens instead of less (leak, eq. 8, L_R);
    lower looks at them more. λ is `shift`; its weight, their 1 − α, is `retain_weight`.
    """
    return shift_divergence(attention_LBHSS, ref_attention_LBHSS, sequence_mask_BS, spans_BS > 0, 1 + shift)


def trained_layers(depth: int, first_layer: int, last_layer: int | None) -> range:
    """Layers `first_layer` to `last_layer`: only these train, or their adapters."""
    return chosen_layers(depth, first_layer, last_layer)
