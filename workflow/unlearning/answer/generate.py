"""Answers of a model to questions, greedy or sampled, the same whatever the batches.

Shapes: B rows still writing, S columns so far, T longest answer, V vocabulary.

Decoding is an own loop, not `model.generate`: that takes over settings a published model ships with (a repetition
penalty, say), so that "greedy" would not be greedy, and it has no seed per row.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from unlearning.answer.batches import by_length, check_items, explain_memory
from unlearning.answer.decoding import AnswerError, Decoding
from unlearning.models.encode import encode_prompts, pad_id
from unlearning.models.forward import core, known, places
from unlearning.models.pictures import Seen, look, pictures, together
from unlearning.seeds import seed_for
from unlearning.tables.shards import WHOLE

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

HEAD = 64  # most nuclei are smaller; sorting a whole vocabulary costs five times as much as finding its first 64
Choose = Callable[[torch.Tensor, np.ndarray, int], torch.Tensor]  # (logits_BV, rows_B, step) -> tokens_B


class Written(NamedTuple):
    """What a model wrote after a prompt. `n_tokens` counts the stopping token too; `finish_reason`: stop or length."""

    text: str
    n_tokens: int
    finish_reason: str


def generate(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    items: pd.DataFrame,
    decoding: Decoding,
    seed: int,
    batch_size: int,
    max_new_tokens: int,
    shard: Sequence[int] = WHOLE,
) -> pd.DataFrame:
    """The `answers` table: for each item, in the items' order, `decoding.samples` answers.

    Of `shard`, (k, n), only the rows in every n-th batch, with their numbers in the whole table as index.

    An answer ends at an end-of-text token ("stop"; the token counts in `n_tokens` and is not in the text) or after
    `max_new_tokens` ("length"; a character cut in the middle of its bytes is left out of the text).

    Sampling: the token at position t of (item, sample) is found by inverting the cumulative distribution at the uniform
    number u_t, and u_0, u_1, … come from a generator seeded by (seed, item_id, sample) alone. So neither the other rows
    of a batch, nor their order, nor a larger `max_new_tokens` changes a draw, up to the rounding of the logits.

    Raises AnswerError on no items or too little memory, PictureError where a picture cannot be shown.
    """
    check_items(items)
    seen = look(tokenizer, pictures(items))
    prompts = encode_prompts(tokenizer, items["messages"].tolist(), seen)
    rows = draws(items, decoding, seed)
    asked, shown = ([given[i] for i in rows["item"]] for given in (prompts, seen))
    seeds = rows["seed"].tolist()
    written = continuations(model, tokenizer, asked, decoding, seeds, batch_size, max_new_tokens, shown, shard)
    about = -(-len(asked) // shard[1])
    found = dict(tqdm(written, total=about, desc="generate", unit="answer", mininterval=1))
    return answers(rows.loc[sorted(found)], [found[row] for row in sorted(found)])


def draws(items: pd.DataFrame, decoding: Decoding, seed: int) -> pd.DataFrame:
    """A row an answer that is wanted, in the items' order: `item` (its place), item_id, sample, and the draw's seed."""
    item = np.repeat(np.arange(len(items)), decoding.samples)
    sample = np.tile(np.arange(decoding.samples, dtype=np.int32), len(items))
    item_ids = items["item_id"].to_numpy()[item]
    seeds = [seed_for(seed, "answer", f"{i}\x1f{k}") for i, k in zip(item_ids, sample, strict=True)]
    return pd.DataFrame({"item": item, "item_id": item_ids, "sample": sample, "seed": pd.Series(seeds, dtype=object)})


def answers(rows: pd.DataFrame, written: Sequence[Written]) -> pd.DataFrame:
    """The `answers` table of what was `written` for each of `rows` (see `draws`)."""
    return rows[["item_id", "sample"]].assign(
        part=np.int32(0),
        text=[answer.text for answer in written],
        n_tokens=np.array([answer.n_tokens for answer in written], dtype=np.int32),
        finish_reason=[answer.finish_reason for answer in written],
    )


def continuations(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    prompts: Sequence[Sequence[int]],
    decoding: Decoding,
    seeds: Sequence[int],
    batch_size: int,
    max_new_tokens: int,
    seen: Sequence[Seen | None] | None = None,
    shard: Sequence[int] = WHOLE,
) -> Iterator[tuple[int, Written]]:
    """(row, what the model writes after the token ids `prompts[row]`), longest prompts first, as batches are done.

    One continuation a row, drawn from the generator seeded by `seeds[row]` (see `generate`; unused when greedy).
    `seen`: the picture that each row's prompt shows, or None. `shard`: see `generate`.
    Raises AnswerError on `max_new_tokens` or `batch_size` below 1, or too little memory.
    """
    if max_new_tokens < 1:
        raise AnswerError(f"max_new_tokens {max_new_tokens}: should be 1 or more")
    choose = _chooser(decoding, seeds, max_new_tokens)
    stops = stop_ids(model, tokenizer)
    for rows in by_length([len(prompt) for prompt in prompts], batch_size, shard):
        with explain_memory(batch_size):
            batch, shown = [prompts[row] for row in rows], together([seen[row] for row in rows] if seen else [])
            written = _continue(model, batch, shown, rows, choose, stops, max_new_tokens, pad_id(tokenizer))
        yield from zip(rows.tolist(), texts(tokenizer, written, stops), strict=True)


def stop_ids(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> set[int]:
    """Tokens that end an answer: the tokenizer's end-of-text token and those of the model's generation settings."""
    own = model.generation_config.eos_token_id if model.generation_config is not None else None
    own = own if isinstance(own, (list, tuple)) else [own]
    return {token for token in [tokenizer.eos_token_id, *own] if token is not None}


def nucleus(logits_BV: torch.Tensor, uniform_B: torch.Tensor, temperature: float, top_p: float) -> torch.Tensor:
    """`tokens_B` drawn from softmax(logits / temperature) cut to its nucleus, at the quantiles `uniform_B` in [0, 1).

    Tokens are laid out from the most likely down; those before which less than `top_p` has been reached are kept, and
    the token whose share of the kept mass contains u is taken.
    """
    probs_BV = torch.softmax(logits_BV.double() / temperature, dim=-1)
    uniform_B = uniform_B.to(probs_BV)
    head_BK, ids_BK = probs_BV.topk(min(HEAD, probs_BV.shape[-1]))
    tokens_B = _invert(head_BK, ids_BK, uniform_B, top_p)
    wide_B = head_BK.sum(-1) < top_p
    if wide_B.any():
        sorted_BV, ids_BV = probs_BV[wide_B].sort(dim=-1, descending=True, stable=True)
        tokens_B[wide_B] = _invert(sorted_BV, ids_BV, uniform_B[wide_B], top_p)
    return tokens_B


def _invert(probs_BK: torch.Tensor, ids_BK: torch.Tensor, uniform_B: torch.Tensor, top_p: float) -> torch.Tensor:
    """The id at quantile `uniform_B` of the nucleus; `probs_BK` falls along each row and reaches `top_p`."""
    reached_BK = probs_BK.cumsum(-1)
    last_B1 = ((reached_BK - probs_BK) < top_p).sum(-1, keepdim=True) - 1
    target_B1 = uniform_B.unsqueeze(-1) * reached_BK.gather(-1, last_B1)
    rank_B1 = torch.searchsorted(reached_BK, target_B1, right=True).minimum(last_B1)
    return ids_BK.gather(-1, rank_B1).squeeze(-1)


def _chooser(decoding: Decoding, seeds: Sequence[int], steps: int) -> Choose:
    if decoding.greedy:
        return lambda logits_BV, rows_B, step: logits_BV.argmax(-1)
    uniforms = torch.from_numpy(np.stack([np.random.default_rng(s).random(steps) for s in seeds]))
    return lambda logits_BV, rows_B, step: nucleus(
        logits_BV, uniforms[rows_B, step], decoding.temperature, decoding.top_p
    )


def _pad_left(prompts: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`ids_BS` and the 0/1 mask `mask_BS` of prompts padded on the left."""
    width = max(map(len, prompts))
    ids, mask = np.full((len(prompts), width), pad), np.zeros((len(prompts), width), dtype=np.int64)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = prompt
        mask[row, width - len(prompt) :] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


