"""What a model that sees is given of a picture: tokens in its place in the prompt, and numbers beside the tokens.

A multimodal model's processor travels with its tokenizer, as the attribute `processor`, so that whatever deals in text
alone needs to know nothing of it. Each distinct picture is looked at once, however many questions are about it.
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from transformers import PreTrainedTokenizerBase, ProcessorMixin

TEXT_ONLY = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids")


class PictureError(ValueError):
    """A picture cannot be shown to the model; the message says which and why."""


class Seen(NamedTuple):
    """A picture as the model is shown it: `ids` stand in the place of the placeholder, `inputs` go to its forward.

    The first axis of each input is this picture's own: images, tiles or patches, as the model has them.
    """

    ids: list[int]
    inputs: "dict[str, torch.Tensor]"


def processor_of(tokenizer: "PreTrainedTokenizerBase") -> "ProcessorMixin | None":
    """The processor that came with `tokenizer`; None of a model of text only."""
    return getattr(tokenizer, "processor", None)


def pictures(table: "pd.DataFrame") -> list[dict | None]:
    """Column `image` of items or examples: {bytes, path}, or None where a row has none or the table has no column."""
    if "image" not in table:
        return [None] * len(table)
    return [image if isinstance(image, dict) else None for image in table["image"]]


def look(tokenizer: "PreTrainedTokenizerBase", images: Sequence[Mapping | None]) -> list[Seen | None]:
    """Each of `images`, {bytes, path} or None, as the model is shown it.

    Raises PictureError where there is a picture but the model has no processor, and for bytes that are no picture.
    """
    processor = processor_of(tokenizer)
    if processor is None and any(image is not None for image in images):
        raise PictureError(
            "the questions show pictures, but the model reads text only; take a base model that sees (architecture: "
            "{vision: {}}, or the name of one with a processor), or leave out the questions of modality image"
        )
    seen: dict[bytes, Seen] = {}
    for image in images:
        if image is not None and image["bytes"] not in seen:
            seen[image["bytes"]] = _see(processor, image)
    return [None if image is None else seen[image["bytes"]] for image in images]


def _see(processor: "ProcessorMixin", image: Mapping) -> Seen:
    inputs = processor(
        text=[processor.image_token], images=[opened(image)], return_tensors="pt", add_special_tokens=False
    )
    found = {name: tensor for name, tensor in inputs.items() if name not in TEXT_ONLY}
    return Seen(inputs["input_ids"][0].tolist(), found)


def opened(image: Mapping):
    """The picture `image`, {bytes, path}, as Pillow has it, in red, green and blue. PictureError where it is none."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(image["bytes"])).convert("RGB")
    except (OSError, TypeError, SyntaxError) as error:
        raise PictureError(f"image {image['path']!r}: its bytes are no picture ({error})") from error


def shown(turns: Sequence[Mapping], picture: bool) -> list[dict]:
    """`turns` as the template of a processor takes them, with a `picture` before the text of the user's last turn.

    Solved questions that an attack puts before the question are in text.
    """
    parts = [{**turn, "content": [{"type": "text", "text": turn["content"]}]} for turn in turns]
    if picture:
        last = next((turn for turn in reversed(parts) if turn["role"] == "user"), None)
        if last is None:
            raise PictureError("a picture without a question (no turn of the user) cannot be shown")
        last["content"].insert(0, {"type": "image"})
    return parts


def placed(ids: Sequence[int], placeholder: int, seen: Seen | None) -> list[int]:
    """`ids` with what stands for the picture in the place of its `placeholder`. PictureError unless that is there once.

    A text that spells out the placeholder would stand for a picture that nobody shows.
    """
    ids = list(ids)
    if ids.count(placeholder) != (seen is not None):
        raise PictureError(
            f"a prompt {'with' if seen else 'without'} a picture holds {ids.count(placeholder)} placeholders for one: "
            "the chat template drops pictures, or the text itself spells the placeholder out; change either"
        )
    if seen is None:
        return ids
    at = ids.index(placeholder)
    return [*ids[:at], *seen.ids, *ids[at + 1 :]]


def together(pictures: Sequence[Seen | None]) -> "dict[str, torch.Tensor]":
    """The inputs of several pictures as one, along the first axis; the others are filled up with zeros to the largest.

    So LLaVA-NeXT's own processor pads the tiles of pictures of several shapes. Empty where there is no picture.
    """
    import torch

    found = [seen.inputs for seen in pictures if seen is not None]
    if not found:
        return {}
    joined = {}
    for name in found[0]:
        tensors = [inputs[name] for inputs in found]
        shape = torch.tensor([tensor.shape[1:] for tensor in tensors]).amax(0).tolist() if tensors[0].ndim > 1 else []
        joined[name] = torch.cat([_filled(tensor, shape) for tensor in tensors])
    return joined


def _filled(tensor: "torch.Tensor", shape: Sequence[int]) -> "torch.Tensor":
    import torch

    if list(tensor.shape[1:]) == list(shape):
        return tensor
    whole = torch.zeros((len(tensor), *shape), dtype=tensor.dtype)
    whole[(slice(None), *(slice(n) for n in tensor.shape[1:]))] = tensor
    return whole
