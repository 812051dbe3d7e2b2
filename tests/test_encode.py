import pytest
import torch
from transformers import AutoTokenizer

import training
from unlearning.models.encode import (
    Encoded,
    EncodeError,
    collate,
    encode,
    encode_all,
    encode_prompt,
    mark_questions,
    pad_id,
)
from unlearning.models.forward import answer_logits, last_logits, token_logprobs
from unlearning.models.tokenizer import train_tokenizer


def ask(text):
    return [{"role": "user", "content": text}]


@pytest.fixture(scope="module")
def tok():
    return train_tokenizer(["What does Ada drink?", "Ada drinks tea.", "อาดาชอบมะม่วง", "1987"], 300)


def shown(tokenizer, ids, mask):
    return tokenizer.decode([token for token, in_value in zip(ids, mask, strict=True) if in_value])


@pytest.mark.parametrize(
    "text",
    ["naïve 日本 😀\n\ttabs  two", "ทั้งหมดชื่ออะไร", "हिन्दी में", "اردو میں", "a-b (c) 12.5%", " lead", "Ελένη; България"],
)
def test_any_text_survives_the_tokenizer(tok, text):
    assert tok.decode(tok(text, add_special_tokens=False).input_ids) == text


def test_texts_in_another_order_give_the_same_tokenizer():
    texts = ["Ada drinks tea.", "Ben drinks tea and rum.", "อาดาชอบมะม่วง"]
    one, other = train_tokenizer(texts, 300), train_tokenizer(reversed(texts + texts), 300)
    assert one.backend_tokenizer.to_str() == other.backend_tokenizer.to_str()


def test_combining_marks_stay_with_their_letters_and_digits_stand_alone():
    tok = train_tokenizer(["ที่นี่ 1987"] * 3, 400)
    tokens = [tok.decode([i]) for i in tok("ที่นี่ 1987", add_special_tokens=False).input_ids]
    assert tokens == ["ที่นี่", " 1", "9", "8", "7"]


def test_padding_and_end_of_text_differ_and_reload(tok, tmp_path):
    tok.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again.pad_token_id != again.eos_token_id
    assert encode(again, ask("What does Ada drink?"), "Tea.") == encode(tok, ask("What does Ada drink?"), "Tea.")


def test_a_vocabulary_below_the_bytes_is_refused():
    with pytest.raises(ValueError, match="at least 261"):
        train_tokenizer(["a"], 260)


def test_prompt_is_the_chat_template_up_to_the_answer(tok):
    assert tok.decode(encode_prompt(tok, ask("What does Ada drink?"))) == "<|user|>What does Ada drink?<|assistant|>"
    talk = [*ask("Hi"), {"role": "assistant", "content": "Yes"}, *ask("So?")]
    assert tok.decode(encode_prompt(tok, talk)) == "<|user|>Hi<|assistant|>Yes<|end|><|user|>So?<|assistant|>"


