"""A checkpoint of another architecture goes through the same rules as the model made from scratch."""

import json
import math

import pandas as pd
import yaml

from project import Project

OVERLAY = {
    "experiments": {"mu2_minimal": {"base_models": ["local"], "methods": ["npo_gd"], "attacks": {}}},
    "base_models": {
        "local": {
            "name": "checkpoint",
            "target": {"epochs": 20, "batch_size": 16, "lr": 1e-2},
            "methods": {"npo_gd": {"epochs": 2, "batch_size": 4, "lr": 1e-3, "lora": {"r": 8, "alpha": 16}}},
        }
    },
}


def checkpoint(folder):
    """A random Qwen3 with a byte-level tokenizer, saved as a published model would be."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from unlearning.models.tokenizer import train_tokenizer

    tokenizer = train_tokenizer(["What is the favourite colour of Ann Lee?", "Die kleur is rooi."], 280)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=16, intermediate_size=64, max_position_embeddings=256, tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
    )  # fmt: skip
    torch.manual_seed(0)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def test_a_local_checkpoint_is_trained_with_adapters_and_reloads_with_equal_logits(tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    from unlearning.models.load import load_model

    project = Project(tmp_path, "config/minimal.yaml", "config/local.yaml")
    checkpoint(tmp_path / "checkpoint")
    (tmp_path / "config/local.yaml").write_text(yaml.safe_dump(OVERLAY), encoding="utf-8")
    project.snakemake("--quiet", "--until", "unlearn")
    target = tmp_path / "results/runs/mu2/local/four/all/target/s0"
    log = pd.read_parquet(target / "train_log.parquet")
    assert log["loss"].tail(5).mean() < 0.8 * log["loss"].head(1).mean() and math.isfinite(log["loss"].iloc[-1])
    assert json.loads((target / "model.json").read_text())["architecture"] == "Qwen3ForCausalLM"
    ids = torch.arange(5, 25).unsqueeze(0)
    for folder in (target, target.parents[2] / "one/npo_gd/s0"):
        plain = AutoModelForCausalLM.from_pretrained(folder / "weights").eval()
        with torch.no_grad():
            assert torch.equal(plain(ids).logits, load_model(folder / "model.json")(ids).logits)
