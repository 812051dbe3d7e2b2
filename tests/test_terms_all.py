"""What holds of every forget and retain term: declarations, finite gradients, padding and order, a naive loop."""

import copy
import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import training
from test_terms import LOGPROBS, MASK, PAIRED, REFUSAL_LOGPROBS, REFUSAL_MASK
from unlearning.forget import dpo, me, npo, simnpo, undial
from unlearning.models.encode import collate
from unlearning.registry import available, declared
from unlearning.retain import ap, kl
from unlearning.train.quantities import NAMES, quantities
from unlearning.train.rows import encode_rows
from unlearning.train.terms import TermError, load_term

ALL = [("forget", name) for name in available("forget")] + [("retain", name) for name in available("retain")]

NEEDED = {
    "ref_logprobs": {"ref_logprob_B"},
    "refusal_ref_logprobs": {"refusal_ref_logprob_B"},
    "reference_model": {"ref_logits_BTV", "ref_hidden_BSD", "ref_attention_LBHSS"},
    "question_tokens": {"text_mask_BU"},
    "refusals": {"refusal_logprobs_BT"},
    "attention": {"attention_LBHSS"},
}


@pytest.mark.parametrize(("folder", "name"), ALL)
def test_declarations_are_literals_that_the_loop_knows(folder, name):
    term = load_term(folder, name)
    assert set(term.inputs) <= set(NAMES)
    assert term.answers in ("reference", "refusal", "both")
    assert set(term.needs) <= set(NEEDED)
    for need, read in NEEDED.items():
        assert need == "refusals" or bool(read & set(term.inputs)) == (need in term.needs)
    assert (term.answers != "reference") == ("refusals" in term.needs)
    assert (term.answers == "both") == ("refusal_logprobs_BT" in term.inputs)
    module, params = f"unlearning.{folder}.{name}", term.params | term.settings
    assert (declared(module, "NEEDS"), declared(module, "PARAMS")) == (term.needs, params)
    assert set(declared(module, "LIMITS", {})) <= set(params)


def test_an_unknown_term_is_refused_with_those_that_exist():
    with pytest.raises(TermError, match="unknown forget term 'gaa'; allowed: .*ga, .*npo"):
        load_term("forget", "gaa")


def test_a_term_takes_only_the_parameters_it_knows():
    term = load_term("forget", "npo", {"beta": 2.0, "direction": "theta_ref", "reduction": "token_mean"})
    assert term.params == {"beta": 2.0}


EXTREME = {
    # certain of the true token, certain of another, undecided
    "logits_BTV": torch.tensor([[[1e4, -1e4, 0.0]] * 2, [[-1e4, 1e4, 0.0]] * 2, [[3e3] * 3] * 2]),
    "ref_logits_BTV": torch.tensor([[[-1e4, 1e4, 0.0]] * 2] * 3),
    "labels_BT": torch.zeros(3, 2, dtype=torch.long),
    "logprobs_BT": torch.tensor([[0.0, 0.0], [-2e4, -2e4], [-1.1, -2e4]]),
    "refusal_logprobs_BT": torch.tensor([[-2e4, -2e4], [0.0, 0.0], [-1.1, -1.1]]),
    "ref_logprob_B": torch.tensor([-4e4, 0.0, -2.2]),
    "refusal_ref_logprob_B": torch.tensor([0.0, -4e4, -2.2]),
} | {f"{name}mask_BT": torch.ones(3, 2, dtype=torch.bool) for name in ("", "refusal_")}
EXTREME |= {"text_logits_BUV": EXTREME["logits_BTV"], "text_mask_BU": EXTREME["mask_BT"]}
SIMPLE = [(f, n) for f, n in ALL if n != "none" and set(load_term(f, n).inputs) <= set(EXTREME)]


@pytest.mark.parametrize(("folder", "name"), SIMPLE)
def test_gradients_are_finite_for_extreme_predictions(folder, name):
    term = load_term(folder, name, {"reduction": "token_mean"})
    given = {k: EXTREME[k].clone() for k in term.inputs}
    trained = [given[k].requires_grad_() for k in given if k.endswith(("logits_BTV", "logits_BUV", "logprobs_BT"))]
    value = term.loss(**given, **term.params)
    value.sum().backward()
    assert torch.isfinite(value).all() and value.shape == (3,)
    assert all(torch.isfinite(tensor.grad).all() for tensor in trained if tensor.grad is not None)


# Through a model: the quantities of a batch, each term and its gradient.

