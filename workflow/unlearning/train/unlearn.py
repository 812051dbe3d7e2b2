"""Unlearning: what a method is given, and the plain pair of a forget and a retain term."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from unlearning.train.data import Schedule
from unlearning.train.loop import Side, Trained, train
from unlearning.train.plan import Plan
from unlearning.train.rows import Rows


class Given(NamedTuple):
    """What `unlearn(given)` of a module in `unlearning.methods` gets.

    `forget` and `retain` are `examples` tables, `target` the record of the model that is to forget, `model` that model.
    `reference` (the same, frozen), `refusals` (language → sentences) and `ref_logprobs` (a table) are there if the
    method or its terms need them.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    forget: pd.DataFrame
    retain: pd.DataFrame
    plan: Plan
    seed: int
    target: Path | None = None
    device: str = "cpu"
    reference: PreTrainedModel | None = None
    refusals: dict[str, list[str]] | None = None
    ref_logprobs: pd.DataFrame | None = None
    work: Path | None = None


class Modality(NamedTuple):
    """The rows of one modality and the weight of its losses; with weight 0 they are not computed."""

    weight: float
    forget: Rows
    retain: Rows


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
    alone = [Modality(1.0, forget, retain)]
    return unlearn_modalities(model, alone, plan, seed, pad_id, device, reference, work)


def unlearn_modalities(
    model: PreTrainedModel,
    modalities: Sequence[Modality],
    plan: Plan,
    seed: int,
    pad_id: int,
    device: str = "cpu",
    reference: PreTrainedModel | None = None,
    work: Path | None = None,
) -> Trained:
    """Σ over `modalities` of weight × the loss of the plain pair on its rows: UMU-Bench's α·L_multimodal + β·L_text.

    An epoch is one pass over each modality's forget rows: `batch_size` of the longest a step, of the others in
    proportion. The log's forget_loss and retain_loss are the weighted sums. ValueError if no weight is above 0.
    """
    used = [modality for modality in modalities if modality.weight]
    if not used:
        raise ValueError("every modality has weight 0: nothing would be unlearned; give one of them a weight")
    n, terms = max(len(modality.forget) for modality in used), plan.terms()
    sides, draws = [], []
    for modality in used:
        ratio = len(modality.forget) / n
        for name, weight in {"forget": plan.forget_weight, "retain": plan.retain_weight}.items():
            rows, term = getattr(modality, name), terms[name]
            if term.inputs:
                sides.append(Side(name, term, weight, rows, modality.weight))
                draws.append(Schedule(n, plan.batch_size, plan.epochs, seed, len(rows), ratio, follow=f"{name}_order"))

    def draw(step: int) -> list[np.ndarray]:
        return [schedule.following(step) for schedule in draws]

    return train(model, sides, draw, draws[0].steps_per_epoch, plan, seed, pad_id, device, reference, work)
