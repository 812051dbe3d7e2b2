"""Each forget and retain term against values worked by hand, and in its limits."""

import math

import pytest
import torch

from unlearning.forget import ceu, dpo, ga, idk, me, npo, po, satimp, simnpo, undial, wga
from unlearning.retain import ap, gd, kl, none
from unlearning.train.nll import nll

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


@pytest.mark.parametrize(("term", "sign"), [(ga, -1), (gd, 1), (idk, 1), (po, 1)])
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


# Refusals of the same prompts: p = 1/2 (one token) and 1/4, 1/2.
REFUSAL_LOGPROBS = torch.log(torch.tensor([[1 / 2, 1.0], [1 / 4, 1 / 2]], dtype=torch.float64))
REFUSAL_MASK = torch.tensor([[True, False], [True, True]])
# (log p_θ − log p_ref) of the answers: −6 ln 2 + 5 ln 2 = −ln 2 and −ln 2 + 2 ln 2 = ln 2; of the refusals: 0, −ln 2
PAIRED = {
    "logprobs_BT": LOGPROBS,
    "mask_BT": MASK,
    "ref_logprob_B": torch.tensor([-5 * LN2, -2 * LN2], dtype=torch.float64),
    "refusal_logprobs_BT": REFUSAL_LOGPROBS,
    "refusal_mask_BT": REFUSAL_MASK,
    "refusal_ref_logprob_B": torch.tensor([-LN2, -2 * LN2], dtype=torch.float64),
}


def test_dpo_by_hand():
    # refusal − answer: ln 2 and −2 ln 2; −ln σ(ln 2) = ln 3/2, −ln σ(−2 ln 2) = ln 5 (β = 1)
    close(dpo.loss(**PAIRED, beta=1.0, scale="one_over_beta"), [math.log(1.5), math.log(5)])
    close(dpo.loss(**PAIRED, beta=1.0, scale="two_over_beta"), [2 * math.log(1.5), 2 * math.log(5)])
    with pytest.raises(ValueError, match="'beta' is unknown; allowed: one_over_beta, two_over_beta"):
        dpo.loss(**PAIRED, beta=1.0, scale="beta")


@pytest.mark.parametrize("beta", [0.1, 1.0])
@pytest.mark.parametrize(("scale", "c"), [("one_over_beta", 1), ("two_over_beta", 2)])
def test_dpo_at_the_reference_is_c_ln_two(beta, scale, c):
    at = PAIRED | {
        "ref_logprob_B": -nll(LOGPROBS, MASK, "sequence_sum"),
        "refusal_ref_logprob_B": -nll(REFUSAL_LOGPROBS, REFUSAL_MASK, "sequence_sum"),
    }
    close(dpo.loss(**at, beta=beta, scale=scale), [c / beta * LN2] * 2)


def test_ap_by_hand():
    # log p of refusal − answer: −ln 2 + 6 ln 2 = 5 ln 2, −3 ln 2 + ln 2 = −2 ln 2; −ln σ(−5 ln 2) = ln 33,
    # −ln σ(2 ln 2) = ln 5/4 (β = 1); equally likely: (1/β) ln 2
    close(ap.loss(LOGPROBS, MASK, REFUSAL_LOGPROBS, REFUSAL_MASK, 1.0), [math.log(33), math.log(1.25)])
    close(ap.loss(LOGPROBS, MASK, LOGPROBS, MASK, 0.1), [10 * LN2] * 2)


def test_simnpo_by_hand():
    # ℓ = 2 ln 2 and ln 2; −2 ln σ(2 ln 2) = 2 ln 5/4, −2 ln σ(ln 2) = 2 ln 3/2; with δ = ln 2 less of each
    close(simnpo.loss(LOGPROBS, MASK, 1.0, 0.0), [2 * math.log(1.25), 2 * math.log(1.5)])
    close(simnpo.loss(LOGPROBS, MASK, 1.0, LN2), [2 * math.log(1.5), 2 * LN2])


