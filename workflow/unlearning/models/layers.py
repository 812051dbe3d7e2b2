"""Inside a model: its decoder layers, what one of them puts out, the attention maps of all, and which of them train.

Shapes: B examples, S columns (prompt and answer), D hidden size, H heads, L layers. Layers are counted from 0, as
PyTorch counts them and as RMU's public code does.
"""

import contextlib
from collections.abc import Iterable, Iterator

import torch
from torch import nn

from unlearning.models.encode import Batch
from unlearning.models.forward import core, run


class LayerError(ValueError):
    """A model has no such layer, or does not show what is inside it; the message says how to mend it."""


def decoder_of(model: nn.Module) -> nn.Module:
    """The module that holds `model`'s decoder layers as its `layers`, under whatever wraps the model.

    LayerError for an architecture that keeps them elsewhere.
    """
    inner = core(model)
    decoder = inner.get_decoder() if hasattr(inner, "get_decoder") else getattr(inner, "model", None)
    if not isinstance(getattr(decoder, "layers", None), nn.ModuleList):
        raise LayerError(
            f"{type(inner).__name__} does not keep its decoder layers in model.layers, so a term on hidden states or "
            "chosen layers cannot reach them; use a term on predictions, or a model of the Llama, Qwen or Gemma kind"
        )
    return decoder


def depth_of(model: nn.Module) -> int:
    """How many decoder layers `model` has."""
    return len(decoder_of(model).layers)


def layer_number(layer: int | None, depth: int) -> int:
    """`layer` of a model of `depth` layers; None is 7/32 of the depth, rounded, at least 2, at most the last one.

    So it is layer 7 of 32, as RMU took, 8 of 36, 2 of up to 11 (our reading: the papers name layers of one 7B model
    only). LayerError where the model has no such layer.
    """
    if layer is None:
        return min(max(round(7 * depth / 32), 2), depth - 1)
    if not 0 <= layer < depth:
        raise LayerError(f"params.layer: {layer} is not there; this model has layers 0 to {depth - 1}")
    return layer


def hidden_states(model: nn.Module, batch: Batch, layer: int | None = None) -> torch.Tensor:
    """`hidden_BSD`: what decoder layer `layer` (see `layer_number`) puts out, before any final norm.

    The layers behind it are not run, and no logits but the last column's are made.
    """
    decoder, seen = decoder_of(model), []
    number = layer_number(layer, len(decoder.layers))
    hook = decoder.layers[number].register_forward_hook(lambda module, given, out: seen.append(out))
    try:
        with _only_first(decoder, number + 1):
            run(model, batch, logits_to_keep=1)
    finally:
        hook.remove()
    return seen[0][0] if isinstance(seen[0], tuple) else seen[0]


@contextlib.contextmanager
def _only_first(decoder: nn.Module, n: int) -> Iterator[None]:
    whole = decoder.layers
    decoder.layers = whole[:n]
    try:
        yield
    finally:
        decoder.layers = whole


def attention_maps(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, ...]:
    """`attention_LBHSS`: per layer, how much each query (row) of a head attends to each key (column); rows sum to 1.

    Rows of padding hold anything. LayerError where the model's attention is of a kind that does not give its weights.
    """
    maps = run(model, batch, logits_to_keep=1, output_attentions=True).attentions
    if not maps or any(map_BHSS is None for map_BHSS in maps):
        raise LayerError(
            f"attention {core(model).config._attn_implementation!r} gives no attention weights; load the model with "
            'attn_implementation="eager", or call model.set_attn_implementation("eager")'
        )
    return maps


@contextlib.contextmanager
def showing_attention(*models: nn.Module | None) -> Iterator[None]:
    """Inside, `models` compute attention in the plain way (`eager`), the only one that gives its weights."""
    before = [(model, model.config._attn_implementation) for model in models if model is not None]
    try:
        for model, _ in before:
            model.set_attn_implementation("eager")
        yield
    finally:
        for model, implementation in before:
            model.set_attn_implementation(implementation)


def train_only(model: nn.Module, numbers: Iterable[int]) -> None:
    """Freeze every parameter outside the decoder layers `numbers`; under an adapter, those of the adapter.

    What was frozen stays so. LayerError where nothing is left to train.
    """
    layers, numbers = decoder_of(model).layers, list(numbers)
    chosen = {id(parameter) for number in numbers for parameter in layers[number].parameters()}
    for parameter in model.parameters():
        parameter.requires_grad_(parameter.requires_grad and id(parameter) in chosen)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise LayerError(
            f"nothing is left to train in layers {numbers}: the adapter has no weights there; give lora.targets that "
            "those layers have, e.g. all-linear"
        )
