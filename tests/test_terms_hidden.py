"""Terms on hidden states, attention and the likeliest logits: RMU, its retain side, PALU, attention shifting."""

import copy
import math

import pytest
import torch

import training
from unlearning.forget import attention_shift, palu, rmu
from unlearning.models.encode import collate
from unlearning.models.layers import LayerError, hidden_states, layer_number, showing_attention, train_only
from unlearning.retain import attention_shift as attention_shift_retain
from unlearning.retain import mse_hidden
from unlearning.train.quantities import quantities, random_unit
from unlearning.train.terms import load_term

torch.set_num_threads(1)
LN2 = math.log(2)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


def close(got, wanted, abs=1e-12):
    assert got.tolist() == pytest.approx(wanted, abs=abs)


# By hand.

HIDDEN = numbers([[9.0, 9.0], [3.0, 4.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
SEQUENCE = torch.tensor([[False, True, True], [True, True, True]])


def test_rmu_by_hand():
    # c·u = (0, 2): first |(3, 2)|² = 13 and |(0, −2)|² = 4 over two tokens, the padded one aside;
    # then |(1, −2)|² = 5, 5 and |(2, −1)|² = 5 over three
    close(rmu.loss(HIDDEN, SEQUENCE, numbers(0.0, 1.0), 2.0), [8.5, 5.0])


def test_rmu_is_zero_where_the_activations_are_the_target():
    unit = numbers(0.6, 0.8)
    close(rmu.loss((3.0 * unit).expand(2, 3, 2), SEQUENCE, unit, 3.0), [0.0, 0.0])


def test_mse_hidden_by_hand():
    # away from (1, 0): first |(2, 4)|² = 20 and |(−1, 0)|² = 1 over two tokens; then 0, 0, |(1, 1)|² = 2 over three
    ref = numbers(1.0, 0.0).expand(2, 3, 2)
    close(mse_hidden.loss(HIDDEN, ref, SEQUENCE), [10.5, 2 / 3])
    close(mse_hidden.loss(HIDDEN, HIDDEN, SEQUENCE), [0.0, 0.0])


PALU = {"top_k": 2, "first": 1, "kl_weight": 0.5}


def test_palu_by_hand():
    # column 0 is the first of span 1: ref's top two are tokens 0 and 2, z = 3 and 0 there, mean of z (3+0+0)/3 = 1:
    # ((3−1)² + (0−1)²)/2 = 2.5. Column 1 goes on with the span: no term. Column 2: KL(q‖p) of q = (1/4, 1/4, 1/2) and
    # p uniform = ln 3 − (3/2) ln 2. Column 3 is padding.
    z = numbers([[3.0, 0.0, 0.0], [7.0, -7.0, 0.0], [5.0, 5.0, 5.0], [1e4, 0.0, 0.0]])
    ref = numbers([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, LN2], [0.0, 1e4, 0.0]])
    mask, spans = torch.tensor([[True, True, True, False]]), torch.tensor([[1, 1, 0, 2]])
    close(palu.loss(z, ref, mask, spans, **PALU), [2.5 + 0.5 * (math.log(3) - 1.5 * LN2)])
    # with two initial tokens column 1 counts too: ref ties, the top two are any two of (7, −7, 0), their mean is 0
    both = palu.loss(z, ref, mask, spans, top_k=3, first=2, kl_weight=0.0)
    # K = V: ((3−1)² + 1 + 1)/3 = 2 and (49 + 49 + 0)/3 = 98/3
    close(both, [(2 + 98 / 3) / 2])


def test_palu_takes_the_first_tokens_of_every_span_and_the_whole_answer_where_there_is_none():
    # heights (z_0 − mean)² with K = 1 and ref's best token 0: z = (3a, 0, 0), mean a, height 4a²
    heights = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    z = torch.stack([3 * heights, 0 * heights, 0 * heights], -1)[None]
    ref, mask = numbers(1.0, 0.0, 0.0).expand(1, 4, 3), torch.ones(1, 4, dtype=torch.bool)

    def flattened(*spans, first):
        return palu.loss(z, ref, mask, torch.tensor([spans]), 1, first, 0.0)

    close(flattened(1, 1, 2, 2, first=1), [4 * (1 + 9) / 2])  # neighbouring spans begin each by itself
    close(flattened(0, 1, 1, 0, first=9), [4 * (4 + 9) / 2])
    close(flattened(0, 0, 0, 0, first=2), [4 * (1 + 4) / 2])


def test_palu_at_the_reference_has_no_gradient_but_that_of_the_flattened_logits():
    generator = torch.Generator().manual_seed(0)
    ref = torch.randn(2, 4, 6, dtype=torch.float64, generator=generator)
    mask, spans = torch.ones(2, 4, dtype=torch.bool), torch.tensor([[0, 1, 1, 0], [0, 0, 0, 1]])
    z = ref.clone().requires_grad_()
    palu.loss(z, ref, mask, spans, top_k=2, first=1, kl_weight=1.0).sum().backward()
    touched = z.grad.abs() > 1e-12
    assert touched.sum(-1).tolist() == [[0, 2, 0, 0], [0, 0, 0, 2]]


# One layer of one head, two tokens: row 0 sees itself alone, row 1 gives 1/4 and 3/4.
MAP = numbers([[[1.0, 0.0], [0.25, 0.75]]])
REF = numbers([[[1.0, 0.0], [0.5, 0.5]]])
TWO = torch.ones(1, 2, dtype=torch.bool)
FIRST = torch.tensor([[1, 0]])


def test_attention_shift_by_hand():
    # token 0 important, λ = 1/2: row 0 stays (1); row 1 ∝ (1/2·1/2, 1/2) = (1/3, 2/3):
    # KL = 1/4 ln(3/4) + 3/4 ln(9/8), over two rows
    wanted = (0.25 * math.log(3 / 4) + 0.75 * math.log(9 / 8)) / 2
    close(attention_shift.loss((MAP,), (REF,), TWO, FIRST, 0.5), [wanted])
    # two layers of two heads: four times as much
    heads = (MAP.expand(1, 2, 2, 2),) * 2
    close(attention_shift.loss(heads, (REF.expand(1, 2, 2, 2),) * 2, TWO, FIRST, 0.5), [4 * wanted])


def test_attention_shift_on_the_retain_side_by_hand():
    # λ = 1/2: row 1 ∝ (3/2·1/2, 1/2) = (3/5, 2/5): KL = 1/4 ln(5/12) + 3/4 ln(15/8), over two rows
    wanted = (0.25 * math.log(5 / 12) + 0.75 * math.log(15 / 8)) / 2
    close(attention_shift_retain.loss((MAP,), (REF,), TWO, FIRST, 0.5), [wanted])


@pytest.mark.parametrize("term", [attention_shift, attention_shift_retain])
@pytest.mark.parametrize("spans", [[[0, 0]], [[1, 2]]], ids=["none", "all"])
def test_attention_shift_is_zero_at_the_reference_where_nothing_moves(term, spans):
    close(term.loss((REF,), (REF,), TWO, torch.tensor(spans), 0.7), [0.0])
    close(term.loss((REF,), (REF,), TWO, FIRST, 0.0), [0.0])


def test_attention_shift_carries_no_gradient_to_the_target_and_leaves_padding_alone():
    moving, target = MAP.clone().requires_grad_(), REF.clone().requires_grad_()
    attention_shift.loss((moving,), (target,), TWO, FIRST, 0.5).sum().backward()
    assert target.grad is None and moving.grad.abs().sum() > 0
    # a third column of padding before, with rows and columns of nonsense
    wide = [torch.full((1, 1, 3, 3), 0.7, dtype=torch.float64) for _ in range(2)]
    for padded, map_ in zip(wide, (MAP, REF), strict=True):
        padded[..., 1:, 1:] = map_
    mask, spans = torch.tensor([[False, True, True]]), torch.tensor([[1, 1, 0]])
    padded = attention_shift.loss((wide[0],), (wide[1],), mask, spans, 0.5)
    close(padded, attention_shift.loss((MAP,), (REF,), TWO, FIRST, 0.5).tolist())


def test_values_and_gradients_stay_finite_at_extremes():
    logits = torch.tensor([[[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0]]], requires_grad=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    value = palu.loss(logits, -logits.detach(), mask, torch.tensor([[1, 0]]), 2, 1, 1.0)
    scores = torch.tensor([[[[0.0, -1e4], [1e4, -1e4]]]], requires_grad=True)
    # the reference looks where the model has weight 0 and the other way round
    shifted = attention_shift.loss((scores.softmax(-1),), (scores.detach().flip(-1).softmax(-1),), TWO, FIRST, 0.9)
    hidden = torch.full((1, 2, 3), 1e9, requires_grad=True)
    away = rmu.loss(hidden, TWO, torch.ones(3), 6.5)
    held = mse_hidden.loss(hidden, -hidden.detach(), TWO)
    total = value.sum() + shifted.sum() + away.sum() + held.sum()
    total.backward()
    assert torch.isfinite(total)
    assert all(torch.isfinite(x.grad).all() for x in (logits, scores, hidden))


# Which layer, which weights.


@pytest.mark.parametrize(("depth", "number"), [(32, 7), (36, 8), (28, 6), (16, 4), (8, 2), (3, 2), (2, 1), (1, 0)])
def test_the_layer_is_seven_of_thirty_two(depth, number):
    assert layer_number(None, depth) == number and layer_number(0, depth) == 0


def test_a_layer_that_is_not_there_is_refused():
    with pytest.raises(LayerError, match="params.layer: 4 is not there; this model has layers 0 to 3"):
        layer_number(4, 4)
    with pytest.raises(LayerError, match="params.first_layer 2, params.last_layer 1: this model has layers 0 to 3"):
        load_term("forget", "attention_shift", {"first_layer": 2, "last_layer": 1}).layers(4)


def test_rmu_trains_three_layers_and_attention_shifting_the_chosen_ones():
    assert list(load_term("forget", "rmu").layers(32)) == [5, 6, 7]
    assert list(load_term("forget", "rmu", {"layer": 1}).layers(32)) == [0, 1]
    assert list(load_term("retain", "attention_shift").layers(3)) == [0, 1, 2]
    assert list(load_term("forget", "attention_shift", {"first_layer": 1, "last_layer": 1}).layers(3)) == [1]
    assert load_term("forget", "palu").layers(3) is None


def test_nothing_outside_the_layers_trains():
    network = training.deep()
    train_only(network, [1, 2])
    free = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    assert free == {
        name for name, _ in network.named_parameters() if name.startswith(("model.layers.1.", "model.layers.2."))
    }


def test_a_model_without_decoder_layers_is_refused():
    with pytest.raises(LayerError, match="Linear does not keep its decoder layers in model.layers"):
        hidden_states(torch.nn.Linear(2, 2), None)


def test_attention_that_gives_no_weights_is_refused_with_the_fix():
    network = training.deep()
    with pytest.raises(LayerError, match="'sdpa' gives no attention weights; load the model with attn_implementation"):
        quantities(["attention_LBHSS"], network, collate(training.rows().encoded[:1], 0))
    with showing_attention(network, None):
        maps = quantities(["attention_LBHSS"], network, collate(training.rows().encoded[:1], 0))["attention_LBHSS"]
    assert len(maps) == 4 and network.config._attn_implementation == "sdpa"


def test_the_random_direction_is_a_unit_vector_of_the_seed():
    one = random_unit(3, 50)
    assert one.norm().item() == pytest.approx(1) and (one >= 0).all()
    assert torch.equal(one, random_unit(3, 50)) and not torch.allclose(one, random_unit(4, 50))


# Through models.


@pytest.mark.parametrize("make", [training.deep, training.qwen3, training.gemma3])
@pytest.mark.parametrize("layer", [0, 1])
def test_hidden_states_are_what_the_layer_puts_out(make, layer):
    network, batch = make().double().eval(), collate(training.rows().encoded[:3], 0)
    got = hidden_states(network, batch, layer)
    seen = []
    hook = network.model.layers[layer].register_forward_hook(lambda module, given, out: seen.append(out))
    ids = batch.input_ids_BS[1:2, batch.attention_mask_BS[1].bool()]
    network(ids)
    hook.remove()
    torch.testing.assert_close(got[1, batch.attention_mask_BS[1].bool()], seen[0][0], rtol=0, atol=1e-10)
    assert len(network.model.layers) > 1 and not network.model.layers[layer]._forward_hooks


TERMS = [
    ("forget", "rmu", {"layer": 1}),
    ("retain", "mse_hidden", {"layer": 1}),
    ("forget", "palu", {"top_k": 5, "first": 2}),
    ("forget", "attention_shift", {}),
    ("retain", "attention_shift", {}),
]


def examples(chosen):
    """Rows of the tiny table in which the third and fourth token and the answer's second and third are spans."""
    return [
        e._replace(spans=[int(i in (2, 3)) + 2 * int(i - len(e.prompt_ids) in (1, 2)) for i in range(length(e))])
        for e in training.rows().encoded[chosen]
    ]


def length(encoded):
    return len(encoded.prompt_ids) + len(encoded.answer_ids)


def other(network):
    """A copy with other weights: a reference model that differs."""
    reference, generator = copy.deepcopy(network), torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
    return reference


def value_and_gradient(term, network, reference, encoded):
    network.zero_grad()
    settings = {"layer": term.settings.get("layer"), "seed": 3}
    with showing_attention(*((network, reference) if "attention" in term.needs else ())):
        loss_B = term.loss(
            **quantities(term.inputs, network, collate(encoded, 0), reference, **settings), **term.params
        )
    loss_B.mean().backward()
    return loss_B.detach(), torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])


@pytest.mark.parametrize(("folder", "name", "params"), TERMS)
@pytest.mark.parametrize("make", [training.deep, training.qwen3])
def test_a_term_and_its_gradient_are_finite_and_unchanged_by_padding_and_order(folder, name, params, make):
    term, network = load_term(folder, name, params), make()
    reference, encoded = other(network), examples(slice(4))
    value, gradient = value_and_gradient(term, network, reference, encoded)
    assert torch.isfinite(value).all() and torch.isfinite(gradient).all() and gradient.abs().max() > 0
    close_enough = {"rtol": 1e-4, "atol": 1e-5}
    reverse, gradient_reverse = value_and_gradient(term, network, reference, encoded[::-1])
    torch.testing.assert_close(reverse.flip(0), value, **close_enough)
    torch.testing.assert_close(gradient_reverse, gradient, **close_enough)
    # one at a time there is no padding at all
    alone = [value_and_gradient(term, network, reference, [e]) for e in encoded]
    torch.testing.assert_close(torch.cat([v for v, _ in alone]), value, **close_enough)
    torch.testing.assert_close(torch.stack([g for _, g in alone]).mean(0), gradient, **close_enough)


def naive(name, network, reference, encoded, sign):
    """The terms of spec/methods.md, one number at a time, on what float64 models without padding give."""
    import numpy as np

    ids = torch.tensor([encoded.prompt_ids + encoded.answer_ids])
    P, T, S = len(encoded.prompt_ids), len(encoded.answer_ids), ids.shape[1]
    outputs = []
    for model in (network, reference):
        seen = []
        hook = model.model.layers[1].register_forward_hook(lambda module, given, out, seen=seen: seen.append(out[0]))
        with torch.no_grad():
            out = model(ids, output_attentions=True)
        hook.remove()
        maps = [np.array(m[0], dtype=np.float64) for m in out.attentions]
        outputs.append((np.array(seen[0]), np.array(out.logits[0]), maps))
    (h, z, A), (h_ref, z_ref, A_ref) = outputs
    if name == "rmu":
        u = np.array(random_unit(3, h.shape[1]))
        return sum(sum((h[s][d] - 6.5 * u[d]) ** 2 for d in range(len(u))) for s in range(S)) / S
    if name == "mse_hidden":
        return sum(sum((h[s][d] - h_ref[s][d]) ** 2 for d in range(h.shape[1])) for s in range(S)) / S
    if name == "palu":
        z, z_ref, flat, kept = z[P - 1 : P - 1 + T], z_ref[P - 1 : P - 1 + T], [], 0.0
        for t in range(T):
            if t in (1, 2):
                top = np.argsort(-z_ref[t])[:5]
                flat.append(sum((z[t][i] - z[t].mean()) ** 2 for i in top) / 5)
            else:
                p, q = (np.exp(x[t]) / np.exp(x[t]).sum() for x in (z, z_ref))
                kept += sum(q[i] * math.log(q[i] / p[i]) for i in range(len(p)))
        return sum(flat) / 2 + kept
    total = 0.0
    for layer in range(len(A)):
        for head in range(A[0].shape[0]):
            for i in range(S):
                wanted = [A_ref[layer][head][i][j] * (1 + sign * 0.7 * bool(encoded.spans[j])) for j in range(i + 1)]
                for j in range(i + 1):
                    total += A[layer][head][i][j] * math.log(A[layer][head][i][j] / (wanted[j] / sum(wanted))) / S
    return total


@pytest.mark.parametrize(("folder", "name", "params"), TERMS)
def test_a_term_in_float32_agrees_with_a_naive_loop_in_float64(folder, name, params):
    network, encoded = training.qwen3(), examples(slice(4, 7))
    reference = other(network)
    value, _ = value_and_gradient(load_term(folder, name, params), network, reference, encoded)
    with showing_attention(network, reference):
        exact = network.double(), reference.double()
        wanted = [naive(name, *exact, e, -1 if folder == "forget" else 1) for e in encoded]
    assert value.tolist() == pytest.approx(wanted, rel=1e-4)