PARAMS = {"reduction": "token_mean"}
# test_terms_hidden.py has those on a model's inside, which need a reference of the same architecture.
INSIDE = ("rmu", "mse_hidden", "palu", "attention_shift")
CASES = [(f, n, PARAMS) for f, n in ALL if n not in ("none", *INSIDE)] + [
    ("forget", "ga", {"reduction": "sequence_sum"}),
    ("forget", "dpo", {"scale": "two_over_beta"}),
    ("retain", "kl", {"direction": "ref_theta"}),
]
REFERENCE = training.model(seed=9).double().eval()
REFUSALS = {"en": ["I do not know.", "No.", "Who is that?"], "de": ["Das weiß ich leider nicht."]}
ROWS = encode_rows(training.tokenizer(), training.table(), refusals=REFUSALS, questions=True)
REFS, REFUSAL_REFS = (torch.linspace(a, b, len(ROWS), dtype=torch.float64) for a, b in ((-20, -33), (-30, -17)))


def value_and_gradient(term, network, chosen, refs=REFS):
    batch = collate(ROWS.take(chosen, term.answers, 0, 0), 0)
    found = quantities(term.inputs, network, batch, REFERENCE, refs[chosen], REFUSAL_REFS[chosen])
    network.zero_grad()
    loss_B = term.loss(**found, **term.params)
    loss_B.mean().backward()
    gradient = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    return loss_B.detach(), gradient


@pytest.mark.parametrize(("folder", "name", "params"), CASES)
@pytest.mark.parametrize("make", [training.llama, training.qwen3])
def test_a_term_and_its_gradient_are_finite_and_unchanged_by_padding_and_order(folder, name, params, make):
    term, network = load_term(folder, name, params), make().double()
    value, gradient = value_and_gradient(term, network, [0, 1, 2, 3])
    assert torch.isfinite(value).all() and torch.isfinite(gradient).all() and gradient.abs().max() > 0
    reverse, gradient_reverse = value_and_gradient(term, network, [3, 2, 1, 0])
    torch.testing.assert_close(reverse.flip(0), value, rtol=0, atol=1e-10)
    torch.testing.assert_close(gradient_reverse, gradient, rtol=0, atol=1e-9)
    # one at a time there is no padding at all (of two answers to a prompt, the shorter is padded)
    alone = [value_and_gradient(term, network, [i]) for i in range(4)]
    torch.testing.assert_close(torch.cat([v for v, _ in alone]), value, rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.stack([g for _, g in alone]).mean(0), gradient, rtol=0, atol=1e-8)


def distributions(network, example, start, stop):
    """p(· | all before) for the tokens start..stop−1 of a prompt and its answer, as float64 arrays."""
    ids = torch.tensor([example.prompt_ids + example.answer_ids])
    with torch.no_grad():
        return network(input_ids=ids).logits[0, start - 1 : stop - 1].softmax(-1).numpy()


def answer_distributions(network, example):
    start = len(example.prompt_ids)
    return distributions(network, example, start, start + len(example.answer_ids))


def answer_probabilities(network, example):
    return [p[token] for p, token in zip(answer_distributions(network, example), example.answer_ids, strict=True)]


def minus_log_sigmoid(x):
    return math.log(1 + math.exp(-x))


def naive(name, params, network, i):
    """The terms of spec/methods.md one token at a time, in plain Python on float64 logits."""
    example, refused = ROWS.encoded[i], ROWS.refused(i, ROWS.drawn(i, 0, 0))
    if name in ("idk", "po"):
        example = refused
    p, T = answer_distributions(network, example), len(example.answer_ids)
    true = answer_probabilities(network, example)
    log_answer, log_refusal = (sum(map(math.log, answer_probabilities(network, e))) for e in (example, refused))
    mean_or_sum = -log_answer if params.get("reduction") == "sequence_sum" else -log_answer / T
    if name in ("kl", "undial"):
        q = answer_distributions(REFERENCE, example)
    if name == "kl":
        p, q = (q, p) if params.get("direction") == "ref_theta" else (p, q)
        return sum(float(np.sum(p[t] * np.log(p[t] / q[t]))) for t in range(T)) / T
    if name == "npo":
        return 20 * minus_log_sigmoid(0.1 * (REFS[i].item() - log_answer))
    if name == "dpo":
        gained = (log_refusal - REFUSAL_REFS[i].item()) - (log_answer - REFS[i].item())
        return (20 if params.get("scale") == "two_over_beta" else 10) * minus_log_sigmoid(0.1 * gained)
    if name == "ap":
        return 10 * minus_log_sigmoid(0.1 * (log_answer - log_refusal))
    if name == "simnpo":
        return 2 / 4.5 * minus_log_sigmoid(-4.5 * log_answer / T)
    if name == "wga":
        return sum(a * math.log(a) for a in true) / T
    if name == "satimp":
        return sum(a**5 * (1 - a) * math.log(a) for a in true) / T
    if name == "undial":
        total = 0.0
        for t, token in enumerate(example.answer_ids):
            pushed = np.where(np.arange(len(q[t])) == token, q[t] * math.exp(-10), q[t])
            total -= float(np.sum(pushed / pushed.sum() * np.log(p[t])))
        return total / T
    if name == "ceu":
        total = 0.0
        for t in range(1, T):
            others = np.delete(p[t], example.answer_ids[t])
            total -= float(np.sum(others / others.sum() * np.log(others)))
        return total / (T - 1)
    if name == "me":
        # the prompt is <|user|>, the question, <|assistant|>
        question, answer = distributions(network, example, 1, len(example.prompt_ids) - 1), p
        kl = [math.log(len(r)) + float(np.sum(r * np.log(r))) for r in [*question, *answer]]
        return sum(kl) / len(kl)
    return {"ga": -mean_or_sum, "gd": mean_or_sum, "idk": mean_or_sum, "po": mean_or_sum}[name]


