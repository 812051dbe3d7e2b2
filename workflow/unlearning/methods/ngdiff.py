"""NGDiff: forgetting and retaining pull with equal strength, because each gradient is divided by its norm."""

import dataclasses
import functools

import torch
from transformers import TrainerCallback

from unlearning.forget import ga
from unlearning.models.encode import pad_id
from unlearning.retain import gd
from unlearning.train.data import Schedule
from unlearning.train.loop import Part, Side, TermTrainer, Trained, train
from unlearning.train.processes import summed, whole
from unlearning.train.rows import encode_rows
from unlearning.train.terms import term_of
from unlearning.train.unlearn import Given

PARAMS = {"step": "adamw", "eta": "fixed", "reduction": "token_mean"}
LIMITS = {"step": ("adamw", "plain"), "eta": ("fixed", "auto"), "reduction": ("token_mean", "sequence_sum")}
NEEDS = ()
COST = {"forward": 2, "reference": 0}

AUTO_EVERY = 10
MOST = 2.0


def unlearn(given: Given) -> Trained:
    """θ ← θ − η (g_R/‖g_R‖ − g_F/‖g_F‖), g the gradients of the answers' NLL (Bu et al. 2024; LUME's appendix).

    Norms are of the whole gradient of all trained weights (of the adapters under LoRA), in float32. `forget_weight` and
    `retain_weight` multiply the two unit vectors. Their difference is at most 2 long, so it is never clipped:
    max_grad_norm does not apply. It costs GA+gd and one more copy of the gradient.

    step: `adamw` hands the difference to the loop's optimiser in the place of a gradient, as is usual with public code
    (our reading); `plain` is the formula as it stands. eta: `fixed` takes the learning rate of the schedule; `auto`
    is the paper's automatic rule, see AutoRate. An epoch is one pass over the forget set; each step draws as many
    retain examples.
    """
    own, tokenizer = given.plan.own(), given.tokenizer
    plan = dataclasses.replace(given.plan, max_grad_norm=0.0)
    sides = [
        Side(name, term_of(module, own), weight, encode_rows(tokenizer, frame, plan.max_length))
        for name, module, weight, frame in (
            ("forget", ga, plan.forget_weight, given.forget),
            ("retain", gd, plan.retain_weight, given.retain),
        )
    ]
    schedule = Schedule(len(sides[0].rows), plan.batch_size, plan.epochs, given.seed, len(sides[1].rows))
    return train(
        given.model,
        sides,
        lambda step: [schedule.leading(step), schedule.following(step)],
        schedule.steps_per_epoch,
        plan,
        given.seed,
        pad_id(tokenizer),
        **given.running,
        trainer=functools.partial(UnitGradients, plain=own["step"] == "plain", auto=own["eta"] == "auto"),
    )


class UnitGradients(TermTrainer):
    """Σ over the sides of weight × ∇L / ‖∇L‖ in the place of the gradient of Σ weight × L."""

    def __init__(self, *args, plain: bool, auto: bool, **options) -> None:
        super().__init__(*args, **options)
        self.plain = plain
        if auto:
            self.add_callback(AutoRate(self))

    def accumulate(self, model, parts: list[Part], weights: dict[str, float]) -> dict[str, float]:
        """One backward pass per side over its micro-batches; what the others gave is kept meanwhile."""
        self.retain_parts = [part for part in parts if part.side.name == "retain"]
        losses, kept = {}, {}
        for name, weight in weights.items():
            losses |= super().accumulate(model, [part for part in parts if part.side.name == name], {name: 1.0})
            found = {p: p.grad for p in model.parameters() if p.grad is not None}
            norm = gradient_norm(found.values())
            for parameter, gradient in found.items():
                gradient.mul_(weight / norm if norm else 0.0)
                kept[parameter] = gradient.add_(kept[parameter]) if parameter in kept else gradient
                parameter.grad = None
        for parameter, gradient in kept.items():
            parameter.grad = gradient
        return losses

    def create_optimizer(self, model=None) -> torch.optim.Optimizer:
        """The loop's AdamW, or plain gradient steps."""
        if not self.plain:
            return super().create_optimizer(model)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(trained, lr=self.args.learning_rate, weight_decay=self.args.weight_decay)
        return self.optimizer


def gradient_norm(gradients) -> float:
    """The Euclidean norm of all `gradients` together, in float32 or wider."""
    norms = [whole(torch.linalg.vector_norm(g, dtype=torch.promote_types(g.dtype, torch.float32))) for g in gradients]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


class AutoRate(TrainerCallback):
    """The paper's automatic η, each AUTO_EVERY steps: the minimum of a parabola through three retain losses.

    A step is taken with the present η and δ = its change of the weights. With L(s) the retain loss of the step's
    examples at θ + s·δ, the parabola through s = −1, 0, 1 is least at s* = −(L(1) − L(−1)) / 2(L(1) − 2 L(0) + L(−1)),
    which is η*/η = g_R·d / η d·H_R·d for δ = −η d. Where the parabola opens upwards and s* > 0, the step becomes s*·δ
    and η grows by s* until it is fitted again; a schedule goes on from there. s* is cut at MOST, since nothing is known
    of the loss further on (our reading, as is the number of steps). Costs three forward passes and two copies of the
    weights.
    """

    def __init__(self, trainer: UnitGradients) -> None:
        self.trainer = trainer
        self.before: dict[torch.nn.Parameter, torch.Tensor] = {}

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        if state.global_step % AUTO_EVERY == 0:
            self.before = {p: p.detach().clone() for p in model.parameters() if p.requires_grad}

    @torch.no_grad()
    def on_optimizer_step(self, args, state, control, model=None, optimizer=None, lr_scheduler=None, **kwargs):
        if not self.before:
            return
        before, self.before = self.before, {}
        change = {p: p - start for p, start in before.items()}
        losses = {}
        model.eval()
        for share in (-1, 0, 1):
            for p, start in before.items():
                p.copy_(start + share * change[p])
            losses[share] = self._retain_loss(model)
        model.train()
        factor = parabola_minimum(losses[-1], losses[0], losses[1])
        factor = 1.0 if factor is None else factor
        for p, start in before.items():
            p.copy_(start + factor * change[p])
        for group in optimizer.param_groups:
            group["lr"] *= factor
            group["initial_lr"] *= factor
        lr_scheduler.base_lrs = [rate * factor for rate in lr_scheduler.base_lrs]
        self.trainer.watch.measured["learning_rate"] *= factor

    def _retain_loss(self, model) -> float:
        with self.trainer.compute_loss_context_manager():
            parts = [self.trainer.compute_loss(model, part)["retain"] for part in self.trainer.retain_parts]
            return float(summed(sum(parts)))


def parabola_minimum(back: float, here: float, ahead: float) -> float | None:
    """Where the parabola through (−1, back), (0, here), (1, ahead) is least, cut at MOST; None unless above 0."""
    curvature = ahead - 2 * here + back
    if not curvature > 0:
        return None
    least = (back - ahead) / (2 * curvature)
    return min(least, MOST) if least > 0 else None
