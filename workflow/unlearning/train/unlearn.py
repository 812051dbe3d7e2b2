"""Unlearning: a forget term and a retain term on a model that has memorised."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from unlearning.train.data import Alternating, Schedule
from unlearning.train.loop import Side, Trained, train
from unlearning.train.plan import Plan
from unlearning.train.rows import Rows
from unlearning.train.spans import keep_important


def unlearn(
    model: PreTrainedModel,
    forget: Rows,
    retain: Rows,
    plan: Plan,
    seed: int,
    pad_id: int,
    device: str = "cpu",
    reference: PreTrainedModel | None = None,
    work: Path | None = None,
) -> Trained:
    """Make `model` forget `forget` while the retain term of `plan` holds it on `retain`.

    An epoch is one pass over `forget`; each step draws as many of `retain`. A term that asks for nothing is left out.
    """
    terms = plan.terms()
    schedule = Schedule(len(forget), plan.batch_size, plan.epochs, seed, len(retain))
    if terms["forget"].alternates and len(set(forget.domains)) > 1:
        schedule = Alternating(**vars(schedule), domains=tuple(forget.domains))
    sides = [
        (Side("forget", terms["forget"], plan.forget_weight, forget), schedule.leading),
        (Side("retain", terms["retain"], plan.retain_weight, retain), schedule.following),
    ]
    used = [
        (_narrowed(side, indices, schedule, reference, pad_id), indices) for side, indices in sides if side.term.inputs
    ]

    def draw(step: int) -> list[np.ndarray]:
        return [indices(step) for _, indices in used]

    parts = [side for side, _ in used]
    return train(model, parts, draw, schedule.steps_per_epoch, plan, seed, pad_id, device, reference, work)


def _narrowed(
    side: Side, indices: Callable, schedule: Schedule, reference: PreTrainedModel | None, pad_id: int
) -> Side:
    """`side` with the spans of the rows it will draw narrowed to important tokens, where its term wants that."""
    if side.term.settings.get("spans") != "entropy":
        return side
    encoded = list(side.rows.encoded)
    for i in sorted({i for step in range(schedule.steps) for i in indices(step)}):
        encoded[i] = keep_important(reference, encoded[i], pad_id)
    return side._replace(rows=replace(side.rows, encoded=encoded))