def test_simnpo_tends_to_gradient_ascent_for_small_beta():
    # −(2/β) ln σ(β ℓ) = (2/β) ln 2 − ℓ + O(β)
    got = simnpo.loss(LOGPROBS, MASK, 1e-6, 0.0) - 2e6 * LN2
    assert got.tolist() == pytest.approx([-2 * LN2, -LN2], abs=1e-5)


def test_me_by_hand():
    # p = (1/4, 3/4): ln 2 + ¼ ln ¼ + ¾ ln ¾ = ¾ ln 3 − ln 2; uniform: 0; the third column does not count;
    # certain: ln 2
    logits = torch.tensor([[[0.0, math.log(3)], [7.0, 7.0], [9.0, 0.0]], [[0.0, 800.0]] * 3], dtype=torch.float64)
    mask = torch.tensor([[True, True, False], [True, False, True]])
    close(me.loss(logits, mask), [(0.75 * math.log(3) - LN2) / 2, LN2])


@pytest.mark.parametrize("level", [0.0, -3.7, 1e4])
def test_me_is_nothing_on_uniform_logits(level):
    uniform = torch.full((2, 3, 151_936), level)
    assert me.loss(uniform, MASK).abs().max() < 1e-6


def test_undial_by_hand():
    # teacher (1/2, 1/2), its true token 0 pushed down by ln 3: q = (1/4, 3/4), and p is the same:
    # ¼ ln 4 + ¾ ln(4/3) = 2 ln 2 − ¾ ln 3
    student = torch.tensor([[[0.0, math.log(3)], [9.0, 0.0]]], dtype=torch.float64)
    teacher = torch.tensor([[[5.0, 5.0], [0.0, 9.0]]], dtype=torch.float64)
    labels, mask = torch.tensor([[0, 1]]), torch.tensor([[True, False]])
    close(undial.loss(student, teacher, labels, mask, math.log(3)), [2 * LN2 - 0.75 * math.log(3)])


def test_weighted_ascents_by_hand():
    # p = 1/2, 1/4, 1/8: −(½·1 + ¼·2 + ⅛·3)/3 ln 2 = −11/24 ln 2; −½ ln 2
    close(wga.loss(LOGPROBS, MASK, 1.0), [-11 / 24 * LN2, -LN2 / 2])
    # p (1 − p) = 16/64, 12/64, 7/64: −(16·1 + 12·2 + 7·3)/64/3 ln 2 = −61/192 ln 2; −¼ ln 2
    close(satimp.loss(LOGPROBS, MASK, 1.0, 1.0), [-61 / 192 * LN2, -LN2 / 4])


def test_weights_of_weighted_ascents_carry_no_gradient():
    logprobs = LOGPROBS.clone().requires_grad_()
    wga.loss(logprobs, MASK, 1.0).sum().backward()
    assert logprobs.grad[0].tolist() == pytest.approx([1 / 6, 1 / 12, 1 / 24])  # p_t / 3


def test_weighted_ascents_without_weights_are_gradient_ascent():
    grads = []
    for loss in (lambda x: ga.loss(x, MASK, "token_mean"), lambda x: wga.loss(x, MASK, 0.0), _bare_satimp):
        logprobs = LOGPROBS.clone().requires_grad_()
        close(loss(logprobs), [-2 * LN2, -LN2])
        loss(logprobs).sum().backward()
        grads.append(logprobs.grad)
    assert torch.equal(grads[0], grads[1]) and torch.equal(grads[0], grads[2])


def _bare_satimp(logprobs):
    return satimp.loss(logprobs, MASK, 0.0, 0.0)


def test_ceu_by_hand():
    # the first token does not count; p = (1/2, 1/4, 1/4), token 0 ruled out: q = (0, 1/2, 1/2), −ln ¼ = 2 ln 2;
    # an answer of one token: 0
    logits = torch.tensor([[9.0, 0.0, 0.0], [LN2, 0.0, 0.0], [0.0, 0.0, 9.0]], dtype=torch.float64).expand(2, 3, 3)
    labels, mask = torch.zeros(2, 3, dtype=torch.long), torch.tensor([[True, True, False], [True, False, False]])
    close(ceu.loss(logits, labels, mask), [2 * LN2, 0.0])


def test_no_retain_term_is_nothing():
    assert none.loss() == 0.0 and none.INPUTS == ()
