"""Round the weights to a few bits: the small changes made by unlearning may be rounded away.

Zhang et al. 2024, "Catastrophic Failure of LLM Unlearning via Quantization"; in leak-resistant unlearning INT4, greedy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

KIND = "weights"
PARAMS = {"bits": 4, "group_size": 32}
LIMITS = {"bits": {"ge": 2, "le": 8}, "group_size": {"ge": 1, "divides": ("hidden", "intermediate")}}


class QuantizeError(ValueError):
    """A model cannot be quantised as asked; the message names the layer or number and what is allowed."""


def quantize(model: "PreTrainedModel", bits: int, group_size: int) -> "PreTrainedModel":
    """`model` with the weights of its linear layers rounded to `bits` bits; changed in place and returned.

    Symmetric, per group of `group_size` neighbours within an output row: s = max|w| / ((2^bits − 1)/2) and
    ŵ = s · clamp(round(w/s), −2^(bits−1), 2^(bits−1) − 1), by torchao's IntxWeightOnlyConfig. The rounded values are
    put back in the model's own dtype, at most 2^bits distinct ones a group: weight-only quantisation computes with
    exactly these numbers, so the result is a normal model that loads anywhere. It saves no memory and is not meant to.
    Embeddings, norms, biases and the output head (often tied to the embeddings) stay as they are, as GPTQ, AWQ and
    bitsandbytes leave them by default.

    Raises QuantizeError for bits outside 2–8 or a group size that does not divide a layer's inputs.
    """
    import torch
    from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_

    if bits not in range(2, 9):
        raise QuantizeError(f"bits {bits}: should be a whole number from 2 to 8")
    head = model.get_output_embeddings()
    layers = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and m is not head}
    for name, layer in layers.items():
        if group_size < 1 or layer.in_features % group_size:
            raise QuantizeError(f"group_size {group_size} does not divide the {layer.in_features} inputs of {name}")
    config = IntxWeightOnlyConfig(getattr(torch, f"int{bits}"), PerGroup(group_size))
    quantize_(model, config, filter_fn=lambda module, name: name in layers)
    for layer in layers.values():
        layer.weight = torch.nn.Parameter(layer.weight.dequantize(), requires_grad=False)
    return model
