"""LingTea: its retain loss on tensors, its schedule as a function of seed and step, and a run."""

import math

import numpy as np
import pytest
import torch

import training
from learning import forget
from unlearning.methods import lingtea
from unlearning.models.encode import collate
from unlearning.models.forward import token_logprobs
from unlearning.train.quantities import quantities

torch.set_num_threads(1)
LN2 = math.log(2)
MEAN = {"temperature": 1.0, "reduction": "token_mean"}


def loss(theta, teacher, labels, mask, **params):
    theta, teacher = (torch.as_tensor(logits, dtype=torch.float64) for logits in (theta, teacher))
    logprobs = token_logprobs(theta, labels, mask)
    return lingtea.retain_loss(theta, logprobs, teacher, labels, mask, **{**MEAN, **params})


def test_the_retain_loss_by_hand():
    # teacher (3/4, 1/4), student uniform, y = 0: w = 3/4, KL = 3/4 ln(3/2) + 1/4 ln(1/2), CE = ln 2:
    # first token 3/4 KL + 1/4 ln 2; the second: y = 1, w = 1/4: 1/4 KL + 3/4 ln 2; the third is masked
    teacher = torch.tensor([[[math.log(3), 0.0], [math.log(3), 0.0], [9.0, -9.0]]])
    theta, labels = torch.zeros(1, 3, 2), torch.tensor([[0, 1, 1]])
    mask = torch.tensor([[True, True, False]])
    kl = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    total = (0.75 * kl + 0.25 * LN2) + (0.25 * kl + 0.75 * LN2)
    assert loss(theta, teacher, labels, mask).tolist() == pytest.approx([total / 2])
    assert loss(theta, teacher, labels, mask, reduction="sequence_sum").tolist() == pytest.approx([total])


def test_a_sure_teacher_is_followed_and_a_teacher_who_does_not_know_is_not():
    generator = torch.Generator().manual_seed(0)
    theta = torch.randn(1, 1, 5, dtype=torch.float64, generator=generator)
    labels, mask = torch.tensor([[2]]), torch.tensor([[True]])
    teacher = torch.zeros(1, 1, 5, dtype=torch.float64)
    teacher[0, 0, 2] = 60.0  # p_T = onehot(y): w = 1, and KL(onehot ‖ p) = CE
    ce = -theta.log_softmax(-1)[0, 0, 2].item()
    assert loss(theta, teacher, labels, mask).item() == pytest.approx(ce, abs=1e-12)
    teacher = torch.randn(1, 1, 5, dtype=torch.float64, generator=generator)
    teacher[0, 0, 2] = -60.0  # w = 0: the text alone
    assert loss(theta, teacher, labels, mask).item() == pytest.approx(ce, abs=1e-12)


def test_much_softened_the_divergence_is_the_variance_of_the_logits_difference():
    # τ² KL(softmax(a/τ) ‖ softmax(b/τ)) → ½ Var_v(a − b): here w·½·Var + (1 − w)·CE, Var of (1, 3, −1) = 8/3
    theta, teacher = torch.tensor([[[0.0, 0.0, 0.0]]]), torch.tensor([[[1.0, 3.0, -1.0]]])
    labels, mask = torch.tensor([[0]]), torch.tensor([[True]])
    w = math.e / (math.e + math.e**3 + math.e**-1)
    wanted = w * 0.5 * 8 / 3 + (1 - w) * math.log(3)
    assert loss(theta, teacher, labels, mask, temperature=1e4).item() == pytest.approx(wanted, rel=1e-3)


def through(network, encoded):
    batch = collate(encoded, 0)
    found = quantities(lingtea.INPUTS, network, batch, REFERENCE)
    network.zero_grad()
    value = lingtea.retain_loss(**found, temperature=2.0, reduction="token_mean")
    value.mean().backward()
    return value.detach(), torch.cat([p.grad.flatten() for p in network.parameters()])


REFERENCE = training.model(seed=9).double().eval()


@pytest.mark.parametrize("make", [training.llama, training.qwen3])
def test_padding_and_order_change_nothing(make):
    network, encoded = make().double(), training.rows().encoded[:4]
    value, gradient = through(network, encoded)
    backwards, same = through(network, encoded[::-1])
    torch.testing.assert_close(backwards.flip(0), value, rtol=0, atol=1e-10)
    torch.testing.assert_close(same, gradient, rtol=0, atol=1e-9)
    alone = [through(network, [e]) for e in encoded]
    torch.testing.assert_close(torch.cat([v for v, _ in alone]), value, rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.stack([g for _, g in alone]).mean(0), gradient, rtol=0, atol=1e-8)