@torch.inference_mode()
def _continue(
    model: "PreTrainedModel",
    prompts: Sequence[Sequence[int]],
    pictures: dict[str, torch.Tensor],
    rows: np.ndarray,
    choose: Choose,
    stops: set[int],
    steps: int,
    pad: int,
) -> list[list[int]]:
    """Tokens written after each prompt, the stopping token included. Rows that have stopped leave the batch."""
    ids_BS, mask_BS = (tensor.to(model.device) for tensor in _pad_left(prompts, pad))
    pictures = {name: tensor.to(model.device) for name, tensor in pictures.items()}
    inner = core(model)
    positions_BS = places(inner, ids_BS, mask_BS, (mask_BS.cumsum(1) - 1).clamp_min(0), pictures)
    stops_tensor = torch.tensor(sorted(stops), device=model.device)
    written: list[list[int]] = [[] for _ in prompts]
    alive, cache = np.arange(len(prompts)), None
    for step in range(steps):
        output = model(
            input_ids=ids_BS,
            attention_mask=mask_BS,
            past_key_values=cache,
            use_cache=True,
            return_dict=True,
            **known(inner, {"position_ids": positions_BS, "logits_to_keep": 1}),
            **({} if step else pictures),
        )
        cache = output.past_key_values
        tokens_B = choose(output.logits[:, -1], rows[alive], step)
        for row, token in zip(alive, tokens_B.tolist(), strict=True):
            written[row].append(token)
        going_B = ~torch.isin(tokens_B, stops_tensor)
        if not going_B.any():
            break
        if not going_B.all():
            kept = going_B.nonzero().squeeze(1)
            cache.batch_select_indices(kept)
            alive = alive[kept.cpu().numpy()]
            tokens_B, mask_BS, positions_BS = tokens_B[kept], mask_BS[kept], positions_BS[..., kept, :]
        ids_BS = tokens_B.unsqueeze(1)
        mask_BS = torch.cat([mask_BS, mask_BS.new_ones(len(mask_BS), 1)], dim=1)
        positions_BS = positions_BS[..., -1:] + 1
    return written


def texts(tokenizer: "PreTrainedTokenizerBase", written: list[list[int]], stops: set[int]) -> list[Written]:
    """What the tokens `written` say; those that end in one of `stops` have stopped."""
    stopped = [ids[-1] in stops for ids in written]
    ids = [tokens[:-1] if stop else tokens for tokens, stop in zip(written, stopped, strict=True)]
    said = tokenizer.batch_decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    # a cut character shows as U+FFFD at the end; anywhere else that character is what the model wrote
    return [
        Written(text, len(tokens), "stop") if stop else Written(text.rstrip("\ufffd"), len(tokens), "length")
        for text, tokens, stop in zip(said, written, stopped, strict=True)
    ]
