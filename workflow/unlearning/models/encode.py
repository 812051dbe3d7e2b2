"""From messages and an answer to the tensors a causal language model is fed.

Shapes: B examples, P the longest prompt, T the longest answer, S = P + T. Prompts are padded on the left and answers on
the right, so all answers start in column P and logits are needed for the last T columns only. Masks are made from
lengths, never by comparing ids with the padding id: a tokenizer whose padding is its end-of-text token is safe.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from unlearning.models.pictures import Seen, look, placed, processor_of, shown, together
from unlearning.tables.columns import DOCUMENT

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase


class EncodeError(ValueError):
    """A text cannot be turned into tokens; the message says which and why."""


# From where to where in a text, in characters.
Span = tuple[int, int]


class Encoded(NamedTuple):
    """One example in token ids. `value_mask[t]` says whether `answer_ids[t]` belongs to the value.

    `question_mask[t]` says whether `prompt_ids[t]` belongs to a question; None until looked for.
    `spans`: per token of prompt and answer the number of the sensitive span it belongs to, from 1, or 0; None = not
    looked for (see `unlearning.train.spans`). `seen`: the picture that the prompt shows.
    """

    prompt_ids: list[int]
    answer_ids: list[int]
    value_mask: list[bool]
    question_mask: list[bool] | None = None
    spans: list[int] | None = None
    seen: Seen | None = None


@dataclass
class Batch:
    """Padded examples. `labels_BT` holds the answers; where `mask_BT` is False it holds the padding id (never −100).

    `text_mask_BU`: of the last U columns, which hold a token of a question or an answer that something predicts; U
    reaches back to the batch's earliest question. None where an example's question is not marked.
    `pictures`: what the model is given of the pictures shown, by the name of its argument; empty of text alone.
    """

    input_ids_BS: "torch.Tensor"
    attention_mask_BS: "torch.Tensor"
    position_ids_BS: "torch.Tensor"
    labels_BT: "torch.Tensor"
    mask_BT: "torch.Tensor"
    value_mask_BT: "torch.Tensor"
    spans_BS: "torch.Tensor"
    text_mask_BU: "torch.Tensor | None" = None
    pictures: "dict[str, torch.Tensor]" = field(default_factory=dict)

    def to(self, device: "torch.device | str") -> "Batch":
        """The same batch on `device`."""
        there = {name: tensor for name, tensor in vars(self).items() if tensor is not None}
        seen = {name: tensor.to(device, non_blocking=True) for name, tensor in there.pop("pictures").items()}
        return Batch(**{name: tensor.to(device, non_blocking=True) for name, tensor in there.items()}, pictures=seen)


def encode_prompts(
    tokenizer: "PreTrainedTokenizerBase",
    conversations: Sequence[Sequence[dict]],
    seen: Sequence[Seen | None] | None = None,
) -> list[list[int]]:
    """Token ids of each conversation by the chat template, up to where the assistant's answer begins.

    `seen`: the picture that each shows, as `look` gives it, or None; it stands before the user's last words.

    A tokenizer without a template gets the contents, each ended by a newline, after its own beginning-of-text token.
    Models that can think aloud first are asked not to: the answer follows at once, as it was trained. A conversation
    of no turns (a document) is one token, what a text begins after: beginning-of-text, or end-of-text where a tokenizer
    has none. What follows is plain text, without the roles and standing instructions of a template; so is the text of a
    single turn of role DOCUMENT, which stands after that token. A last turn of the assistant is left open: the answer
    goes on from it. Raises PictureError where a picture and its place in the prompt do not fit.
    """
    turns, seen = [_turns(messages) for messages in conversations], seen or [None] * len(conversations)
    chats = [(messages, own) for messages, own in zip(turns, seen, strict=True) if not _plain(messages)]
    asked = iter(_by_template(tokenizer, *map(list, zip(*chats, strict=True))) if chats else [])
    start = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return [[start, *_begin(tokenizer, messages)] if _plain(messages) else next(asked) for messages in turns]


def _plain(messages: list[dict]) -> bool:
    """Whether it is plain text, or the beginning of one, and no conversation."""
    return not messages or messages[0]["role"] == DOCUMENT


def _begin(tokenizer: "PreTrainedTokenizerBase", messages: list[dict]) -> list[int]:
    return tokenizer(messages[0]["content"], add_special_tokens=False).input_ids if messages else []


def _turns(messages: Sequence[dict]) -> list[dict]:
    return [{"role": m["role"], "content": m["content"]} for m in messages]


def _by_template(
    tokenizer: "PreTrainedTokenizerBase", turns: list[list[dict]], seen: list[Seen | None]
) -> list[list[int]]:
    coded = _code(tokenizer, _written(tokenizer, turns, seen)).input_ids
    if processor := processor_of(tokenizer):
        return [placed(ids, processor.image_token_id, own) for ids, own in zip(coded, seen, strict=True)]
    if tokenizer.chat_template:
        return [list(ids) for ids in coded]
    return [list(ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids) for ids in coded]


def _template(tokenizer: "PreTrainedTokenizerBase") -> str | None:
    """The chat template: a processor's knows where a picture stands."""
    processor = processor_of(tokenizer)
    return (processor and processor.chat_template) or tokenizer.chat_template


