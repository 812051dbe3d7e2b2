"""MP-ME and MP-IDK: whose tokens are whose, who is paired with whom, both losses, and a run."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import log_softmax

import training
from learning import REFUSALS, forget
from unlearning.methods import mp_idk, mp_me
from unlearning.models.encode import Encoded, EncodeError, collate, encode_marked, encode_prompt
from unlearning.text.numbered import numbered
from unlearning.train.mixed import MixedRows
from unlearning.train.quantities import quantities
from unlearning.train.rows import RowsError

torch.set_num_threads(1)
TABLE = training.table()
GONE = TABLE["person_id"].isin(["memorised0", "memorised1"])
FORGET, RETAIN = TABLE[GONE], TABLE[~GONE]


def plain():
    """The tokenizer of the tests without its chat template, a beginning-of-text token before what it codes."""
    import copy

    tokenizer = copy.deepcopy(training.tokenizer())
    tokenizer.chat_template = None
    return tokenizer


def trimming():
    """A template that trims the texts of messages, as several published ones do."""
    tokenizer = plain()
    tokenizer.chat_template = "{% for m in messages %}<|user|>{{ m['content'] | trim }}{% endfor %}<|assistant|>"
    return tokenizer


def test_numbering_says_where_each_text_stands():
    joined, spans = numbered([" Who? ", "Who?\n"])
    assert joined == "1. Who?\n2. Who?"
    assert spans == [(3, 7), (11, 15)]


def marked(tokenizer, ids, mask):
    return tokenizer.decode([i for i, member in zip(ids, mask, strict=True) if member]).strip()


@pytest.mark.parametrize("make", [training.tokenizer, plain, trimming])
@pytest.mark.parametrize("place", [0, 1])
def test_the_marked_tokens_are_those_of_the_text_at_its_place_even_if_it_stands_there_twice(make, place):
    tokenizer = make()
    texts = ["What does Ada Bo drink?", "Was trinkt ein Kaffee ?"][:: -1 if place else 1]
    texts[place] = texts[1 - place]  # the same words again: where they stand tells them apart
    prompt, asked = numbered(texts)
    answer, said = numbered(["Ada drinks tea.", "Ada drinks tea."])
    messages = [{"role": "user", "content": prompt}]
    encoded = encode_marked(tokenizer, messages, asked[place], answer, said[place])
    mask = encoded.question_mask
    assert encoded.prompt_ids == encode_prompt(tokenizer, messages) and len(mask) == len(encoded.prompt_ids)
    assert marked(tokenizer, encoded.prompt_ids, mask) == texts[place]
    assert marked(tokenizer, encoded.answer_ids, encoded.value_mask) == "Ada drinks tea."
    first, n = mask.index(True), sum(mask)
    assert all(mask[first : first + n])  # one stretch without gaps
    assert tokenizer.decode(encoded.prompt_ids[:first]).rstrip().endswith(f"{place + 1}.")
    assert encoded.answer_ids[-1] == tokenizer.eos_token_id and not encoded.value_mask[-1]


def test_a_long_answer_is_cut_and_a_template_that_changes_texts_is_refused():
    tokenizer, messages = training.tokenizer(), [{"role": "user", "content": "1. a\n2. b"}]
    whole = encode_marked(tokenizer, messages, (3, 4), "1. c\n2. d", (3, 4))
    length = len(whole.prompt_ids) + 2
    cut = encode_marked(tokenizer, messages, (3, 4), "1. c\n2. d", (3, 4), max_length=length)
    assert (cut.answer_ids, cut.value_mask) == (whole.answer_ids[:2], whole.value_mask[:2])
    with pytest.raises(EncodeError, match="leaves no room"):
        encode_marked(tokenizer, messages, (3, 4), "1. c", (3, 4), max_length=len(whole.prompt_ids))
    for template in (
        "{{ messages[-1]['content'][:3] }}",
        "{{ messages[-1]['content'][:4] }}",
        "{% for m in messages * 2 %}{{ m['content'] }}{% endfor %}",
    ):
        changing = plain()
        changing.chat_template = template
        with pytest.raises(EncodeError, match="the chat template rewrites what the user says.*puts it in once.*1. "):
            encode_marked(changing, messages, (3, 4), "1. c", (3, 4))


def rows(whole=False, refusals=None, forget=FORGET, retain=RETAIN, **options):
    return MixedRows(training.tokenizer(), forget, retain, whole, refusals, **options)


def texts(encoded):
    decode = training.tokenizer().decode
    return decode(encoded.prompt_ids), decode(encoded.answer_ids)


def test_both_orders_of_a_pair_hold_the_same_two_questions():
    mixed, n = rows(), len(FORGET)
    assert len(mixed) == 2 * n
    for i in (0, 3):
        rf, fr = mixed.take([i, n + i], "reference", 0, 4)
        kept, gone = RETAIN.iloc[mixed.partner(i, 0, 4)], FORGET.iloc[i]
        q = {name: row["messages"][0]["content"] for name, row in (("r", kept), ("f", gone))}
        asked, said = texts(rf)
        assert asked == f"<|user|>1. {q['r']}\n2. {q['f']}<|assistant|>"
        assert said == f"1. {kept['answer']}\n2. {gone['answer']}<|end|>"
        asked, said = texts(fr)
        assert asked == f"<|user|>1. {q['f']}\n2. {q['r']}<|assistant|>"
        assert said == f"1. {gone['answer']}\n2. {kept['answer']}<|end|>"
        for encoded in (rf, fr):
            assert marked(training.tokenizer(), encoded.answer_ids, encoded.value_mask) == gone["answer"]


def test_a_whole_text_marks_the_forget_question_too_and_a_refusal_stands_in_for_the_answer():
    (encoded,) = rows(whole=True).take([1], "reference", 0, 0)
    assert len(encoded.prompt_ids) == 1 and len(encoded.answer_ids) == len(encoded.value_mask)
    both = marked(training.tokenizer(), encoded.answer_ids, encoded.value_mask)
    gone = FORGET.iloc[1]
    assert both.replace(" ", "") == (gone["messages"][0]["content"] + gone["answer"]).replace(" ", "")
    n = len(FORGET)
    mixed = rows(refusals=REFUSALS)
    said = [[marked(training.tokenizer(), e.answer_ids, e.value_mask) for e in mixed.take([i, n + i], "refusal", 3, e)]
            for i in range(n) for e in range(8)]  # fmt: skip
    assert all(first == second for first, second in said)  # one refusal a pair and epoch
    assert {first for first, _ in said} == {*REFUSALS["en"], *REFUSALS["de"]}


def test_instructions_before_a_question_are_kept_and_outer_white_space_is_not():
    told = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Who?\n"}]
    forget = FORGET.head(1).assign(messages=[told], answer=" Ada. ")
    asked, said = texts(rows(forget=forget).take([1], "reference", 0, 0)[0])
    assert asked.startswith("<|system|>Be brief.<|user|>1. Who?\n2. ") and said.startswith("1. Ada.\n2. ")


def test_partners_speak_the_same_language_and_are_used_up_before_any_comes_again():
    mixed = rows()
    languages = RETAIN["language"].tolist()
    drawn = {"en": [], "de": []}
    for epoch in range(6):
        for i, language in enumerate(FORGET["language"]):
            partner = mixed.partner(i, 7, epoch)
            assert languages[partner] == language
            drawn[language].append(partner)
    for partners in drawn.values():  # 8 to retain in each language, 4 to forget: all in two epochs
        assert [len(set(partners[i : i + 8])) for i in range(0, 24, 8)] == [8, 8, 8]
    again = [rows().partner(i, 7, 5) for i in range(len(FORGET))]
    assert again == [mixed.partner(i, 7, 5) for i in range(len(FORGET))]
    assert again != [mixed.partner(i, 8, 5) for i in range(len(FORGET))]


def test_what_cannot_be_mixed_is_named():
    with pytest.raises(RowsError, match=r"the retain set has no example in \['de'\]"):
        rows(retain=RETAIN[RETAIN["language"] == "en"])
    document = FORGET.head(1).assign(messages=[[]])
    with pytest.raises(RowsError, match="example 'memorised0/drink/en' is no question in text"):
        rows(forget=document)
    with pytest.raises(RowsError, match="is no question in text"):
        rows(retain=RETAIN.assign(modality="image"))


LN2 = math.log(2)
# Three columns, the second of F, the fourth padding.
MASK = torch.tensor([[True, True, True, False]])
OF_F = torch.tensor([[False, True, False, False]])


def test_mp_me_by_hand():
    # θ = (3/4, 1/4) everywhere, ref = (1/2, 1/2), L = 3 + 1: KL(θ‖ref) = KL(θ‖U) = 3/4 ln(3/2) + 1/4 ln(1/2)
    theta, ref = torch.tensor([[[math.log(3), 0.0]] * 4]).double(), torch.zeros(1, 4, 2).double()
    kl = 0.75 * math.log(1.5) - 0.25 * LN2
    found = mp_me.losses(theta, ref, MASK, OF_F)
    assert found["forget"].tolist() == pytest.approx([kl / 4])
    assert found["retain"].tolist() == pytest.approx([2 * kl / 4])
    # the reference is asked about the others only
    ref[0, 1] = torch.tensor([9.0, -9.0])
    assert mp_me.losses(theta, ref, MASK, OF_F)["forget"].tolist() == pytest.approx([kl / 4])


def test_mp_me_is_nothing_at_uniform_on_f_and_at_the_reference_elsewhere():
    ref = torch.randn(1, 4, 6, generator=torch.Generator().manual_seed(0))
    theta = torch.where(OF_F[..., None], 1e4 * torch.ones(6), ref).requires_grad_()
    found = mp_me.losses(theta, ref, MASK, OF_F)
    assert max(abs(value.item()) for value in found.values()) < 1e-6
    sum(found.values()).sum().backward()
    assert theta.grad.abs().max() < 1e-6


def test_mp_idk_by_hand():
    # p = 1/2 and 1/8 of the others, 1/4 of F, over three tokens
    logprobs = torch.log(torch.tensor([[1 / 2, 1 / 4, 1 / 8, 1.0]], dtype=torch.float64))
    found = mp_idk.losses(logprobs, MASK, OF_F)
    assert found["forget"].tolist() == pytest.approx([2 * LN2 / 3])
    assert found["retain"].tolist() == pytest.approx([4 * LN2 / 3])


REFERENCE = training.model(seed=9).double().eval()


def through(method, network, encoded):
    batch = collate(encoded, 0)
    found = method.losses(**quantities(method.INPUTS, network, batch, REFERENCE))
    network.zero_grad()
    (2.0 * found["forget"] + 0.5 * found["retain"]).mean().backward()
    gradient = torch.cat([p.grad.flatten() for p in network.parameters()])
    return {name: value.detach() for name, value in found.items()}, gradient


@pytest.mark.parametrize("make", [training.llama, training.qwen3])
@pytest.mark.parametrize(("method", "whole"), [(mp_me, True), (mp_idk, False)])
def test_padding_and_order_change_nothing(make, method, whole):
    network = make().double()
    encoded = rows(whole=whole, refusals=REFUSALS).take(range(4), "reference" if whole else "refusal", 0, 0)
    value, gradient = through(method, network, encoded)
    backwards, same = through(method, network, encoded[::-1])
    alone = [through(method, network, [e]) for e in encoded]
    for name, parts in value.items():
        assert (parts > 0).all()
        torch.testing.assert_close(backwards[name].flip(0), parts, rtol=0, atol=1e-10)
        torch.testing.assert_close(torch.cat([v[name] for v, _ in alone]), parts, rtol=0, atol=1e-9)
    torch.testing.assert_close(same, gradient, rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.stack([g for _, g in alone]).mean(0), gradient, rtol=0, atol=1e-8)


def naive(network, encoded: Encoded):
    """Both losses of both methods one token at a time, in plain Python on float64 probabilities."""
    ids, start = torch.tensor([encoded.prompt_ids + encoded.answer_ids]), len(encoded.prompt_ids)
    with torch.no_grad():
        p, q = (m(input_ids=ids).logits[0, start - 1 : -1].double().softmax(-1).numpy() for m in (network, REFERENCE))
    me, idk = {"forget": 0.0, "retain": 0.0}, {"forget": 0.0, "retain": 0.0}
    for t, (token, member) in enumerate(zip(encoded.answer_ids, encoded.value_mask, strict=True)):
        aim = np.full(p.shape[-1], 1 / p.shape[-1]) if member else q[t]
        side = "forget" if member else "retain"
        me[side] += float(np.sum(p[t] * np.log(p[t] / aim))) / ids.shape[1]
        idk[side] -= math.log(p[t][token]) / len(encoded.answer_ids)
    return me, idk


def test_they_agree_with_a_naive_loop():
    network = training.llama()
    encoded = rows(whole=True).take([0, 9], "reference", 0, 1)
    value, _ = through(mp_me, network, encoded)
    for i, e in enumerate(encoded):
        assert {n: v[i].item() for n, v in value.items()} == pytest.approx(naive(network, e)[0], rel=1e-9)
    encoded = rows(refusals=REFUSALS).take([0, 9], "refusal", 0, 1)
    value, _ = through(mp_idk, network, encoded)
    for i, e in enumerate(encoded):
        assert {n: v[i].item() for n, v in value.items()} == pytest.approx(naive(network, e)[1], rel=1e-9)


def test_extreme_logits_give_finite_losses_and_gradients():
    theta = torch.tensor([[[1e4, -1e4, 0.0]] * 4], requires_grad=True)
    found = mp_me.losses(theta, torch.tensor([[[-1e4, 1e4, 0.0]] * 4]), MASK, OF_F)
    found |= {f"idk_{n}": v for n, v in mp_idk.losses(log_softmax(theta, -1)[..., 1], MASK, OF_F).items()}
    sum(found.values()).sum().backward()
    assert all(torch.isfinite(value).all() for value in found.values()) and torch.isfinite(theta.grad).all()


def test_mp_me_forgets_the_forget_question_and_holds_the_rest():
    run = forget(training.model(), {"method": "mp_me", "epochs": 4, "lr": 1e-2}, reference=training.model())
    log = pd.DataFrame(run.log)
    # 8 to forget, 3 a step, both orders: three steps an epoch; at the start nothing differs from the reference
    assert len(log) == 12 and log["retain_loss"][0] == pytest.approx(0, abs=1e-6)
    assert log["forget_loss"].iloc[-1] < 0.7 * log["forget_loss"][0]
    assert log["loss"].tolist() == pytest.approx((log["forget_loss"] + log["retain_loss"]).tolist())
    method = {"method": "mp_me", "epochs": 1, "lr": 1e-2, "forget_weight": 0.0}
    held = forget(training.llama(), method, reference=training.llama())
    assert max(row["retain_loss"] for row in held.log) < 1e-9  # nothing pulls away from the reference


def test_a_steps_loss_is_the_sum_over_both_orders_of_the_mean_over_pairs():
    run = forget(training.llama(), {"method": "mp_idk", "batch_size": 8, "retain_weight": 0.5})
    mixed, network = rows(refusals=REFUSALS), training.llama()
    both = {"forget": 0.0, "retain": 0.0}
    for i in range(16):
        (encoded,) = mixed.take([i], "refusal", 0, 0)
        for name, value in naive(network, encoded)[1].items():
            both[name] += value / 8
    assert run.log[0]["forget_loss"] == pytest.approx(both["forget"], rel=1e-6)
    assert run.log[0]["retain_loss"] == pytest.approx(both["retain"], rel=1e-6)
    assert run.log[0]["loss"] == pytest.approx(both["forget"] + 0.5 * both["retain"], rel=1e-6)
