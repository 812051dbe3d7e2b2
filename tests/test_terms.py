import ast
import copy
import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import training
from unlearning.forget import ga, idk, npo
from unlearning.models.encode import collate
from unlearning.registry import available
from unlearning.retain import gd, kl, none
from unlearning.train.nll import nll
from unlearning.train.quantities import NAMES, quantities
from unlearning.train.terms import TermError, load_term

ALL = [("forget", name) for name in available("forget")] + [("retain", name) for name in available("retain")]
# Two answers: p = 1/2, 1/4, 1/8 (three tokens) and 1/2 (one token, then padding).
LOGPROBS = torch.log(torch.tensor([[1 / 2, 1 / 4, 1 / 8], [1 / 2, 1.0, 1.0]], dtype=torch.float64))
MASK = torch.tensor([[True, True, True], [True, False, False]])
LN2 = math.log(2)


def close(got, wanted):
    assert got.tolist() == pytest.approx(wanted, abs=1e-12)


def test_nll_by_hand():
    # (1 + 2 + 3) ln 2 = 6 ln 2 over three tokens; ln 2 over one
    close(nll(LOGPROBS, MASK, "sequence_sum"), [6 * LN2, LN2])
    close(nll(LOGPROBS, MASK, "token_mean"), [2 * LN2, LN2])
    with pytest.raises(ValueError, match="'mean' is unknown; allowed: token_mean, sequence_sum"):
        nll(LOGPROBS, MASK, "mean")


@pytest.mark.parametrize(("term", "sign"), [(ga, -1), (gd, 1), (idk, 1)])
def test_likelihood_terms_by_hand(term, sign):
    close(term.loss(LOGPROBS, MASK, "token_mean"), [sign * 2 * LN2, sign * LN2])
    close(term.loss(LOGPROBS, MASK, "sequence_sum"), [sign * 6 * LN2, sign * LN2])


def test_npo_by_hand():
    # L_θ − L_ref = 6 ln 2 − 5 ln 2 = ln 2 and, second, ln 2 − 3 ln 2 = −2 ln 2. With β = 1 and σ(x) = 1/(1 + e^−x):
    # −2 ln σ(ln 2) = −2 ln(2/3) = 0.81093; −2 ln σ(−2 ln 2) = −2 ln(1/5) = 3.21888
    ref = torch.tensor([-5 * LN2, -3 * LN2], dtype=torch.float64)
    close(npo.loss(LOGPROBS, MASK, ref, 1.0), [2 * math.log(1.5), 2 * math.log(5)])


@pytest.mark.parametrize("beta", [0.1, 1.0, 4.5])
def test_npo_at_the_reference_is_two_over_beta_ln_two(beta):
    ref = -nll(LOGPROBS, MASK, "sequence_sum")
    close(npo.loss(LOGPROBS, MASK, ref, beta), [2 / beta * LN2] * 2)


def test_npo_tends_to_gradient_ascent_for_small_beta():
    # −(2/β) ln σ(β d) = (2/β) ln 2 − d + O(β)
    ref = torch.tensor([-5 * LN2, -3 * LN2], dtype=torch.float64)
    got = npo.loss(LOGPROBS, MASK, ref, 1e-6) - 2e6 * LN2
    assert got.tolist() == pytest.approx([-LN2, 2 * LN2], abs=1e-5)


def test_npo_is_finite_with_finite_gradients_when_all_is_forgotten_or_nothing():
    logprobs = torch.tensor([[-1e4], [-1e-9]], requires_grad=True)
    npo.loss(logprobs, torch.ones(2, 1, dtype=torch.bool), torch.tensor([-1e-9, -1e4]), 0.1).sum().backward()
    # dL/dlogp = 2 σ(−β d): nothing left to forget, then as fast as it gets
    assert logprobs.grad.tolist() == [[pytest.approx(0, abs=1e-9)], [pytest.approx(2, abs=1e-6)]]