def _written(
    tokenizer: "PreTrainedTokenizerBase", turns: list[list[dict]], seen: Sequence[Seen | None] = ()
) -> list[str]:
    """Each conversation as one text, up to where the answer begins."""
    if processor_of(tokenizer):
        seen = seen or [None] * len(turns)
        turns = [shown(messages, own is not None) for messages, own in zip(turns, seen, strict=True)]
    if _template(tokenizer):
        return [_by_one_template(tokenizer, messages) for messages in turns]
    texts = ["".join(f"{turn['content']}\n" for turn in messages) for messages in turns]
    return [text[:-1] if _begun(messages) else text for text, messages in zip(texts, turns, strict=True)]


def _begun(messages: list[dict]) -> bool:
    """Whether the answer is begun already."""
    return messages[-1]["role"] == "assistant"


def _by_one_template(tokenizer: "PreTrainedTokenizerBase", messages: list[dict]) -> str:
    way = {"continue_final_message": True} if _begun(messages) else {"add_generation_prompt": True}
    template = _template(tokenizer)
    return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, enable_thinking=False, **way)


def _code(tokenizer: "PreTrainedTokenizerBase", texts: list[str], **options):
    bare = not _template(tokenizer)
    if processor_of(tokenizer) and tokenizer.bos_token:  # LLaVA's template leaves the beginning of the text to this
        bare = not texts[0].startswith(tokenizer.bos_token)
    return tokenizer(texts, add_special_tokens=bare, **options)


def encode_prompt(tokenizer: "PreTrainedTokenizerBase", messages: Sequence[dict]) -> list[int]:
    """`encode_prompts` of one conversation."""
    return encode_prompts(tokenizer, [messages])[0]


def encode_all(
    tokenizer: "PreTrainedTokenizerBase",
    conversations: Sequence[Sequence[dict]],
    answers: Sequence[str],
    values: Sequence[str | None] | None = None,
    max_length: int | None = None,
    images: Sequence[dict | None] | None = None,
) -> list[Encoded]:
    """Encode conversations and their answers; an answer is tokenised by itself and closed by the end-of-text token.

    `images`: the picture {bytes, path} that a conversation shows, or None.

    `value_mask` marks the answer tokens that overlap the last occurrence of the value in the answer; it is all False
    where the value is None or does not occur. Beyond `max_length` tokens an answer loses its end.

    Raises EncodeError where a prompt leaves no room for an answer, or offsets are needed from a slow tokenizer, and
    PictureError as `look` and `encode_prompts` do.
    """
    if not len(answers):
        return []
    seen = look(tokenizer, images) if images is not None else [None] * len(answers)
    spans = [value_span(answer, value) for answer, value in zip(answers, values or [None] * len(answers), strict=True)]
    if any(spans):
        check_offsets(tokenizer, "a value")
    coded = tokenizer(list(answers), add_special_tokens=False, return_offsets_mapping=any(spans))
    offsets = coded["offset_mapping"] if any(spans) else [None] * len(spans)
    prompts = encode_prompts(tokenizer, conversations, seen)
    rows = zip(prompts, coded["input_ids"], spans, offsets, seen, strict=True)
    encoded = [_encoded(tokenizer, *row) for row in rows]
    return (
        encoded if max_length is None else [_cut(e, max_length, m) for e, m in zip(encoded, conversations, strict=True)]
    )