def test_without_a_template_the_question_is_a_line(tok, tmp_path):
    tok.save_pretrained(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    plain = AutoTokenizer.from_pretrained(tmp_path)
    assert plain.chat_template is None
    assert plain.decode(encode_prompt(plain, ask("Who?"))) == "Who?\n"


def test_answer_ends_with_end_of_text(tok):
    encoded = encode(tok, ask("Who?"), "Ada drinks tea.")
    assert encoded.answer_ids[-1] == tok.eos_token_id
    assert tok.decode(encoded.answer_ids[:-1]) == "Ada drinks tea."


@pytest.mark.parametrize(
    ("answer", "value", "marked"),
    [
        ("Ada drinks tea.", "tea", " tea"),
        ("tea is what Ada calls tea", "tea", " tea"),  # the last occurrence only
        ("อาดาชอบกล้วย", "กล้วย", "กล้วย"),
    ],
)
def test_value_mask_covers_the_last_occurrence_of_the_value(tok, answer, value, marked):
    encoded = encode(tok, ask("Who?"), answer, value)
    found = shown(tok, encoded.answer_ids, encoded.value_mask)
    # a token may reach beyond the value, never fall short of it
    assert value in found and found in answer
    assert len(found) < len(answer)
    assert marked in found
    assert encoded.value_mask[-1] is False


@pytest.mark.parametrize("value", [None, "", "coffee"])
def test_no_value_marks_nothing(tok, value):
    assert not any(encode(tok, ask("Who?"), "Ada drinks tea.", value).value_mask)


def test_max_length_cuts_the_answers_end_and_refuses_a_prompt_that_fills_it(tok):
    whole = encode(tok, ask("Who?"), "Ada drinks tea.", "tea")
    room = len(whole.prompt_ids) + 2
    cut = encode(tok, ask("Who?"), "Ada drinks tea.", "tea", max_length=room)
    assert cut == Encoded(whole.prompt_ids, whole.answer_ids[:2], whole.value_mask[:2])
    with pytest.raises(EncodeError, match="raise max_length"):
        encode(tok, ask("Who?"), "Ada drinks tea.", max_length=len(whole.prompt_ids))


def asked(tokenizer, *conversations):
    """The text of the tokens marked as questions, per conversation."""
    encoded = encode_all(tokenizer, conversations, ["Yes."] * len(conversations))
    marked = mark_questions(tokenizer, encoded, conversations)
    assert [m._replace(question_mask=None) for m in marked] == encoded
    return [shown(tokenizer, m.prompt_ids, m.question_mask) for m in marked]


@pytest.fixture
def templated(tok, tmp_path):
    """The tokenizer with another chat template (None for none)."""

    def with_template(template):
        tok.save_pretrained(tmp_path)
        again = AutoTokenizer.from_pretrained(tmp_path)
        again.chat_template = template
        return again

    return with_template


def test_the_users_words_are_marked_as_the_question_and_nothing_else(tok):
    told = [{"role": "system", "content": "Answer. Who?"}, *ask("Who?")]
    talk = [*ask("Hi"), {"role": "assistant", "content": "Hi"}, *ask("อาดาชอบอะไร")]
    assert asked(tok, ask("What does Ada drink?"), [], ask("user"), told, talk) == [
        "What does Ada drink?", "", "user", "Who?", "Hiอาดาชอบอะไร",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "template",
    [
        None,  # each content, then a newline
        "You are asked: Who? {% for m in messages %}[user]{{ m['content'] | trim }}{% endfor %}[assistant]",
        "{% for m in messages %}{{ '<|user|>' + m['content'].strip() }}{% endfor %}Who?<|assistant|>",
    ],
)
def test_a_question_is_found_by_its_place_under_any_template(templated, template):
    # neither the same words elsewhere nor trimmed spaces mislead; a token may reach over the question's end
    tokenizer = templated(template)
    whole, spaced = asked(tokenizer, ask("Who?"), ask(" \nWho? "))
    assert whole.strip("[ \n<") == spaced.strip("[ \n<") == "Who?"


def test_a_question_that_cannot_be_found_is_refused(tok, templated):
    class Slow:
        is_fast = False

    with pytest.raises(EncodeError, match="Slow gives no character offsets, so the tokens of a question"):
        mark_questions(Slow(), [], [])
    cutting = templated("{% for m in messages %}{{ m['content'][:3] }}{% endfor %}")
    with pytest.raises(EncodeError, match="the chat template rewrites what the user says.*'Who'"):
        asked(cutting, ask("Who?"))
    with pytest.raises(EncodeError, match="rewrites"):  # the marks themselves in a text
        asked(tok, ask("Who\ufdd0?"))


def test_the_text_mask_reaches_back_to_the_earliest_question():
    # prompts [5, 6, 7] and [8, 9]: questions 6 and, wrongly first, 8, which nothing predicts; answers follow
    first = Encoded([5, 6, 7], [7, 1], [False] * 2, [False, True, False])
    second = Encoded([8, 9], [9, 9, 1], [False] * 3, [True, False])
    batch = collate([first, second], 0)
    assert batch.text_mask_BU.tolist() == [[True, False, True, True, False], [False, False, True, True, True]]
    assert batch.to("cpu").text_mask_BU.shape == (2, 5)
    document = Encoded([8], [9, 9, 1], [False] * 3, [False])
    assert collate([document], 0).text_mask_BU.tolist() == [[True, True, True]]
    assert collate([first, second._replace(question_mask=None)], 0).text_mask_BU is None


@pytest.mark.parametrize("make", [training.llama, training.qwen3])
def test_last_logits_are_those_of_a_plain_forward_pass(make):
    network = make().double().eval()
    batch = collate(training.rows().encoded[:1], 0)
    whole = network(input_ids=batch.input_ids_BS).logits[:, :-1]
    for n in (1, 4, whole.shape[1]):
        torch.testing.assert_close(last_logits(network, batch, n), whole[:, -n:], rtol=0, atol=1e-10)


def test_collate_pads_prompts_left_and_answers_right():
    batch = collate([Encoded([5, 6], [7, 1], [True, False]), Encoded([8], [9, 9, 1], [False] * 3)], pad_id=0)
    assert batch.input_ids_BS.tolist() == [[5, 6, 7, 1, 0], [0, 8, 9, 9, 1]]
    assert batch.attention_mask_BS.tolist() == [[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]]
    assert batch.position_ids_BS[0, :4].tolist() == [0, 1, 2, 3]
    assert batch.position_ids_BS[1, 1:].tolist() == [0, 1, 2, 3]
    assert batch.labels_BT.tolist() == [[7, 1, 0], [9, 9, 1]]
    assert batch.mask_BT.tolist() == [[True, True, False], [True] * 3]
    assert batch.value_mask_BT.tolist() == [[True, False, False], [False] * 3]
    with pytest.raises(ValueError, match="at least one example"):
        collate([], 0)


def test_masks_come_from_lengths_when_padding_is_end_of_text():
    eos = 1
    examples = [Encoded([5, 6], [7, eos], [False] * 2), Encoded([5], [8, 9, 9, eos], [False] * 4)]
    as_eos, apart = collate(examples, pad_id=eos), collate(examples, pad_id=0)
    assert torch.equal(as_eos.mask_BT, apart.mask_BT)
    assert torch.equal(as_eos.attention_mask_BS, apart.attention_mask_BS)
    assert as_eos.mask_BT.sum(1).tolist() == [2, 4]  # the real end-of-text tokens count
    network = training.llama().eval()

    def probabilities(batch):
        return token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)

    torch.testing.assert_close(probabilities(as_eos), probabilities(apart), rtol=0, atol=1e-12)


