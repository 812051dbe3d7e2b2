"""The training loop: transformers' Trainer with our terms as its loss.

A step's loss is Σ over its sides (forget, retain) of weight × mean over the side's examples of its term. Micro-batches
are weighted by their share of the examples, so a step's gradient is that of the whole batch however it is cut.
"""

import contextlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import PreTrainedModel, PrinterCallback, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

from unlearning.models.encode import Batch, collate
from unlearning.models.layers import depth_of, showing_attention, train_only
from unlearning.seeds import seed_for
from unlearning.train.lora import add_lora, merge_lora
from unlearning.train.plan import Plan
from unlearning.train.quantities import quantities
from unlearning.train.rows import Rows
from unlearning.train.terms import Term
from unlearning.train.watch import Watch

SCHEDULERS = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}


class Side(NamedTuple):
    """A term, its weight, and the rows it is computed on. `name` (forget or retain) is its column in the log."""

    name: str
    term: Term
    weight: float
    rows: Rows


class Part(NamedTuple):
    """One micro-batch of one side; `share` = 1 / the number of the side's examples in the step.

    A term whose ANSWERS are both has twice as many rows as examples in its batch: see Rows.take.
    """

    side: Side
    batch: Batch
    ref_logprob_B: torch.Tensor | None
    share: float
    refusal_ref_logprob_B: torch.Tensor | None = None


class Trained(NamedTuple):
    """The model, the rows of its `train_log`, and the facts that `model.json` keeps."""

    model: PreTrainedModel
    log: list[dict]
    facts: dict


class Steps(Dataset):
    """Step number → its parts. `draw(step)` gives one array of row indices per side."""

    def __init__(
        self,
        sides: Sequence[Side],
        draw: Callable[[int], Sequence[np.ndarray]],
        steps_per_epoch: int,
        plan: Plan,
        seed: int,
        pad_id: int,
    ) -> None:
        self.sides, self.draw, self.steps_per_epoch = sides, draw, steps_per_epoch
        self.plan, self.seed, self.pad_id = plan, seed, pad_id

    def __len__(self) -> int:
        return self.plan.epochs * self.steps_per_epoch

    def __getitem__(self, step: int) -> list[Part]:
        drawn = zip(self.sides, self.draw(step), strict=True)
        return [part for side, chosen in drawn for part in self._parts(side, chosen, step // self.steps_per_epoch)]

    def _parts(self, side: Side, chosen: np.ndarray, epoch: int) -> list[Part]:
        size = self.plan.micro_batch_size or len(chosen)
        return [self._part(side, chosen[i : i + size], epoch, 1 / len(chosen)) for i in range(0, len(chosen), size)]

    def _part(self, side: Side, chosen: np.ndarray, epoch: int, share: float) -> Part:
        batch = collate(side.rows.take(chosen, side.term.answers, self.seed, epoch), self.pad_id)
        known, refused = side.rows.ref_logprob, None
        if "refusal_ref_logprob_B" in side.term.inputs:
            refused = torch.from_numpy(side.rows.refusal_refs(chosen, self.seed, epoch))
        return Part(side, batch, None if known is None else torch.from_numpy(known[chosen]), share, refused)


class TermTrainer(Trainer):
    """Trainer whose batches are lists of Parts. One optimiser step per batch, whatever the micro-batches."""

    def __init__(self, steps: Steps, watch: Watch, reference: PreTrainedModel | None = None, **options) -> None:
        super().__init__(train_dataset=steps, callbacks=[watch], **options)
        self.watch, self.reference = watch, reference
        self.remove_callback(PrinterCallback)

    def get_train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_dataset, batch_size=1, shuffle=False, collate_fn=lambda steps: steps[0])

    def training_step(self, model, inputs: list[Part], num_items_in_batch=None) -> torch.Tensor:
        sums = {
            side.name: torch.zeros((), dtype=torch.float64, device=self.args.device)
            for side in self.train_dataset.sides
        }
        for part in inputs:
            with self.compute_loss_context_manager():
                loss = self.compute_loss(model, part)
            self.accelerator.backward(loss * part.side.weight)
            sums[part.side.name] += loss.detach()
        losses = dict(zip(sums, torch.stack(list(sums.values())).tolist(), strict=True))
        loss = sum(side.weight * losses[side.name] for side in self.train_dataset.sides)
        tokens = sum(int(part.batch.attention_mask_BS.sum()) for part in inputs)
        self.watch.measured = {"losses": losses, "loss": loss, "tokens": tokens}
        return torch.tensor(loss, device=self.args.device)

    def compute_loss(self, model, inputs: Part, return_outputs=False, num_items_in_batch=None) -> torch.Tensor:
        """A part's share of its side's mean, before the side's weight."""
        term, device = inputs.side.term, self.args.device
        refs = (
            None if known_B is None else known_B.to(device, torch.float32)
            for known_B in (inputs.ref_logprob_B, inputs.refusal_ref_logprob_B)
        )
        inside = {"layer": term.settings.get("layer"), "seed": self.train_dataset.seed}
        found = quantities(term.inputs, model, inputs.batch.to(device), self.reference, *refs, **inside)
        return term.loss(**found, **term.params).sum() * inputs.share

    def _get_grad_norm(self, model, grad_norm=None) -> float:
        # Trainer keeps the norm to itself; this is where it passes by, before the optimiser steps.
        norm = float(super()._get_grad_norm(model, grad_norm=grad_norm))
        self.watch.measured["grad_norm"] = norm
        return norm

    def log(self, logs, start_time=None) -> None:
        """Nothing: the log is Watch's."""


def arguments(plan: Plan, seed: int, device: str, folder: str) -> TrainingArguments:
    """Trainer's arguments for `plan`: no evaluation, no reporting, checkpoints only if asked for."""
    made = TrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        per_device_train_batch_size=1,
        learning_rate=plan.lr,
        lr_scheduler_type=SCHEDULERS[plan.schedule],
        warmup_steps=plan.warmup,
        weight_decay=plan.weight_decay,
        adam_beta1=plan.betas[0],
        adam_beta2=plan.betas[1],
        max_grad_norm=plan.max_grad_norm,
        optim="adamw_torch_fused",
        bf16=plan.dtype == "bfloat16",
        gradient_checkpointing=plan.gradient_checkpointing,
        seed=seed_for(seed, "dropout") % 2**31,
        use_cpu=device == "cpu",
        logging_strategy="no",
        logging_nan_inf_filter=False,
        eval_strategy="no",
        save_strategy="steps" if plan.checkpoint_steps else "no",
        save_steps=plan.checkpoint_steps or 1,
        save_total_limit=1,
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
    )
    # One process drives one GPU: Trainer would split our batches over all it sees.
    made._n_gpu = min(made.n_gpu, 1)
    return made