@pytest.mark.parametrize(("folder", "name", "params"), CASES)
def test_a_term_agrees_with_a_naive_loop(folder, name, params):
    network, term = training.llama(), load_term(folder, name, params)
    wanted = [naive(name, params, network, i) for i in range(4, 8)]
    value, _ = value_and_gradient(term, network, [4, 5, 6, 7])
    assert value.tolist() == pytest.approx(wanted, rel=1e-9)
    in_float32, _ = value_and_gradient(term, network.float(), [4, 5, 6, 7])
    assert in_float32.tolist() == pytest.approx(wanted, rel=2e-5)


def test_undial_without_a_push_has_no_gradient_at_the_reference():
    _, gradient = value_and_gradient(load_term("forget", "undial", {"beta": 0.0}), copy.deepcopy(REFERENCE), [0, 1, 2])
    assert gradient.abs().max() < 1e-12
    _, pushed = value_and_gradient(load_term("forget", "undial"), copy.deepcopy(REFERENCE), [0, 1, 2])
    assert pushed.abs().max() > 1e-3


def test_npo_gradient_at_the_reference_is_minus_that_of_the_sequence_sum():
    network, chosen = training.llama(), [0, 1, 2, 3, 4]
    with torch.no_grad():
        refs = quantities(["logprobs_BT"], network, collate(ROWS.encoded[:5], 0))["logprobs_BT"].sum(-1)
    _, of_npo = value_and_gradient(load_term("forget", "npo"), network, chosen, refs)
    summed = load_term("retain", "gd", {"reduction": "sequence_sum"})
    _, of_sum = value_and_gradient(summed, network, chosen)
    torch.testing.assert_close(of_npo, -of_sum, rtol=1e-9, atol=1e-9)


def test_kl_has_neither_value_nor_gradient_at_the_reference():
    network = copy.deepcopy(REFERENCE)
    value, gradient = value_and_gradient(load_term("retain", "kl"), network, [0, 1, 2, 3])
    assert value.abs().max() < 1e-12 and gradient.abs().max() < 1e-10


def test_the_gradients_of_the_formulas_agree_with_finite_differences():
    logprobs = LOGPROBS.clone().requires_grad_()
    ref = torch.tensor([-4.0, -1.0], dtype=torch.float64)
    assert gradcheck(lambda x: npo.loss(x, MASK, ref, 0.5), logprobs)
    logits = torch.randn(2, 3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    other = torch.zeros(2, 3, 5, dtype=torch.float64)
    labels = torch.tensor([[0, 1, 4], [2, 0, 0]])
    assert gradcheck(lambda x: dpo.loss(**PAIRED | {"logprobs_BT": x}, beta=0.5, scale="one_over_beta"), logprobs)
    assert gradcheck(lambda x: ap.loss(x, MASK, REFUSAL_LOGPROBS, REFUSAL_MASK, 0.5), logprobs)
    assert gradcheck(lambda x: simnpo.loss(x, MASK, 4.5, 0.1), logprobs)
    assert gradcheck(lambda x: me.loss(x, MASK), logits)
    assert gradcheck(lambda x: undial.loss(x, other, labels, MASK, 10.0), logits)
    assert gradcheck(lambda x: kl.loss(x, other, MASK, "theta_ref"), logits)
    assert gradcheck(lambda x: kl.loss(x, other, MASK, "ref_theta"), logits)


def test_an_unknown_quantity_is_refused():
    with pytest.raises(ValueError, match=r"unknown quantities \['hidden_BTD'\]; known: logits_BTV"):
        quantities(["hidden_BTD"], None, collate(training.rows().encoded[:1], 0))


def test_what_was_not_prepared_is_named():
    batch = collate(training.rows().encoded[:2], 0)
    with pytest.raises(ValueError, match="text_mask_BU: not prepared, .*NEEDS"):
        quantities(me.INPUTS, None, batch)
    with pytest.raises(ValueError, match="ref_logprob_B, refusal_ref_logprob_B: not prepared"):
        quantities(dpo.INPUTS, None, batch)