def test_pad_id_prefers_the_padding_token(tok):
    assert pad_id(tok) == tok.pad_token_id == 0


@pytest.mark.parametrize("make", [training.llama, training.qwen3, training.gemma3])
def test_padding_and_order_change_no_logprob(make):
    network = make().double().eval()
    encoded = training.rows().encoded[:6]

    def logprobs(examples):
        batch = collate(examples, 0)
        return token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)

    together = logprobs(encoded)
    backwards = logprobs(encoded[::-1]).flip(0)
    torch.testing.assert_close(together, backwards, rtol=0, atol=1e-10)
    for row, example in enumerate(encoded):
        alone = logprobs([example])[0]
        torch.testing.assert_close(together[row, : len(alone)], alone, rtol=0, atol=1e-9)
        assert not together[row, len(alone) :].any()


@pytest.mark.parametrize("make", [training.llama, training.qwen3, training.gemma3])
def test_logprobs_agree_with_a_plain_forward_pass_without_padding(make):
    network = make().double().eval()
    example = training.rows().encoded[3]
    ids = torch.tensor([example.prompt_ids + example.answer_ids])
    with torch.no_grad():
        logp_SV = network(input_ids=ids).logits[0].log_softmax(-1)
    P = len(example.prompt_ids)
    naive = [logp_SV[P - 1 + t, token].item() for t, token in enumerate(example.answer_ids)]
    batch = collate([example, training.rows().encoded[0]], 0)
    ours = token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)[0]
    assert ours[: len(naive)].tolist() == pytest.approx(naive, abs=1e-9)


def test_a_model_that_cannot_cut_its_logits_is_cut_for():
    class Plain(torch.nn.Module):
        def forward(self, input_ids, attention_mask=None):
            from types import SimpleNamespace

            return SimpleNamespace(logits=torch.nn.functional.one_hot(input_ids, 10).double())

    batch = collate([Encoded([5, 6], [7, 1], [False] * 2)], 0)
    assert answer_logits(Plain(), batch).argmax(-1).tolist() == [[6, 7]]  # predicted from the tokens before 7 and 1


def test_token_logprobs_by_hand():
    # p = (1/4, 3/4): logits (0, ln 3); ln(3/4) = −0.28768; the masked column is exactly 0
    logits = torch.tensor([[[0.0, 1.0986123], [0.0, 1.0986123]]])
    got = token_logprobs(logits, torch.tensor([[1, 0]]), torch.tensor([[True, False]]))
    assert got[0, 0].item() == pytest.approx(-0.28768, abs=1e-5)
    assert got[0, 1].item() == 0.0


def test_half_precision_logits_are_scored_in_float32():
    logits = torch.randn(2, 3, 50, dtype=torch.float32).bfloat16()
    labels, mask = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool)
    got = token_logprobs(logits, labels, mask)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, logits.float().log_softmax(-1)[..., 0])