def train(
    model: PreTrainedModel,
    sides: Sequence[Side],
    draw: Callable[[int], Sequence[np.ndarray]],
    steps_per_epoch: int,
    plan: Plan,
    seed: int,
    pad_id: int,
    device: str = "cpu",
    reference: PreTrainedModel | None = None,
    work: Path | None = None,
) -> Trained:
    """Train `model` in place for `plan.epochs` × `steps_per_epoch` steps and return it.

    `work` is where checkpoints go when `plan.checkpoint_steps` asks for them; a run that finds one there goes on from
    it to the very weights it would have reached undisturbed. `reference` is frozen; only terms that need it read it.
    Out of memory raises MemoryError with the micro-batch size to try.
    """
    steps = Steps(sides, draw, steps_per_epoch, plan, seed, pad_id)
    forgets = any(side.name == "forget" for side in sides)
    # What starts at 0 in other units has no start to measure a collapse by.
    in_nats = all(side.term.unit == "nats" for side in sides if side.name == "retain")
    watch = Watch(steps_per_epoch, plan.collapse_factor, forgets and in_nats)
    cached, plain = model.config.use_cache, model
    if plan.lora:
        model = add_lora(model, plan.lora, seed)
    _freeze(model, sides)
    with contextlib.ExitStack() as stack:
        if any("attention" in side.term.needs for side in sides):
            stack.enter_context(showing_attention(plain, reference))
        folder = str(work) if work else stack.enter_context(tempfile.TemporaryDirectory())
        options = {"model": model, "args": arguments(plan, seed, device, folder)}
        trainer = TermTrainer(steps, watch, reference.eval() if reference else None, **options)
        stack.enter_context(_explained(plan))
        trainer.train(resume_from_checkpoint=get_last_checkpoint(folder) if plan.checkpoint_steps else None)
    model = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    model = merge_lora(model) if plan.lora else model
    model.config.use_cache = cached
    log = trainer.state.log_history
    facts = {"steps": len(log), "epochs": len(log) / steps_per_epoch, "collapsed": watch.reason is not None}
    return Trained(model.eval(), log, {**facts, "reason": watch.reason})


def _freeze(model: PreTrainedModel, sides: Sequence[Side]) -> None:
    """Where terms say which layers train, freeze all but those that every such term names."""
    if any(side.term.trained_layers for side in sides):
        named = [side.term.layers(depth_of(model)) for side in sides if side.term.trained_layers]
        train_only(model, sorted(set.intersection(*map(set, named))))


@contextlib.contextmanager
def _explained(plan: Plan):
    try:
        yield
    except torch.OutOfMemoryError as error:
        size = plan.micro_batch_size or plan.batch_size
        raise MemoryError(
            f"out of memory with {size} examples at a time; set micro_batch_size: {max(size // 2, 1)} (the result "
            "stays the same), gradient_checkpointing: true, or lora"
        ) from error