def test_it_agrees_with_a_naive_loop():
    network, encoded, tau = training.llama(), training.rows().encoded[4:8], 2.0
    value, _ = through(network, encoded)
    for got, example in zip(value.tolist(), encoded, strict=True):
        ids, start = torch.tensor([example.prompt_ids + example.answer_ids]), len(example.prompt_ids)
        with torch.no_grad():
            z, t = (m(input_ids=ids).logits[0, start - 1 : -1].double().numpy() for m in (network, REFERENCE))
        total = 0.0
        for k, y in enumerate(example.answer_ids):
            p, hard = np.exp(t[k] / tau) / np.exp(t[k] / tau).sum(), np.exp(t[k]) / np.exp(t[k]).sum()
            q, own = np.exp(z[k] / tau) / np.exp(z[k] / tau).sum(), np.exp(z[k]) / np.exp(z[k]).sum()
            total += hard[y] * tau**2 * float(np.sum(p * np.log(p / q))) - (1 - hard[y]) * math.log(own[y])
        assert got == pytest.approx(total / len(example.answer_ids), rel=1e-9)


def test_extreme_logits_give_finite_losses_and_gradients():
    theta = torch.tensor([[[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0]]], requires_grad=True)
    teacher, labels = torch.tensor([[[-1e4, 1e4, 0.0], [-1e4, 1e4, 0.0]]]), torch.tensor([[0, 1]])
    mask = torch.ones(1, 2, dtype=torch.bool)
    value = lingtea.retain_loss(theta, token_logprobs(theta, labels, mask), teacher, labels, mask, **MEAN)
    value.sum().backward()
    assert torch.isfinite(value).all() and torch.isfinite(theta.grad).all()


def test_every_so_many_forget_epochs_one_retains():
    assert [lingtea.retain_turn(epoch, 1) for epoch in range(6)] == [None, 0, None, 1, None, 2]
    assert [lingtea.retain_turn(epoch, 2) for epoch in range(6)] == [None, None, 0, None, None, 1]


def test_a_fact_is_what_its_examples_say_in_every_language():
    table = training.table(["Ada Bo"])  # drink and like, in en and de
    assert lingtea.facts(table) == [("memorised0/drink/0", [1, 0]), ("memorised0/like/0", [3, 2])]
    # two examples of one knowledge in one language are two facts
    both = table.assign(knowledge_id="one", language="en")
    assert lingtea.facts(both) == [(f"one/{i}", [i]) for i in range(4)]


def test_languages_are_drawn_evenly_from_seed_epoch_and_fact_alone():
    facts, chosen = [(f"f{i}", [3 * i, 3 * i + 1, 3 * i + 2]) for i in range(300)], np.arange(300)
    drawn = lingtea.in_a_language(facts, chosen, 5, 0)
    assert (drawn // 3 == chosen).all()
    assert all(70 < np.sum(drawn % 3 == place) < 130 for place in range(3))  # 100 expected, deviation 8
    assert (lingtea.in_a_language(facts, chosen[::-1], 5, 0)[::-1] == drawn).all()
    for other in (lingtea.in_a_language(facts, chosen, 6, 0), lingtea.in_a_language(facts, chosen, 5, 1)):
        assert 150 < np.sum(other != drawn) < 250  # 200 expected, deviation 8


def test_a_run_ascends_and_distils_by_turns_and_leaves_the_teacher_alone():
    teacher = training.model()
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    run = forget(training.model(), {"method": "lingtea", "epochs": 4}, reference=teacher)
    # 4 facts to forget, 3 a step: two steps an epoch
    kinds = ["forget" if row["retain_loss"] is None else "retain" for row in run.log]
    assert kinds == ["forget", "forget", "retain", "retain"] * 2
    assert all((row["forget_loss"] is None) == (row["retain_loss"] is not None) for row in run.log)
    assert all(row["forget_loss"] < 0 for row in run.log if row["forget_loss"])
    assert all(torch.equal(tensor, before[name]) for name, tensor in teacher.state_dict().items())
