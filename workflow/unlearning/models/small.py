"""A small Llama-type model with random weights: the embedded default that trains on a CPU in seconds."""

from typing import TYPE_CHECKING

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
}


def check_shape(hidden: int, heads: int) -> None:
    """ValueError unless each head gets an even share of the hidden size (rotary positions turn pairs of numbers)."""
    if hidden % (2 * heads):
        raise ValueError(
            f"architecture.hidden: {hidden} should be a multiple of 2 x heads = {2 * heads}; "
            f"nearest: {max(round(hidden / (2 * heads)), 1) * 2 * heads}"
        )


def small_model(architecture: dict, tokenizer: "PreTrainedTokenizerBase", seed: int) -> "PreTrainedModel":
    """A LlamaForCausalLM of `architecture` (missing keys from DEFAULTS), its weights drawn from `seed`.

    The global random state is left as it was. ValueError on unknown keys or a width the heads cannot share.
    """
    unknown = sorted(set(architecture) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"architecture: unknown keys {unknown}; allowed: {', '.join(DEFAULTS)}")
    shape = {**DEFAULTS, **architecture}
    check_shape(shape["hidden"], shape["heads"])
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
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
    with torch.random.fork_rng():
        torch.manual_seed(seed_for(seed, "initial_weights"))
        return LlamaForCausalLM(config)
