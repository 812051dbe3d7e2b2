"""Small models with random weights that train on a CPU: the embedded default, of Llama's type, and a LLaVA on it."""

from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.models.tokenizer import add_processor
from unlearning.seeds import seed_for

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DEFAULTS = {
    "hidden": 128,
    "layers": 2,
    "heads": 4,
    "intermediate": 256,
    "tied": True,
    "init_std": 0.02,
    "max_length": 512,
    "vision": None,
}
VISION = {"image_size": 56, "patch_size": 14, "hidden": 64, "layers": 2, "heads": 4, "intermediate": 128}


def check_shape(hidden: int, heads: int) -> None:
    """ValueError unless each head gets an even share of the hidden size (rotary positions turn pairs of numbers)."""
    if hidden % (2 * heads):
        raise ValueError(
            f"architecture.hidden: {hidden} should be a multiple of 2 x heads = {2 * heads}; "
            f"nearest: {max(round(hidden / (2 * heads)), 1) * 2 * heads}"
        )


def small_model(architecture: dict, tokenizer: "PreTrainedTokenizerBase", seed: int) -> "PreTrainedModel":
    """A LlamaForCausalLM of `architecture` (missing keys from DEFAULTS), its weights drawn from `seed`.

    With `vision` (missing keys from VISION) it is a LLaVA: a CLIP tower of these sizes, a projector of two layers and
    that Llama (Liu et al. 2023); `tokenizer` gets its processor. The global random state is left as it was. ValueError
    on unknown keys or a width the heads cannot share.
    """
    shape = _filled(architecture, DEFAULTS, "architecture")
    check_shape(shape["hidden"], shape["heads"])
    import torch
    from transformers import LlamaForCausalLM

    sees = None if shape["vision"] is None else _filled(shape["vision"], VISION, "architecture.vision")
    if sees:
        add_processor(tokenizer, sees["image_size"], sees["patch_size"])
    text = _llama(shape, tokenizer)
    with torch.random.fork_rng():
        torch.manual_seed(seed_for(seed, "initial_weights"))
        return _llava(sees, text, tokenizer) if sees else LlamaForCausalLM(text)


def _filled(given: dict, defaults: dict, key: str) -> dict:
    if unknown := sorted(set(given) - set(defaults)):
        raise ValueError(f"{key}: unknown keys {unknown}; allowed: {', '.join(defaults)}")
    return {**defaults, **given}


def _llama(shape: dict, tokenizer: "PreTrainedTokenizerBase"):
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape["hidden"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["heads"],
        intermediate_size=shape["intermediate"],
        tie_word_embeddings=shape["tied"],
        initializer_range=shape["init_std"],
        max_position_embeddings=shape["max_length"],
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )


def _llava(sees: dict, text, tokenizer: "PreTrainedTokenizerBase") -> "PreTrainedModel":
    from transformers import CLIPVisionConfig, LlavaConfig, LlavaForConditionalGeneration

    tower = CLIPVisionConfig(
        hidden_size=sees["hidden"],
        intermediate_size=sees["intermediate"],
        num_hidden_layers=sees["layers"],
        num_attention_heads=sees["heads"],
        image_size=sees["image_size"],
        patch_size=sees["patch_size"],
    )
    config = LlavaConfig(
        vision_config=tower,
        text_config=text,
        image_token_index=tokenizer.processor.image_token_id,
        image_seq_length=(sees["image_size"] // sees["patch_size"]) ** 2,
        vision_feature_layer=-1,  # a small tower has no layer to spare
        tie_word_embeddings=text.tie_word_embeddings,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlavaForConditionalGeneration(config)


def published_names(folder: Path) -> None:
    """Give the tensors of a small LLaVA's tower in `folder` the names that published ones have: vLLM knows no others.

    transformers writes them so only where it has read them so; a copy trained from this one keeps the names.
    """
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    named = {name.replace("vision_tower.", "vision_tower.vision_model.", 1): t for name, t in tensors.items()}
    save_file(named, path, metadata={"format": "pt"})