def test_kl_by_hand():
    # p = (1/2, 1/2), q = (1/4, 3/4): KL(p‖q) = ½ ln 2 + ½ ln(2/3) = ½ ln(4/3); KL(q‖p) = ¼ ln ½ + ¾ ln(3/2);
    # the second, masked column differs wildly and does not count
    theta = torch.tensor([[[0.0, 0.0], [9.0, 0.0]]], dtype=torch.float64)
    ref = torch.tensor([[[0.0, math.log(3)], [0.0, 9.0]]], dtype=torch.float64)
    mask = torch.tensor([[True, False]])
    close(kl.loss(theta, ref, mask, "theta_ref"), [0.5 * math.log(4 / 3)])
    close(kl.loss(theta, ref, mask, "ref_theta"), [0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)])
    close(kl.loss(theta, theta, mask, "theta_ref"), [0.0])
    with pytest.raises(ValueError, match="'both' is unknown; allowed: theta_ref, ref_theta"):
        kl.loss(theta, ref, mask, "both")


@pytest.mark.parametrize("direction", ["theta_ref", "ref_theta"])
def test_kl_agrees_with_torch_distributions(direction):
    from torch.distributions import Categorical, kl_divergence

    generator = torch.Generator().manual_seed(0)
    theta, ref = (torch.randn(2, 3, 7, dtype=torch.float64, generator=generator) for _ in range(2))
    p, q = Categorical(logits=theta), Categorical(logits=ref)
    kl_BT = kl_divergence(p, q) if direction == "theta_ref" else kl_divergence(q, p)
    close(kl.loss(theta, ref, MASK, direction), [kl_BT[0].mean().item(), kl_BT[1, 0].item()])


def test_no_retain_term_is_nothing():
    assert none.loss() == 0.0 and none.INPUTS == ()


@pytest.mark.parametrize(("folder", "name"), ALL)
def test_declarations_are_literals_that_the_loop_knows(folder, name):
    term = load_term(folder, name)
    assert set(term.inputs) <= set(NAMES)
    assert term.answers in ("reference", "refusal")
    assert set(term.needs) <= {"ref_logprobs", "reference_model", "refusals"}
    assert ("ref_logprob_B" in term.inputs) == ("ref_logprobs" in term.needs)
    assert ("ref_logits_BTV" in term.inputs) == ("reference_model" in term.needs)
    assert (term.answers == "refusal") == ("refusals" in term.needs)
    module = __import__(f"unlearning.{folder}.{name}", fromlist=["loss"])
    tree = ast.parse(open(module.__file__, encoding="utf-8").read())
    constants = {n.targets[0].id: ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign)}
    assert constants["NEEDS"] == term.needs and constants["PARAMS"] == term.params


def test_an_unknown_term_is_refused_with_those_that_exist():
    with pytest.raises(TermError, match="unknown forget term 'gaa'; allowed: .*ga, .*npo"):
        load_term("forget", "gaa")


def test_a_term_takes_only_the_parameters_it_knows():
    term = load_term("forget", "npo", {"beta": 2.0, "direction": "theta_ref", "reduction": "token_mean"})
    assert term.params == {"beta": 2.0}


# Through a model: the quantities of a batch, each term and its gradient.

PARAMS = {"reduction": "token_mean"}
CASES = [(f, n, PARAMS) for f, n in ALL if n != "none"] + [
    ("forget", "ga", {"reduction": "sequence_sum"}),
    ("retain", "kl", {"direction": "ref_theta"}),
]
REFERENCE = training.model(seed=9).double().eval()


def value_and_gradient(term, network, encoded, ref_logprobs):
    batch = collate(encoded, 0)
    found = quantities(term.inputs, network, batch, REFERENCE, torch.tensor(ref_logprobs, dtype=torch.float64))
    network.zero_grad()
    loss_B = term.loss(**found, **term.params)
    loss_B.mean().backward()
    gradient = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    return loss_B.detach(), gradient


