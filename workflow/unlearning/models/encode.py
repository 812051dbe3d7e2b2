"""From messages and an answer to the tensors a causal language model is fed.

Shapes: B examples, P the longest prompt, T the longest answer, S = P + T. Prompts are padded on the left and answers on
the right, so all answers start in column P and logits are needed for the last T columns only. Masks are made from
lengths, never by comparing ids with the padding id: a tokenizer whose padding is its end-of-text token is safe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase


class EncodeError(ValueError):
    """A text cannot be turned into tokens; the message says which and why."""


class Encoded(NamedTuple):
    """One example in token ids. `value_mask[t]` says whether `answer_ids[t]` belongs to the value."""

    prompt_ids: list[int]
    answer_ids: list[int]
    value_mask: list[bool]


@dataclass
class Batch:
    """Padded examples. `labels_BT` holds the answers; where `mask_BT` is False it holds the padding id (never −100)."""

    input_ids_BS: "torch.Tensor"
    attention_mask_BS: "torch.Tensor"
    position_ids_BS: "torch.Tensor"
    labels_BT: "torch.Tensor"
    mask_BT: "torch.Tensor"
    value_mask_BT: "torch.Tensor"

    def to(self, device: "torch.device | str") -> "Batch":
        """The same batch on `device`."""
        return Batch(**{name: tensor.to(device, non_blocking=True) for name, tensor in vars(self).items()})


def encode_prompts(tokenizer: "PreTrainedTokenizerBase", conversations: Sequence[Sequence[dict]]) -> list[list[int]]:
    """Token ids of each conversation by the chat template, up to where the assistant's answer begins.

    A tokenizer without a template gets the contents, each ended by a newline, after its own beginning-of-text token.
    Models that can think aloud first are asked not to: the answer follows at once, as it was trained. A conversation
    of no turns (a document) is one token, what a text begins after: beginning-of-text, or end-of-text where a tokenizer
    has none. What follows is plain text, without the roles and standing instructions of a template.
    """
    turns = [[{"role": m["role"], "content": m["content"]} for m in messages] for messages in conversations]
    asked = iter(_by_template(tokenizer, [messages for messages in turns if messages]))
    start = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return [next(asked) if messages else [start] for messages in turns]


def _by_template(tokenizer: "PreTrainedTokenizerBase", turns: list[list[dict]]) -> list[list[int]]:
    if not turns:
        return []
    texts = [_rendered(tokenizer, messages) for messages in turns]
    if tokenizer.chat_template:
        return [list(ids) for ids in tokenizer(texts, add_special_tokens=False).input_ids]
    return [_unended(tokenizer, ids) for ids in tokenizer(texts).input_ids]


def _unended(tokenizer: "PreTrainedTokenizerBase", ids: Sequence[int]) -> list[int]:
    return list(ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids)


def _rendered(tokenizer: "PreTrainedTokenizerBase", messages: Sequence[dict]) -> str:
    if not tokenizer.chat_template:
        return "".join(f"{turn['content']}\n" for turn in messages)
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False, enable_thinking=False)


def encode_prompt(tokenizer: "PreTrainedTokenizerBase", messages: Sequence[dict]) -> list[int]:
    """`encode_prompts` of one conversation."""
    return encode_prompts(tokenizer, [messages])[0]


def encode_all(
    tokenizer: "PreTrainedTokenizerBase",
    conversations: Sequence[Sequence[dict]],
    answers: Sequence[str],
    values: Sequence[str | None] | None = None,
    max_length: int | None = None,
) -> list[Encoded]:
    """Encode conversations and their answers; an answer is tokenised by itself and closed by the end-of-text token.

    `value_mask` marks the answer tokens that overlap the last occurrence of the value in the answer; it is all False
    where the value is None or does not occur. Beyond `max_length` tokens an answer loses its end.

    Raises EncodeError where a prompt leaves no room for an answer, or offsets are needed from a slow tokenizer.
    """
    if not len(answers):
        return []
    spans = [_span(answer, value) for answer, value in zip(answers, values or [None] * len(answers), strict=True)]
    if any(spans):
        _needs_offsets(tokenizer)
    coded = tokenizer(list(answers), add_special_tokens=False, return_offsets_mapping=any(spans))
    offsets = coded["offset_mapping"] if any(spans) else [None] * len(spans)
    prompts = encode_prompts(tokenizer, conversations)
    rows = zip(prompts, coded["input_ids"], spans, offsets, strict=True)
    encoded = [_encoded(tokenizer, *row) for row in rows]
    return (
        encoded if max_length is None else [_cut(e, max_length, m) for e, m in zip(encoded, conversations, strict=True)]
    )


def _needs_offsets(tokenizer: "PreTrainedTokenizerBase") -> None:
    if not tokenizer.is_fast:
        raise EncodeError(
            f"{type(tokenizer).__name__} gives no character offsets, so the tokens of a value cannot be found; "
            "use a model with a fast tokenizer (tokenizer.json)"
        )


def _span(answer: str, value: str | None) -> tuple[int, int] | None:
    found = answer.rfind(value) if value else -1
    return (found, found + len(value)) if found >= 0 else None


def _encoded(tokenizer, prompt_ids: list[int], ids: list[int], span: tuple[int, int] | None, offsets) -> Encoded:
    mask = [False] * len(ids) if span is None else _overlaps(offsets, span)
    return Encoded(prompt_ids, [*ids, tokenizer.eos_token_id], [*mask, False])


def _overlaps(offsets: Sequence[tuple[int, int]], span: tuple[int, int]) -> list[bool]:
    return [start < span[1] and stop > span[0] for start, stop in offsets]


def _cut(encoded: Encoded, max_length: int, messages: Sequence[dict]) -> Encoded:
    room = max_length - len(encoded.prompt_ids)
    if room < 1:
        ends = messages[-1]["content"][-80:] if len(messages) else ""
        raise EncodeError(
            f"a prompt of {len(encoded.prompt_ids)} tokens leaves no room for an answer in max_length {max_length}; "
            f"raise max_length. The prompt ends: {ends!r}"
        )
    return Encoded(encoded.prompt_ids, encoded.answer_ids[:room], encoded.value_mask[:room])


def encode(
    tokenizer: "PreTrainedTokenizerBase",
    messages: Sequence[dict],
    answer: str,
    value: str | None = None,
    max_length: int | None = None,
) -> Encoded:
    """`encode_all` of one conversation and its answer."""
    return encode_all(tokenizer, [messages], [answer], [value], max_length)[0]


PLACEHOLDER = "\ue000"  # a character for private use, which no text has


def encode_marked(
    tokenizer: "PreTrainedTokenizerBase",
    messages: Sequence[dict],
    prompt_span: tuple[int, int],
    answer: str,
    answer_span: tuple[int, int],
    max_length: int | None = None,
) -> tuple[Encoded, list[bool]]:
    """One conversation and its answer, with the tokens that overlap two stretches of characters.

    `prompt_span` counts in the last message: the list says which prompt tokens overlap it. `answer_span` counts in the
    answer, and `value_mask` is about it. The tokens are those of `encode`. EncodeError where offsets are needed from a
    slow tokenizer, where a chat template changes a message's text, or a prompt leaves no room for an answer.
    """
    _needs_offsets(tokenizer)
    *before, last = [{"role": m["role"], "content": m["content"]} for m in messages]
    text = _rendered(tokenizer, [*before, last])
    start, *rest = _rendered(tokenizer, [*before, {**last, "content": PLACEHOLDER}]).split(PLACEHOLDER)
    if PLACEHOLDER in text or len(rest) != 1 or text != start + last["content"] + rest[0]:
        raise EncodeError(
            "the chat template does not put a message's text in once and unchanged, so the tokens of a question cannot "
            f"be told; use a model with another template. The message ends: {last['content'][-80:]!r}"
        )
    templated = bool(tokenizer.chat_template)
    asked = tokenizer(text, add_special_tokens=not templated, return_offsets_mapping=True)
    ids = asked["input_ids"] if templated else _unended(tokenizer, asked["input_ids"])
    mask = _overlaps(asked["offset_mapping"], tuple(len(start) + place for place in prompt_span))[: len(ids)]
    coded = tokenizer(answer, add_special_tokens=False, return_offsets_mapping=True)
    encoded = _encoded(tokenizer, ids, coded["input_ids"], answer_span, coded["offset_mapping"])
    return (encoded if max_length is None else _cut(encoded, max_length, messages)), mask


def pad_id(tokenizer: "PreTrainedTokenizerBase") -> int:
    """The id to fill columns with: the tokenizer's padding token, else its end-of-text token, else 0."""
    for token in (tokenizer.pad_token_id, tokenizer.eos_token_id):
        if token is not None:
            return token
    return 0


