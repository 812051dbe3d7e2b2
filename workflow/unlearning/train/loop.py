"""The training loop: transformers' Trainer with our terms as its loss.

A step's loss is Σ over its sides (forget, retain) of weight × mean over the side's examples of its term. Micro-batches
are weighted by their share of the examples, so a step's gradient is that of the whole batch however it is cut, and
however many processes share it (`unlearning.train.processes`). Trainer itself knows of one process only.
"""

import contextlib
import copy
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import PreTrainedModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from unlearning.models.encode import Batch, collate
from unlearning.models.layers import depth_of, showing_attention, train_only
from unlearning.seeds import seed_for
from unlearning.tables.artifacts import room_for
from unlearning.train import processes
from unlearning.train.lora import add_lora, merge_lora
from unlearning.train.plan import Plan, PlanError
from unlearning.train.quantities import quantities
from unlearning.train.rows import Rows
from unlearning.train.terms import Term
from unlearning.train.watch import Watch

SCHEDULERS = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}


class Side(NamedTuple):
    """A term, its weight, and the rows it is computed on. `name` (forget or retain) is its column in the log.

    A term that gives several losses at once, {name: one value per example}, has a weight for each: {name: weight}.
    `scale` multiplies the mean over the side's examples, in the log too: 2 makes it a sum over pairs of them.
    """

    name: str
    term: Term
    weight: float | dict[str, float]
    rows: Rows
    scale: float = 1.0

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each of its losses."""
        return self.weight if isinstance(self.weight, dict) else {self.name: self.weight}


# Epoch, from 1 -> what is done with the model after it and its facts; a method with a `finish` (see Trained) adds it.
AfterEpoch = Mapping[int, Callable[..., None]]


class Part(NamedTuple):
    """One micro-batch of one side; `share` = the side's scale / the number of its examples in the step.

    A share of 0 is the turn of a process that has nothing left to do while others have: all make equally many passes.
    A term whose ANSWERS are both has twice as many rows as examples in its batch: see Rows.take.
    """

    side: Side
    batch: Batch
    ref_logprob_B: torch.Tensor | None
    share: float
    refusal_ref_logprob_B: torch.Tensor | None = None


class Trained(NamedTuple):
    """The model, the rows of its `train_log`, and the facts that `model.json` keeps.

    `finish`, where there is one, changes the files of the saved weights in the folder that it is called with.
    """

    model: PreTrainedModel
    log: list[dict]
    facts: dict
    finish: Callable[[Path], None] | None = None


class Steps(Dataset):
    """Step number → its parts. `draw(step)` gives one array of row indices per side, empty where it has no turn.

    Of several processes each takes every so-manieth of a side's examples.
    """

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
        n, ranks, mine = len(chosen), processes.world_size(), chosen[processes.rank() :: processes.world_size()]
        most = math.ceil(n / ranks)
        size = self.plan.micro_batch_size or max(most, 1)
        if len(mine) > size:  # alike lengths side by side: less padding, the same sums
            mine = mine[np.argsort(side.rows.lengths[mine], kind="stable")]
        parts = [self._part(side, mine[i : i + size], epoch, side.scale / n) for i in range(0, len(mine), size)]
        idle = math.ceil(most / size) - len(parts)
        return parts + [self._part(side, chosen[:1], epoch, 0.0) for _ in range(idle)]

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
        if processes.world_size() > 1:
            # Masks of their own for each process, and those of a resumed run are those of an undisturbed one.
            step = f"{processes.rank()}/{self.state.global_step}"
            torch.manual_seed(seed_for(self.train_dataset.seed, "dropout", step))
        weights = {name: weight for part in inputs for name, weight in part.side.weights.items()}
        losses = self.accumulate(model, inputs, weights)
        loss = sum(weights[name] * value for name, value in losses.items())
        tokens = sum(int(part.batch.attention_mask_BS.sum()) for part in inputs if part.share)
        tokens = int(processes.summed(torch.tensor(tokens, device=self.args.device)))
        self.watch.measured = {"losses": losses, "loss": loss, "tokens": tokens}
        return torch.tensor(loss, device=self.args.device)

    def accumulate(self, model, parts: list[Part], weights: dict[str, float]) -> dict[str, float]:
        """Add the gradients of `parts` under `weights` to the model's; each loss by its name, before its weight."""
        sums = {
            name: torch.zeros((), dtype=torch.float64, device=self.args.device)
            for part in parts
            for name in part.side.weights
        }
        for part in parts:
            with self.compute_loss_context_manager():
                losses = self.compute_loss(model, part)
            self.accelerator.backward(sum(weights[name] * loss for name, loss in losses.items()))
            for name, loss in losses.items():
                sums[name] += loss.detach()
        processes.sum_gradients(model)
        return dict(zip(sums, processes.summed(torch.stack(list(sums.values()))).tolist(), strict=True)) if sums else {}

    def compute_loss(self, model, inputs: Part, return_outputs=False, num_items_in_batch=None) -> dict:
        """A part's share of each of its side's losses, before their weights."""
        side, device = inputs.side, self.args.device
        refs = (
            None if known_B is None else known_B.to(device, torch.float32)
            for known_B in (inputs.ref_logprob_B, inputs.refusal_ref_logprob_B)
        )
        inside = {"layer": side.term.settings.get("layer"), "seed": self.train_dataset.seed}
        found = quantities(side.term.inputs, model, inputs.batch.to(device), self.reference, *refs, **inside)
        losses = side.term.loss(**found, **side.term.params)
        losses = losses if isinstance(losses, dict) else {side.name: losses}
        return {name: loss_B.sum() * inputs.share for name, loss_B in losses.items()}

    def _get_grad_norm(self, model, grad_norm=None) -> float:
        # Trainer keeps the norm to itself; this is where it passes by, before the optimiser steps.
        norm = float(processes.whole(super()._get_grad_norm(model, grad_norm=grad_norm)))
        self.watch.measured["grad_norm"] = norm
        return norm

    def log(self, logs, start_time=None) -> None:
        """Nothing: the log is Watch's."""