def check_offsets(tokenizer: "PreTrainedTokenizerBase", what: str) -> None:
    """EncodeError, saying that `what` cannot be found, for a tokenizer that does not tell where its tokens stand."""
    if not tokenizer.is_fast:
        raise EncodeError(
            f"{type(tokenizer).__name__} gives no character offsets, so the tokens of {what} cannot be found; "
            "use a model with a fast tokenizer (tokenizer.json)"
        )


def value_span(answer: str, value: str | None) -> Span | None:
    """Characters (from, to) of the last occurrence of `value` in `answer`; None where it has none."""
    found = answer.rfind(value) if value else -1
    return (found, found + len(value)) if found >= 0 else None


def _encoded(
    tokenizer, prompt_ids: list[int], ids: list[int], span: Span | None, offsets, seen: Seen | None = None
) -> Encoded:
    mask = [False] * len(ids) if span is None else _overlaps(offsets, span)
    return Encoded(prompt_ids, [*ids, tokenizer.eos_token_id], [*mask, False], seen=seen)


def _overlaps(places: Sequence[Span], *spans: Span) -> list[bool]:
    return [any(start < b and stop > a for a, b in spans) for start, stop in places]


def _cut(encoded: Encoded, max_length: int, messages: Sequence[dict]) -> Encoded:
    room = max_length - len(encoded.prompt_ids)
    if room < 1:
        ends = messages[-1]["content"][-80:] if len(messages) else ""
        raise EncodeError(
            f"a prompt of {len(encoded.prompt_ids)} tokens leaves no room for an answer in max_length {max_length}; "
            f"raise max_length. The prompt ends: {ends!r}"
        )
    return encoded._replace(answer_ids=encoded.answer_ids[:room], value_mask=encoded.value_mask[:room])


def encode(
    tokenizer: "PreTrainedTokenizerBase",
    messages: Sequence[dict],
    answer: str,
    value: str | None = None,
    max_length: int | None = None,
) -> Encoded:
    """`encode_all` of one conversation and its answer."""
    return encode_all(tokenizer, [messages], [answer], [value], max_length)[0]


# Put around a part of a message while its conversation is written out: code points that Unicode promises to no text.
OPEN, CLOSE = "\ufdd0", "\ufdd1"


def mark_questions(
    tokenizer: "PreTrainedTokenizerBase", encoded: Sequence[Encoded], conversations: Sequence[Sequence[dict]]
) -> list[Encoded]:
    """`encoded` with `question_mask`: the prompt tokens that overlap what the user says, without spaces at its ends.

    Roles, standing instructions and earlier answers are no question; a document has none. Raises EncodeError as
    `located` does.
    """
    check_offsets(tokenizer, "a question")
    pairs = zip(encoded, conversations, strict=True)
    return [_with_question(e, *located(tokenizer, m)[1:]) for e, m in pairs]


def encode_marked(
    tokenizer: "PreTrainedTokenizerBase",
    messages: Sequence[dict],
    prompt_span: Span,
    answer: str,
    answer_span: Span,
    max_length: int | None = None,
) -> Encoded:
    """`encode` of one conversation, its masks being of the tokens that overlap two stretches of characters.

    `prompt_span` counts in the last message: `question_mask` is of it. `answer_span` counts in the answer, and
    `value_mask` is of it. Raises EncodeError as `located` and `encode` do.
    """
    check_offsets(tokenizer, "a question")
    coded = tokenizer(answer, add_special_tokens=False, return_offsets_mapping=True)
    prompt_ids = encode_prompt(tokenizer, messages)
    encoded = _encoded(tokenizer, prompt_ids, coded["input_ids"], answer_span, coded["offset_mapping"])
    encoded = encoded if max_length is None else _cut(encoded, max_length, messages)
    spans = [None] * (len(messages) - 1) + [prompt_span]
    return _with_question(encoded, *located(tokenizer, messages, spans)[1:])


