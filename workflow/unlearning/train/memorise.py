"""Plain training on rows: the base, target and retrained models."""

from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from unlearning.retain import gd
from unlearning.train.data import Schedule
from unlearning.train.loop import Side, Trained, train
from unlearning.train.plan import Plan
from unlearning.train.rows import Rows, joined
from unlearning.train.terms import term_of


def memorise(
    model: PreTrainedModel,
    rows: Rows,
    plan: Plan,
    seed: int,
    pad_id: int,
    device: str = "cpu",
    replay: Rows | None = None,
    replay_share: float = 0.0,
    work: Path | None = None,
) -> Trained:
    """Teach `model` the answers of `rows` by their mean token NLL (the term gd); an epoch is one pass over `rows`.

    With `replay`, that share of every batch (0 ≤ share < 1) is drawn from those rows, so that what was known before is
    kept: batch_size counts both.
    """
    share = replay_share if replay else 0.0
    if not 0 <= share < 1:
        raise ValueError(f"background_share {share} should be at least 0 and below 1")
    schedule = Schedule(
        n=len(rows),
        batch_size=max(round(plan.batch_size * (1 - share)), 1),
        epochs=plan.epochs,
        seed=seed,
        n_follow=len(replay) if share else 0,
        ratio=share / (1 - share),
        lead="train_order",
        follow="replay_order",
    )

    def draw(step: int) -> list[np.ndarray]:
        return [np.concatenate([schedule.leading(step), len(rows) + schedule.following(step)])]

    side = Side("retain", term_of(gd), 1.0, joined(rows, replay) if share else rows)
    return train(model, [side], draw, schedule.steps_per_epoch, plan, seed, pad_id, device, work=work)
