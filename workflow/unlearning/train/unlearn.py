"""Unlearning: a forget term and a retain term on a model that has memorised."""

from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from unlearning.train.data import Schedule
from unlearning.train.loop import AfterEpoch, Side, Trained, train
from unlearning.train.plan import Plan
from unlearning.train.rows import Rows


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
    after: AfterEpoch | None = None,
) -> Trained:
    """Make `model` forget `forget` while the retain term of `plan` holds it on `retain`.

    An epoch is one pass over `forget`; each step draws as many of `retain`. A term that asks for nothing is left out.
    """
    schedule = Schedule(len(forget), plan.batch_size, plan.epochs, seed, len(retain))
    terms = plan.terms()
    sides = [
        (Side("forget", terms["forget"], plan.forget_weight, forget), schedule.leading),
        (Side("retain", terms["retain"], plan.retain_weight, retain), schedule.following),
    ]
    used = [(side, indices) for side, indices in sides if side.term.inputs]

    def draw(step: int) -> list[np.ndarray]:
        return [indices(step) for _, indices in used]

    parts = [side for side, _ in used]
    return train(model, parts, draw, schedule.steps_per_epoch, plan, seed, pad_id, device, reference, work, after)
