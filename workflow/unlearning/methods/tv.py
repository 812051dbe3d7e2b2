"""Task vector: what training on the forget set adds to the weights is subtracted from them."""

import functools
import os
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import TrainerCallback

from unlearning.models.encode import pad_id
from unlearning.models.load import ModelError, weights_folder
from unlearning.retain import gd
from unlearning.train.data import Schedule
from unlearning.train.loop import Side, Trained, train
from unlearning.train.rows import encode_rows
from unlearning.train.terms import term_of
from unlearning.train.unlearn import Given

PARAMS = {"alpha": 1.0, "overfit_nll": 0.01, "reduction": "token_mean"}
LIMITS = {"alpha": {"ge": 0}, "overfit_nll": {"ge": 0}, "reduction": ("token_mean", "sequence_sum")}
NEEDS = ()
COST = {"forward": 1, "reference": 0}


def unlearn(given: Given) -> Trained:
    """θ_u = θ_l − α (θ_over − θ_l): θ_l the target, θ_over the target trained on F alone (Ilharco et al. 2023).

    θ_over is overfit, our reading, when the loss averaged over an epoch is at most `overfit_nll` nats, after `epochs`
    passes at the latest (0: after all of them). The log and the facts are of this training; the subtraction is done on
    the saved files, see `subtract`.
    """
    plan, tokenizer, own = given.plan, given.tokenizer, given.plan.own()
    rows = encode_rows(tokenizer, given.forget, plan.max_length)
    schedule = Schedule(len(rows), plan.batch_size, plan.epochs, given.seed)
    side = Side("forget", term_of(gd, own), plan.forget_weight, rows)
    finish = functools.partial(subtract, given.target, alpha=own["alpha"])
    after = {epoch: functools.partial(hand, finish=finish) for epoch, hand in (given.after or {}).items()}
    trained = train(
        given.model,
        [side],
        lambda step: [schedule.leading(step)],
        schedule.steps_per_epoch,
        plan,
        given.seed,
        pad_id(tokenizer),
        **given._replace(after=after).running,
        callbacks=[Overfit(schedule.steps_per_epoch, own["overfit_nll"])],
    )
    return trained._replace(finish=finish)


class Overfit(TrainerCallback):
    """Stops after the first epoch whose mean loss is at most `nll` nats."""

    def __init__(self, steps_per_epoch: int, nll: float) -> None:
        self.steps_per_epoch, self.nll = steps_per_epoch, nll

    def on_step_end(self, args, state, control, **kwargs):
        """The log, which checkpoints keep, has the step already."""
        if state.global_step % self.steps_per_epoch == 0:
            losses = [row["forget_loss"] for row in state.log_history[-self.steps_per_epoch :]]
            if None not in losses and sum(losses) / len(losses) <= self.nll:
                control.should_training_stop = True


def subtract(target: Path, folder: Path, alpha: float) -> None:
    """Turn the weights θ_over in `folder` into θ_l − α (θ_over − θ_l), θ_l being the model recorded in `target`.

    One tensor after another, so that neither model is ever read whole: a file keeps its header, and with it its layout.
    Weights that are tied are stored once, hence changed once. ModelError where the target lacks a tensor.
    """
    there = {}
    for file in sorted(weights_folder(target).glob("*.safetensors")):
        with safe_open(file, "pt") as opened:
            there |= dict.fromkeys(opened.keys(), file)
    for file in sorted(folder.glob("*.safetensors")):
        _rewrite(file, there, alpha, target)


def _rewrite(file: Path, there: dict[str, Path], alpha: float, target: Path) -> None:
    changed = file.with_name(f"{file.name}.tmp")
    with safe_open(file, "pt") as over, open(file, "rb") as source, open(changed, "wb") as out:
        size = source.read(8)
        out.write(size + source.read(int.from_bytes(size, "little")))
        for name in over.offset_keys():  # in the order in which their bytes follow the header
            if name not in there:
                raise ModelError(
                    f"{target} has no tensor {name!r}, which the model trained from it has; a task vector needs both "
                    "saved alike: use a target that this workflow trained"
                )
            with safe_open(there[name], "pt") as learnt:
                merged = subtracted(learnt.get_tensor(name), over.get_tensor(name), alpha)
            out.write(merged.contiguous().reshape(-1).view(torch.uint8).numpy())
    os.replace(changed, file)


def subtracted(learnt: torch.Tensor, over: torch.Tensor, alpha: float) -> torch.Tensor:
    """θ_l − α (θ_over − θ_l) of one tensor, computed in float32 or wider and given in θ_over's type; α = 0 gives θ_l.

    What is no floating-point number (a counter, say) is θ_l's.
    """
    if not over.is_floating_point():
        return learnt
    wide = torch.promote_types(over.dtype, torch.float32)
    learnt = learnt.to(wide)
    return learnt.sub(over.to(wide).sub(learnt), alpha=alpha).to(over.dtype)