@pytest.mark.parametrize(("folder", "name", "params"), CASES)
@pytest.mark.parametrize("make", [training.llama, training.qwen3])
def test_a_term_and_its_gradient_are_finite_and_unchanged_by_padding_and_order(folder, name, params, make):
    term, network = load_term(folder, name, params), make().double()
    encoded, refs = training.rows().encoded[:4], [-20.0, -21.0, -22.0, -23.0]
    value, gradient = value_and_gradient(term, network, encoded, refs)
    assert torch.isfinite(value).all() and torch.isfinite(gradient).all() and gradient.abs().max() > 0
    reverse, gradient_reverse = value_and_gradient(term, network, encoded[::-1], refs[::-1])
    torch.testing.assert_close(reverse.flip(0), value, rtol=0, atol=1e-10)
    torch.testing.assert_close(gradient_reverse, gradient, rtol=0, atol=1e-9)
    # one at a time there is no padding at all
    alone = [value_and_gradient(term, network, [e], [r]) for e, r in zip(encoded, refs, strict=True)]
    torch.testing.assert_close(torch.cat([v for v, _ in alone]), value, rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.stack([g for _, g in alone]).mean(0), gradient, rtol=0, atol=1e-8)


def naive(name, params, network, example, ref_logprob):
    """The terms of spec/methods.md one token at a time, in plain Python on float64 logits."""
    ids = torch.tensor([example.prompt_ids + example.answer_ids])
    start, T = len(example.prompt_ids), len(example.answer_ids)

    def distributions(model):
        with torch.no_grad():
            return model(input_ids=ids).logits[0, start - 1 : start - 1 + T].softmax(-1).numpy()

    p = distributions(network)
    L = -sum(math.log(p[t][token]) for t, token in enumerate(example.answer_ids))
    mean_or_sum = L if params.get("reduction") == "sequence_sum" else L / T
    if name == "kl":
        q = distributions(REFERENCE)
        p, q = (q, p) if params.get("direction") == "ref_theta" else (p, q)
        return sum(float(np.sum(p[t] * np.log(p[t] / q[t]))) for t in range(T)) / T
    if name == "npo":
        return -(2 / 0.1) * math.log(1 / (1 + math.exp(-0.1 * (L + ref_logprob))))
    return {"ga": -mean_or_sum, "gd": mean_or_sum, "idk": mean_or_sum}[name]


@pytest.mark.parametrize(("folder", "name", "params"), CASES)
def test_a_term_agrees_with_a_naive_loop(folder, name, params):
    network, term = training.llama(), load_term(folder, name, params)
    encoded, refs = training.rows().encoded[4:8], [-30.0, -31.0, -32.0, -33.0]
    value, _ = value_and_gradient(term, network, encoded, refs)
    wanted = [naive(name, params, network, e, r) for e, r in zip(encoded, refs, strict=True)]
    assert value.tolist() == pytest.approx(wanted, rel=1e-9)


def test_npo_gradient_at_the_reference_is_minus_that_of_the_sequence_sum():
    network, encoded = training.llama(), training.rows().encoded[:5]
    batch = collate(encoded, 0)
    with torch.no_grad():
        refs = quantities(["logprobs_BT"], network, batch)["logprobs_BT"].sum(-1).tolist()
    _, of_npo = value_and_gradient(load_term("forget", "npo"), network, encoded, refs)
    summed = load_term("retain", "gd", {"reduction": "sequence_sum"})
    _, of_sum = value_and_gradient(summed, network, encoded, refs)
    torch.testing.assert_close(of_npo, -of_sum, rtol=1e-9, atol=1e-9)


def test_kl_has_neither_value_nor_gradient_at_the_reference():
    network = copy.deepcopy(REFERENCE)
    value, gradient = value_and_gradient(load_term("retain", "kl"), network, training.rows().encoded[:4], [0.0] * 4)
    assert value.abs().max() < 1e-12 and gradient.abs().max() < 1e-10


def test_the_gradients_of_the_formulas_agree_with_finite_differences():
    logprobs = LOGPROBS.clone().requires_grad_()
    ref = torch.tensor([-4.0, -1.0], dtype=torch.float64)
    assert gradcheck(lambda x: npo.loss(x, MASK, ref, 0.5), logprobs)
    logits = torch.randn(2, 3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    other = torch.zeros(2, 3, 5, dtype=torch.float64)
    assert gradcheck(lambda x: kl.loss(x, other, MASK, "theta_ref"), logits)
    assert gradcheck(lambda x: kl.loss(x, other, MASK, "ref_theta"), logits)


def test_an_unknown_quantity_is_refused():
    with pytest.raises(ValueError, match=r"unknown quantities \['hidden_BTD'\]; known: logits_BTV"):
        quantities(["hidden_BTD"], None, collate(training.rows().encoded[:1], 0))
