"""What a run reports step by step, and when it must stop."""

import math
import resource
import time

import torch
from transformers import TrainerCallback

# A memorised retain set starts near 0 nats: a multiple of that alone would call any movement a collapse.
LEAST_START = 0.1
WINDOW = 5


def collapsed_at(retain_losses: list[float], factor: float | None) -> float | None:
    """The running mean of the last WINDOW retain losses if it passes `factor` times the first one, else None.

    The first one counts as LEAST_START nats where it is smaller. Nothing collapses before WINDOW steps.
    """
    if factor is None or len(retain_losses) < WINDOW:
        return None
    mean = sum(retain_losses[-WINDOW:]) / WINDOW
    return mean if mean > factor * max(retain_losses[0], LEAST_START) else None


class Watch(TrainerCallback):
    """Writes one `train_log` row per step into the trainer's state (which checkpoints keep), and stops lost runs.

    `measured` is filled by the trainer in each step: `losses` {side: value}, `loss`, `tokens`, `grad_norm`.
    A loss or gradient that is not finite stops the run before the step is taken: the last finite weights stay.
    """

    def __init__(self, steps_per_epoch: int, factor: float | None, forgets: bool) -> None:
        self.steps_per_epoch = steps_per_epoch
        self.factor = factor
        self.forgets = forgets
        self.measured: dict = {}
        self.reason: str | None = None
        self._since = time.perf_counter()

    def on_train_begin(self, args, state, control, **kwargs):
        self._since = time.perf_counter()

    def on_pre_optimizer_step(self, args, state, control, model=None, optimizer=None, **kwargs):
        self.measured["learning_rate"] = float(optimizer.param_groups[0]["lr"])
        if not math.isfinite(self.measured["loss"] + self.measured["grad_norm"]):
            # Without gradients the optimiser leaves every weight as it is.
            model.zero_grad()
            self.reason = f"loss or gradient not finite at step {state.global_step + 1}; the weights before it are kept"
            control.should_training_stop = True

    def on_step_end(self, args, state, control, **kwargs):
        state.log_history.append(self._row(state.global_step))
        retain = [row["retain_loss"] for row in state.log_history if row["retain_loss"] is not None]
        mean = collapsed_at(retain, self.factor) if self.forgets and self.reason is None else None
        if mean is not None:
            self.reason = (
                f"retain loss {mean:.3g} (mean of {WINDOW} steps) at step {state.global_step} passed "
                f"{self.factor:g} times its start, {max(retain[0], LEAST_START):.3g}"
            )
            control.should_training_stop = True

    def _row(self, step: int) -> dict:
        now, seen = time.perf_counter(), self.measured
        seconds, self._since = now - self._since, now
        return {
            "step": step,
            "epoch": step / self.steps_per_epoch,
            "loss": _finite(seen["loss"]),
            "forget_loss": _finite(seen["losses"].get("forget")),
            "retain_loss": _finite(seen["losses"].get("retain")),
            "grad_norm": _finite(seen["grad_norm"]),
            "learning_rate": seen["learning_rate"],
            "tokens": seen["tokens"],
            "seconds": seconds,
            "memory_mib": _peak_memory(),
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _peak_memory() -> float:
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
