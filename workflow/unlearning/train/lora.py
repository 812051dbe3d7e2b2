"""Low-rank adapters by one key, merged before a model is saved."""

import torch
from transformers import PreTrainedModel

from unlearning.seeds import seed_for
from unlearning.train.plan import LORA


def add_lora(model: PreTrainedModel, lora: dict, seed: int):
    """`model` frozen under an adapter {r, alpha, dropout, targets} (Hu et al. 2022), its weights drawn from `seed`.

    `targets` null takes PEFT's choice for the architecture; `all-linear` takes every linear layer but the head.
    """
    from peft import LoraConfig, get_peft_model

    own = {**LORA, **lora}
    config = LoraConfig(
        r=own["r"],
        lora_alpha=own["alpha"],
        lora_dropout=own["dropout"],
        target_modules=own["targets"],
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed_for(seed, "lora"))
        return get_peft_model(model, config)


def merge_lora(model) -> PreTrainedModel:
    """The plain model with the adapter added into its weights."""
    return model.merge_and_unload()
