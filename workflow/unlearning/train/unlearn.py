"""Unlearning: what a method is given, and the plain pair of a forget and a retain term."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from unlearning.train.data import Alternating, Schedule
from unlearning.train.loop import AfterEpoch, Side, Trained, train
from unlearning.train.plan import Plan
from unlearning.train.rows import Rows
from unlearning.train.spans import keep_important


class Given(NamedTuple):
    """What `unlearn(given)` of a module in `unlearning.methods` gets.

    `forget` and `retain` are `examples` tables, `target` the record of the model that is to forget, `model` that model.
    `reference` (the same, frozen), `refusals` (language → sentences) and `ref_logprobs` (a table) are there if the
    method or its terms need them. Every method hands `running` on to `train`.
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
    after: AfterEpoch | None = None

    @property
    def running(self) -> dict:
        """What `train` takes that no method decides."""
        return {"device": self.device, "reference": self.reference, "work": self.work, "after": self.after}


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
    after: AfterEpoch | None = None,
) -> Trained:
    """Make `model` forget `forget` while the retain term of `plan` holds it on `retain`.

    An epoch is one pass over `forget`; each step draws as many of `retain`. A term that asks for nothing is left out.
    """
    alone = [Modality(1.0, forget, retain)]
    return unlearn_modalities(model, alone, plan, seed, pad_id, device, reference, work, after)


def unlearn_modalities(
    model: PreTrainedModel,
    modalities: Sequence[Modality],
    plan: Plan,
    seed: int,
    pad_id: int,
    device: str = "cpu",
    reference: PreTrainedModel | None = None,
    work: Path | None = None,
    after: AfterEpoch | None = None,
) -> Trained:
    """Σ over `modalities` of weight × the loss of the plain pair on its rows: UMU-Bench's α·L_multimodal + β·L_text.

    An epoch is one pass over each modality's forget rows: `batch_size` of the longest a step, of the others in
    proportion. Where the forget term wants steps of one domain each, the longest's domains take turns. The log's
    forget_loss and retain_loss are the weighted sums. ValueError if no weight is above 0.
    """
    used = [modality for modality in modalities if modality.weight]
    if not used:
        raise ValueError("every modality has weight 0: nothing would be unlearned; give one of them a weight")
    longest, terms = max((modality.forget for modality in used), key=len), plan.terms()
    schedule = Schedule(len(longest), plan.batch_size, plan.epochs, seed)
    if terms["forget"].alternates and len(set(longest.domains)) > 1:
        schedule = Alternating(**vars(schedule), domains=tuple(longest.domains))
    sides, draws = [], []
    for modality in used:
        ratio = len(modality.forget) / len(longest)
        for name, weight in {"forget": plan.forget_weight, "retain": plan.retain_weight}.items():
            rows, term = getattr(modality, name), terms[name]
            following = replace(schedule, n_follow=len(rows), ratio=ratio, follow=f"{name}_order").following
            indices = schedule.leading if name == "forget" and rows is longest else following
            if term.inputs:
                side = Side(name, term, weight, rows, modality.weight)
                sides.append(_narrowed(side, indices, schedule, reference, pad_id))
                draws.append(indices)

    def draw(step: int) -> list[np.ndarray]:
        return [indices(step) for indices in draws]

    return train(model, sides, draw, schedule.steps_per_epoch, plan, seed, pad_id, device, reference, work, after)


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