def arguments(plan: Plan, seed: int, device: str, folder: str, steps: int) -> TrainingArguments:
    """Trainer's arguments for `plan`: no evaluation, no reporting, checkpoints only if asked for.

    Where the share of `steps` that warm up would be all of them, at a learning rate of 0, none does.
    """
    share = plan.warmup < 1
    all_warm_up = share and math.ceil(plan.warmup * steps) >= steps
    made = TrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        per_device_train_batch_size=1,
        learning_rate=plan.lr,
        lr_scheduler_type=SCHEDULERS[plan.schedule],
        warmup_steps=0 if all_warm_up else plan.warmup,
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
        save_strategy="steps" if plan.checkpoint_steps and processes.rank() == 0 else "no",
        save_steps=plan.checkpoint_steps or 1,
        save_total_limit=1,
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
    )
    # One process drives one GPU: Trainer would split our batches over all it sees.
    made._n_gpu = min(made.n_gpu, 1)
    return made


class Epochs(TrainerCallback):
    """Hands the model out after the epochs of `after`, as it would be saved, and trains on undisturbed."""

    def __init__(
        self,
        after: AfterEpoch,
        steps_per_epoch: int,
        facts: Callable[[int], dict],
        cached: bool,
        empty: PreTrainedModel | None,
    ) -> None:
        self.after, self.steps_per_epoch, self.facts = after, steps_per_epoch, facts
        self.cached, self.empty = cached, empty

    def on_step_end(self, args, state, control, model=None, **kwargs):
        epoch, within = divmod(state.global_step, self.steps_per_epoch)
        if within or epoch not in self.after:
            return
        training, model.config.use_cache = model.config.use_cache, self.cached
        handed = processes.gathered(model, self.empty) if self.empty else model
        if processes.rank() == 0:
            # Taking an adapter out of the weights again would not give the same weights back: a copy takes it in.
            handed = merge_lora(copy.deepcopy(handed)) if hasattr(handed, "merge_and_unload") else handed
            self.after[epoch](handed, self.facts(state.global_step))
        model.config.use_cache = training


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
    after: AfterEpoch | None = None,
    trainer: Callable = TermTrainer,
    callbacks: Sequence[TrainerCallback] = (),
) -> Trained:
    """Train `model` in place for `plan.epochs` × `steps_per_epoch` steps and return it.

    `work` is where checkpoints go when `plan.checkpoint_steps` asks for them; a run that finds one there goes on from
    it to the very weights it would have reached undisturbed. `reference` is frozen; only terms that need it read it.
    `after` is called after its epochs; a run that is stopped hands out the model it stopped with for the epochs it does
    not reach, one that is resumed nothing for those that it has behind it. `trainer` (a TermTrainer) makes another step
    of the gradients; `callbacks` are told of each step after the log is.
    Where several processes train together (see `processes`), each calls this; number 0 alone calls `after`, writes
    checkpoints and, where weights are sharded, gets the model.
    Out of memory raises MemoryError with the micro-batch size to try.
    """
    steps = Steps(sides, draw, steps_per_epoch, plan, seed, pad_id)
    forgets = any("forget" in side.weights for side in sides)
    # What starts at 0 in other units has no start to measure a collapse by.
    in_nats = all(side.term.unit == "nats" for side in sides if "retain" in side.weights)
    watch = Watch(steps_per_epoch, plan.collapse_factor, forgets and in_nats)
    cached, plain = getattr(model.config, "use_cache", True), model  # LLaVA's own says nothing, Trainer sets it

    def facts(done: int) -> dict:
        reason = watch.reason
        return {"steps": done, "epochs": done / steps_per_epoch, "collapsed": reason is not None, "reason": reason}

    if plan.lora:
        model = add_lora(model, plan.lora, seed)
    _freeze(model, sides)
    empty = processes.shard(model, device) if plan.sharding == "full" else None
    if empty and reference:
        processes.shard(reference, device)
    with contextlib.ExitStack() as stack:
        if any("attention" in side.term.needs for side in sides):
            stack.enter_context(showing_attention(plain, reference))
        folder = str(work) if work else stack.enter_context(tempfile.TemporaryDirectory())
        options = {"model": model, "args": arguments(plan, seed, device, folder, len(steps))}
        if plan.optimizer == "adamw_8bit":
            options["optimizer_cls_and_kwargs"] = _adamw_8bit(plan)
        running = trainer(steps, watch, reference.eval() if reference else None, **options)
        for callback in (*callbacks, Epochs(after or {}, steps_per_epoch, facts, cached, empty)):
            running.add_callback(callback)
        stack.enter_context(_explained(plan))
        stack.enter_context(room_for(folder))
        running.train(resume_from_checkpoint=_last_checkpoint(folder) if plan.checkpoint_steps else None)
    model = running.accelerator.unwrap_model(running.model, keep_fp32_wrapper=False)
    model = processes.gathered(model, empty) if empty else model
    first = processes.rank() == 0
    model = merge_lora(model) if plan.lora and first else model
    model.config.use_cache = cached
    log = running.state.log_history
    for epoch, handed in (after or {}).items():
        if first and epoch > len(log) // steps_per_epoch:
            handed(model, facts(len(log)))
    return Trained(model.eval(), log, facts(len(log)))


def _last_checkpoint(folder: str) -> str | None:
    """The newest checkpoint in `folder` that was written to its end, of which trainer_state.json is the last file."""
    places = sorted(Path(folder).glob("checkpoint-*"), key=lambda place: int(place.name.rpartition("-")[2]))
    for place in reversed(places):
        with contextlib.suppress(OSError, ValueError):
            json.loads((place / "trainer_state.json").read_text(encoding="utf-8"))
            return str(place)
    return None


def _adamw_8bit(plan: Plan) -> tuple[type, dict]:
    """torchao's AdamW, whose two moments take a byte per weight instead of four (Dettmers et al. 2022)."""
    try:
        from torchao.optim import AdamW8bit
    except ImportError as error:
        raise PlanError(
            "optimizer: adamw_8bit needs the package torchao, which is not installed here: pip install torchao, or "
            "take optimizer: adamw"
        ) from error
    return AdamW8bit, {"lr": plan.lr, "betas": plan.betas, "eps": 1e-8}


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