def collate(encoded: Sequence[Encoded], pad_id: int) -> Batch:
    """Pad `encoded` into one Batch; positions count from each prompt's own first token. ValueError if it is empty."""
    import numpy as np
    import torch

    if not encoded:
        raise ValueError("a batch needs at least one example")
    prompt_len = max(len(e.prompt_ids) for e in encoded)
    answer_len = max(len(e.answer_ids) for e in encoded)
    shape = (len(encoded), prompt_len + answer_len)
    ids, attention = np.full(shape, pad_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    value = np.zeros((len(encoded), answer_len), dtype=bool)
    for row, e in enumerate(encoded):
        start, stop = prompt_len - len(e.prompt_ids), prompt_len + len(e.answer_ids)
        ids[row, start:stop] = e.prompt_ids + e.answer_ids
        attention[row, start:stop] = 1
        value[row, : len(e.value_mask)] = e.value_mask
    positions = np.maximum(attention.cumsum(1) - 1, 0)
    ids, attention = torch.from_numpy(ids), torch.from_numpy(attention)
    return Batch(
        input_ids_BS=ids,
        attention_mask_BS=attention,
        position_ids_BS=torch.from_numpy(positions),
        labels_BT=ids[:, prompt_len:],
        mask_BT=attention[:, prompt_len:].bool(),
        value_mask_BT=torch.from_numpy(value),
    )
