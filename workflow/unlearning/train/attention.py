"""What both sides of attention shifting compute. Shapes as in `unlearning.models.layers`; nats."""

from collections.abc import Iterable

import torch

from unlearning.models.layers import LayerError
from unlearning.train.nll import token_mean

TINY = 1e-37


def shift_divergence(
    attention_LBHSS: Iterable[torch.Tensor],
    ref_attention_LBHSS: Iterable[torch.Tensor],
    mask_BS: torch.Tensor,
    important_BS: torch.Tensor,
    factor: float,
) -> torch.Tensor:
    """Σ_layers Σ_heads mean_i KL(A_θ,i ‖ A*_i) per example in nats, ≥ 0, over the query rows i that are tokens.

    A*_ij ∝ A^ref_ij · (factor where token j is important, else 1), without gradient; each row sums to 1 again over its
    keys, the tokens j ≤ i. Padding is neither query nor key. Weights below 1e-37 count as 1e-37, so that the value and
    its gradient stay finite where attention vanishes.
    """
    S = mask_BS.shape[-1]
    causal_SS = torch.ones(S, S, dtype=torch.bool, device=mask_BS.device).tril()
    keys_B1SS = (mask_BS[:, None, :, None] & mask_BS[:, None, None, :]) & causal_SS
    important_B11S = important_BS[:, None, None, :]
    total_B = 0.0
    for map_BHSS, ref_BHSS in zip(attention_LBHSS, ref_attention_LBHSS, strict=True):
        least = torch.promote_types(map_BHSS.dtype, torch.float32)
        map_BHSS = torch.where(keys_B1SS, map_BHSS.to(least), 0.0)
        wanted_BHSS = torch.where(keys_B1SS, ref_BHSS.detach().to(least), 0.0)
        wanted_BHSS = torch.where(important_B11S, factor * wanted_BHSS, wanted_BHSS)
        wanted_BHSS = wanted_BHSS / wanted_BHSS.sum(-1, keepdim=True).clamp_min(TINY)
        ratio_BHSS = map_BHSS.clamp_min(TINY).log() - wanted_BHSS.clamp_min(TINY).log()
        total_B = total_B + token_mean((map_BHSS * ratio_BHSS).sum((1, 3)), mask_BS)
    return total_B


def chosen_layers(depth: int, first_layer: int, last_layer: int | None) -> range:
    """Layers `first_layer` to `last_layer` (None = the last) of `depth`. LayerError where there are none such."""
    last = depth - 1 if last_layer is None else last_layer
    if not 0 <= first_layer <= last < depth:
        raise LayerError(
            f"params.first_layer {first_layer}, params.last_layer {last}: this model has layers 0 to {depth - 1}; "
            "give two of them, the first not behind the last"
        )
    return range(first_layer, last + 1)
