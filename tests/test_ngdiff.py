"""NGDiff: the gradient and one step by the formula, the automatic rate, and a run."""

import contextlib
from types import SimpleNamespace

import pytest
import torch

import training
from learning import forget, rows_of
from unlearning.forget import ga
from unlearning.methods import ngdiff
from unlearning.models.encode import collate
from unlearning.models.forward import answer_logits, token_logprobs
from unlearning.train.data import Schedule

torch.set_num_threads(1)
ONE_STEP = {"method": "ngdiff", "batch_size": 8, "epochs": 1, "warmup": 0, "schedule": "constant", "lr": 0.1}


def unit_gradients(network, seed=0):
    """g/‖g‖ of the forget set's NLL and of the first retain batch's, by hand in float64."""
    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])
    schedule = Schedule(8, 8, 1, seed, 16)
    found = []
    for frame, chosen in ((table[gone], schedule.leading(0)), (table[~gone], schedule.following(0))):
        encoded = rows_of(frame).encoded
        batch = collate([encoded[i] for i in chosen], 0)
        logprobs = token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)
        loss = (-logprobs.sum(1) / batch.mask_BT.sum(1)).mean()
        gradients = torch.autograd.grad(loss, list(network.parameters()))
        norm = sum((g**2).sum() for g in gradients).sqrt()
        found.append([g / norm for g in gradients])
    return found


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0)])
def test_a_plain_step_is_the_formula(weights):
    network = training.llama()
    before = [p.detach().clone() for p in network.parameters()]
    of_f, of_r = unit_gradients(network)
    keys = {"forget_weight": weights[0], "retain_weight": weights[1], "max_grad_norm": 1e-3}  # which does not apply
    run = forget(network, {**ONE_STEP, **keys, "params": {"step": "plain"}})
    wanted = [weights[1] * r - weights[0] * f for f, r in zip(of_f, of_r, strict=True)]
    for old, new, step in zip(before, run.model.parameters(), wanted, strict=True):
        torch.testing.assert_close(new, old - 0.1 * step, rtol=0, atol=1e-7)
    length = float(sum((g**2).sum() for g in wanted).sqrt())
    assert run.log[0]["grad_norm"] == pytest.approx(length, rel=1e-6) and length <= sum(weights) + 1e-9
    assert run.log[0]["forget_loss"] < 0 < run.log[0]["retain_loss"]


def test_by_adamw_the_difference_stands_in_for_the_gradient():
    network = training.llama()
    before = [p.detach().clone().requires_grad_() for p in network.parameters()]
    of_f, of_r = unit_gradients(network)
    for parameter, f, r in zip(before, of_f, of_r, strict=True):
        parameter.grad = r - f
    torch.optim.AdamW(before, lr=0.1, weight_decay=0.0).step()
    run = forget(network, ONE_STEP)
    for old, new in zip(before, run.model.parameters(), strict=True):
        # near zero the first step of Adam divides a gradient by its own size
        assert ((new - old).abs() < 1e-3).double().mean() > 0.999


def test_a_side_without_gradient_adds_nothing(monkeypatch):
    loss = ga.loss
    monkeypatch.setattr(ga, "loss", lambda *inputs, **more: 0.0 * loss(*inputs, **more))
    network = training.llama()
    before = [p.detach().clone() for p in network.parameters()]
    _, of_r = unit_gradients(network)
    run = forget(network, {**ONE_STEP, "params": {"step": "plain"}})
    for old, new, step in zip(before, run.model.parameters(), of_r, strict=True):
        torch.testing.assert_close(new, old - 0.1 * step, rtol=0, atol=1e-7)


def test_the_norm_is_of_all_gradients_together_and_in_float32():
    assert ngdiff.gradient_norm([torch.tensor([3.0, 0.0]), torch.tensor([[4.0]])]) == 5.0
    assert ngdiff.gradient_norm([torch.full((100_000,), 1e-3, dtype=torch.bfloat16)]) == pytest.approx(0.316, rel=5e-3)


def test_the_parabolas_minimum_by_hand():
    assert ngdiff.parabola_minimum(9.0, 4.0, 1.0) == 2.0  # (s − 2)²
    assert ngdiff.parabola_minimum(2.25, 0.25, 0.25) == 0.5  # (s − 1/2)²
    assert ngdiff.parabola_minimum(16.0, 9.0, 4.0) == 2.0  # (s − 3)²: cut
    assert ngdiff.parabola_minimum(0.25, 0.25, 2.25) is None  # behind
    assert ngdiff.parabola_minimum(-1.0, 0.0, -1.0) is None  # opens downwards
    assert ngdiff.parabola_minimum(1.0, 0.0, -1.0) is None  # a line
    assert ngdiff.parabola_minimum(float("nan"), 0.0, 1.0) is None


def test_the_automatic_rate_goes_to_the_parabolas_minimum():
    """L_R(θ) = (θ₁ − 0.3)²: from 0, a step of 0.2 with η = 0.1 becomes 0.3, and η = 0.15."""
    model = torch.nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.zero_()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1.0)
    trainer = SimpleNamespace(
        retain_parts=[0.25, 0.75],  # two micro-batches
        compute_loss=lambda model, share: {"retain": share * (model.weight[0, 0] - 0.3) ** 2},
        compute_loss_context_manager=contextlib.nullcontext,
        watch=SimpleNamespace(measured={"learning_rate": 0.1}),
    )
    rate, told = ngdiff.AutoRate(trainer), {"model": model, "optimizer": optimiser, "lr_scheduler": schedule}
    for step, wanted, lr in ((10, [0.3, 0.15], 0.15), (11, [0.6, 0.3], 0.15)):
        model.weight.grad = torch.tensor([[-2.0, -1.0]])
        rate.on_pre_optimizer_step(None, SimpleNamespace(global_step=step), None, model=model)
        optimiser.step()
        rate.on_optimizer_step(None, None, None, **told)
        schedule.step()
        assert model.weight[0].tolist() == pytest.approx(wanted) and optimiser.param_groups[0]["lr"] == pytest.approx(
            lr
        )
    assert trainer.watch.measured["learning_rate"] == pytest.approx(0.15)