def _with_question(encoded: Encoded, places: Sequence[Span], spans: Sequence[Span]) -> Encoded:
    return encoded._replace(question_mask=_overlaps(places[: len(encoded.prompt_ids)], *spans))


def located(
    tokenizer: "PreTrainedTokenizerBase", messages: Sequence[dict], spans: Sequence[Span | None] | None = None
) -> tuple[str, list[Span], list[Span]]:
    """A conversation's prompt as one text, where in it each prompt token stands, and where its messages' `spans` do.

    `spans`: per message from where to where in its content, or None; by default what the user says, without spaces at
    its ends. The conversation is written out a second time with marks around them, so that their places are known and
    need not be searched for. A document has no prompt.

    Raises EncodeError for a slow tokenizer, and where the chat template does not put each of them in once, as it is.
    """
    check_offsets(tokenizer, "a question")
    turns = _turns(messages)
    if not turns:
        return "", [(0, 0)], []
    spans = [_question(turn) for turn in turns] if spans is None else list(spans)
    marked = [turn if span is None else _marked(turn, span) for turn, span in zip(turns, spans, strict=True)]
    plain, written = _written(tokenizer, [turns, marked])
    parts, n = written.replace(CLOSE, OPEN).split(OPEN), len(spans) - spans.count(None)
    if "".join(parts) != plain or len(parts) != 2 * n + 1:
        raise EncodeError(
            "the chat template rewrites what the user says, so the tokens of a question cannot be found; use a "
            f"template that puts it in once and as it is. The prompt ends: {plain[-80:]!r}"
        )
    ends = list(accumulate(map(len, parts)))
    places = _code(tokenizer, [plain], return_offsets_mapping=True).offset_mapping[0]
    return plain, places, [(ends[i - 1], ends[i]) for i in range(1, len(parts), 2)]


def _question(turn: dict) -> Span | None:
    inner = turn["content"].strip()
    start = turn["content"].find(inner)
    return (start, start + len(inner)) if turn["role"] == "user" and inner else None


def _marked(turn: dict, span: Span) -> dict:
    text, (start, stop) = turn["content"], span
    return {**turn, "content": f"{text[:start]}{OPEN}{text[start:stop]}{CLOSE}{text[stop:]}"}


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
    spans = np.zeros(shape, dtype=np.int64)
    for row, e in enumerate(encoded):
        start, stop = prompt_len - len(e.prompt_ids), prompt_len + len(e.answer_ids)
        ids[row, start:stop] = e.prompt_ids + e.answer_ids
        attention[row, start:stop] = 1
        value[row, : len(e.value_mask)] = e.value_mask
        spans[row, start:stop] = e.spans or 0
    positions = np.maximum(attention.cumsum(1) - 1, 0)
    ids, attention = torch.from_numpy(ids), torch.from_numpy(attention)
    return Batch(
        input_ids_BS=ids,
        attention_mask_BS=attention,
        position_ids_BS=torch.from_numpy(positions),
        labels_BT=ids[:, prompt_len:],
        mask_BT=attention[:, prompt_len:].bool(),
        value_mask_BT=torch.from_numpy(value),
        spans_BS=torch.from_numpy(spans),
        text_mask_BU=_text_mask(encoded, prompt_len, shape),
        pictures=together([e.seen for e in encoded]),
    )


def _text_mask(encoded: Sequence[Encoded], prompt_len: int, shape: tuple[int, int]) -> "torch.Tensor | None":
    """`text_mask_BU` of a batch of `shape` whose answers start in column `prompt_len`."""
    import numpy as np
    import torch

    if any(e.question_mask is None for e in encoded):
        return None
    mask = np.zeros(shape, dtype=bool)
    for row, e in enumerate(encoded):
        start, stop = prompt_len - len(e.prompt_ids), prompt_len + len(e.answer_ids)
        mask[row, start:stop] = [*e.question_mask, *[True] * len(e.answer_ids)]
        mask[row, start] = False  # nothing predicts the first token
    return torch.from_numpy(mask[:, mask.any(0).argmax() :])
