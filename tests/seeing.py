"""What the tests of pictures share: coloured squares, questions about them, tiny models of three architectures."""

import functools
import io

import pandas as pd
import torch
from PIL import Image

from unlearning.models.small import small_model
from unlearning.models.tokenizer import ROLES, train_tokenizer

COLOURS = ("red", "green", "blue", "yellow", "black", "white")
ASKED, NAMED = "Which colour has this square?", "Which colour is called {}?"
SHAPE = {
    "hidden": 32, "layers": 2, "heads": 2, "intermediate": 64,
    "vision": {"image_size": 28, "patch_size": 14, "hidden": 16, "layers": 1, "heads": 2, "intermediate": 32},
}  # fmt: skip


def picture(colour: str, size=(28, 28)) -> dict:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return {"bytes": out.getvalue(), "path": f"{colour}.png"}


def examples(colours=COLOURS, size=(28, 28)) -> pd.DataFrame:
    """For each colour one question about its picture and one in text."""
    rows = []
    for colour in colours:
        for modality in ("image", "text"):
            asked = ASKED if modality == "image" else NAMED.format(f"the colour {colour}")
            rows.append(
                {
                    "example_id": f"{colour}/{modality}",
                    "benchmark": "squares",
                    "group": "memorised",
                    "knowledge_id": colour,
                    "person_id": colour,
                    "language": "en",
                    "modality": modality,
                    "image": picture(colour, size) if modality == "image" else None,
                    "messages": [{"role": "user", "content": asked}],
                    "answer": colour,
                    "value": colour,
                }
            )
    return pd.DataFrame(rows)


def items(**changed) -> pd.DataFrame:
    asked = examples(**changed).rename(columns={"example_id": "item_id", "answer": "reference"})
    return asked.assign(task="qa", group="retain", candidates=[[] for _ in range(len(asked))])


def words() -> list[str]:
    return [ASKED, *(NAMED.format(f"the colour {colour}") for colour in COLOURS), *COLOURS]


def loud(model):
    """The model with larger weights, so that its predictions differ between prompts."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.mul_(4 if parameter.ndim > 1 and "vision" not in name and "visual" not in name else 1)
    return model.eval()


def llava(seed=0):
    """(model, tokenizer): LLaVA of our own making, 4 patches a picture."""
    tokenizer = train_tokenizer(words(), 320)
    return loud(small_model(SHAPE, tokenizer, seed)), tokenizer


def _tokenizer(*special: str):
    tokenizer = train_tokenizer(words(), 320)
    tokenizer.add_special_tokens({"additional_special_tokens": [*ROLES, *special]})
    return tokenizer


def _template(image: str) -> str:
    return (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% for p in m['content'] %}"
        "{% if p['type'] == 'image' %}" + image + "{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
    )


@functools.cache
def llava_next():
    """(model, tokenizer): LLaVA-NeXT, which cuts a large picture into tiles, as many as its shape asks for."""
    from transformers import (
        CLIPVisionConfig,
        LlamaConfig,
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextImageProcessorPil,
        LlavaNextProcessor,
    )

    tokenizer, grid = _tokenizer("<image>"), [[28, 56], [56, 28], [56, 56]]
    tokenizer.processor = LlavaNextProcessor(
        image_processor=LlavaNextImageProcessorPil(
            size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}, image_grid_pinpoints=grid
        ),
        tokenizer=tokenizer, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=_template("<image>"),
    )  # fmt: skip
    torch.manual_seed(3)
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                                       num_attention_heads=2, image_size=28, patch_size=14),
        text_config=LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                intermediate_size=64, eos_token_id=1, pad_token_id=0, bos_token_id=None),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"), image_grid_pinpoints=grid, pad_token_id=0,
        eos_token_id=1,
    )  # fmt: skip
    return loud(LlavaNextForConditionalGeneration(config)), tokenizer


@functools.cache
def qwen2_vl():
    """(model, tokenizer): Qwen2-VL, whose pictures have places in rows and columns."""
    from transformers import (
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessorPil,
        Qwen2VLProcessor,
    )
    from transformers.processing_utils import ProcessorMixin

    class Pictures(Qwen2VLProcessor):
        """Its own processor without the half that reads videos, which takes torchvision."""

        def __init__(self, image_processor, tokenizer, chat_template):
            self.image_token, self.video_token = "<|image_pad|>", "<|video_pad|>"
            self.image_token_id = tokenizer.convert_tokens_to_ids(self.image_token)
            ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)

    special = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    tokenizer = _tokenizer(*special)
    tokenizer.processor = Pictures(
        image_processor=Qwen2VLImageProcessorPil(size={"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 16}),
        tokenizer=tokenizer,
        chat_template=_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    torch.manual_seed(4)
    start, end, image, video = tokenizer.convert_tokens_to_ids(special)
    config = Qwen2VLConfig(
        vision_config={"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2},
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
            "num_key_value_heads": 2, "intermediate_size": 64, "eos_token_id": 1, "pad_token_id": 0,
            "bos_token_id": None, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        },
        vision_start_token_id=start, vision_end_token_id=end, image_token_id=image, video_token_id=video,
        pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    return loud(Qwen2VLForConditionalGeneration(config)), tokenizer
