"""The bare loop that ours is measured against: torch and transformers alone, nothing of this project.

`run` trains the weights of a folder on its batches (`batches.pt`: per step, side → tensors), written as
short as the same arithmetic allows: logits only where an answer is predicted, fused AdamW, linear schedule, clipping.
It logs nothing but the losses, makes no batch, and watches for no collapse.
"""

import time
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy, logsigmoid
from transformers import AutoModelForCausalLM, get_scheduler

# What a step holds of each side, forget and retain; prompts are padded on the left, answers on the right. The forget
# side also has `ref_logprob`, the reference model's log p of each answer.
TENSORS = ("input_ids", "attention_mask", "position_ids", "labels", "mask")


def nll(model, side: dict[str, torch.Tensor]) -> torch.Tensor:
    """−log p of each answer token in nats (examples × answer columns), 0 where masked."""
    fed = {name: side[name][:, :-1] for name in ("input_ids", "attention_mask", "position_ids")}
    logits = model(**fed, logits_to_keep=side["labels"].shape[1], use_cache=False).logits
    return (
        cross_entropy(logits.flatten(0, 1), side["labels"].flatten(), reduction="none").view_as(side["labels"])
        * side["mask"]
    )


def mean_nll(model, side: dict[str, torch.Tensor]) -> torch.Tensor:
    """Mean over the examples of the mean over an answer's tokens."""
    return (nll(model, side).sum(-1) / side["mask"].sum(-1)).mean()


def ga(model, side: dict[str, torch.Tensor], beta: float) -> torch.Tensor:
    """Gradient ascent."""
    return -mean_nll(model, side)


def npo(model, side: dict[str, torch.Tensor], beta: float) -> torch.Tensor:
    """Negative preference optimisation with the reference's log-probabilities at hand."""
    return (-(2 / beta) * logsigmoid(beta * (nll(model, side).sum(-1) + side["ref_logprob"]))).mean()


FORGET = {"ga": ga, "npo": npo}


def run(folder: Path, forget: str, lr: float, warmup: int, clip: float, beta: float) -> dict:
    """Train by the sum of forget term `forget` and gradient descent on the retain side.

    Returns the `losses` of each step's two sides, the `tokens` fed, and of all steps the `seconds` that passed and the
    seconds that this process computed (`cpu`).
    """
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train()
    steps = torch.load(Path(folder) / "batches.pt", weights_only=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0, fused=True)
    schedule = get_scheduler("linear", optimizer, warmup, len(steps))
    started, computed, losses, tokens = time.perf_counter(), time.process_time(), [], 0
    for step in steps:
        forget_loss = FORGET[forget](model, step["forget"], beta)
        forget_loss.backward()
        retain_loss = mean_nll(model, step["retain"])
        retain_loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append((forget_loss.item(), retain_loss.item()))
        tokens += sum(int(side["attention_mask"].sum()) for side in step.values())
    seconds, cpu = time.perf_counter() - started, time.process_time() - computed
    return {"losses": losses, "tokens": tokens, "seconds": seconds, "cpu": cpu}
