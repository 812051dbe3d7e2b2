"""Log-probabilities of given answers: one forward pass serves every likelihood metric and membership attack.

Shapes: B rows, T longest answer, V vocabulary, N answer tokens of a batch, padding left out. Logarithms are natural.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from unlearning.answer.batches import by_length, check_items, explain_memory
from unlearning.answer.decoding import AnswerError
from unlearning.models.encode import collate, encode_all, pad_id
from unlearning.models.forward import answer_logits
from unlearning.models.pictures import pictures
from unlearning.tables.shards import WHOLE

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class TokenStats(NamedTuple):
    """One number per answer token, rows one after the other."""

    token_logprobs: torch.Tensor
    argmax_hit: torch.Tensor
    vocab_mean: torch.Tensor
    vocab_std: torch.Tensor


def token_stats(logits_NV: torch.Tensor, labels_N: torch.Tensor) -> TokenStats:
    """With p = softmax(logits_NV): log p(label), whether the label is the argmax, and μ, σ of log p(v) under v ~ p.

    μ = Σ_v p(v) log p(v) ≤ 0, σ² = Σ_v p(v) (log p(v) − μ)²: what Min-K%++ standardises with (Zhang et al. 2024,
    "Min-K%++", eq. 3). A token of probability 0 adds nothing. Float32, or float64 if the logits are.
    """
    logits_NV = logits_NV if logits_NV.dtype == torch.float64 else logits_NV.float()
    logp_NV = logits_NV.log_softmax(-1)
    chosen_N = logp_NV.gather(-1, labels_N.unsqueeze(-1)).squeeze(-1)
    hit_N = logits_NV.argmax(-1) == labels_N
    p_NV = logp_NV.exp()
    logp_NV = logp_NV.masked_fill(p_NV == 0, 0.0)  # −inf · 0 would be NaN
    mean_N = (p_NV * logp_NV).sum(-1)
    std_N = (p_NV * (logp_NV - mean_N.unsqueeze(-1)).square()).sum(-1).sqrt()
    return TokenStats(chosen_N, hit_N, mean_N, std_N)


def likelihoods(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    items: pd.DataFrame,
    batch_size: int,
    shard: Sequence[int] = WHOLE,
) -> pd.DataFrame:
    """The `likelihoods` table: for each item in order, its reference, then each of its `candidates`.

    Of `shard`, (k, n), only the rows in every n-th batch, with their numbers in the whole table as index.

    The end-of-text token counts as an answer token. `value_mask` marks the last occurrence of the item's value, and is
    all False where an answer does not contain it. Padding, batch size and order change nothing but rounding.

    Raises AnswerError on no items, numbers that are not finite, or too little memory, PictureError where a picture
    cannot be shown.
    """
    check_items(items)
    rows = _rows(items)
    texts = zip(*((r.messages, r.answer, r.value) for r in rows), strict=True)
    encoded = encode_all(tokenizer, *texts, images=[r.image for r in rows])
    batches = by_length([len(e.prompt_ids) + len(e.answer_ids) for e in encoded], batch_size, shard)
    order = np.concatenate([np.array([], dtype=int), *batches])
    own = np.sort(order)
    parts: list[TokenStats] = []
    with tqdm(total=len(own), desc="likelihoods", unit="answer", mininterval=1) as bar:
        for batch_rows in batches:
            with explain_memory(batch_size):
                parts.append(_batch_stats(model, [encoded[i] for i in batch_rows], pad_id(tokenizer)))
            bar.update(len(batch_rows))
    n_tokens = np.array([len(e.answer_ids) for e in encoded], dtype=np.int32)
    columns = {
        name: _ragged([getattr(part, name).numpy() for part in parts], n_tokens, order) for name in TokenStats._fields
    }
    logprob = np.array([x.sum(dtype=np.float64) for x in columns["token_logprobs"]])
    spread = np.array([x.sum() for x in columns["vocab_std"]])
    rows, encoded = [rows[i] for i in own], [encoded[i] for i in own]
    _check_finite(np.isfinite(logprob) & np.isfinite(spread), rows)
    return pd.DataFrame(
        {
            "item_id": [r.item_id for r in rows],
            "candidate": [r.candidate for r in rows],
            "part": np.int32(0),
            "n_tokens": n_tokens[own],
            "logprob": logprob,
            **columns,
            "value_mask": [np.array(e.value_mask, dtype=bool) for e in encoded],
        },
        index=own,
    )


class _Row(NamedTuple):
    item_id: str
    candidate: str
    messages: list
    answer: str
    value: str | None
    image: dict | None


def _rows(items: pd.DataFrame) -> list[_Row]:
    rows = []
    asked = items[["item_id", "messages", "reference", "value", "candidates"]].itertuples(index=False)
    for item, image in zip(asked, pictures(items), strict=True):
        value = item.value if isinstance(item.value, str) else None  # pandas may hold a missing text as NaN
        rows.append(_Row(item.item_id, "reference", item.messages, item.reference, value, image))
        for candidate in item.candidates if item.candidates is not None else ():
            rows.append(_Row(item.item_id, candidate["name"], item.messages, candidate["text"], value, image))
    return rows


@torch.inference_mode()
def _batch_stats(model: "PreTrainedModel", encoded: list, pad: int) -> TokenStats:
    batch = collate(encoded, pad).to(model.device)
    logits_NV = answer_logits(model, batch)[batch.mask_BT]
    return TokenStats(*(tensor.cpu() for tensor in token_stats(logits_NV, batch.labels_BT[batch.mask_BT])))


def _ragged(flat: list[np.ndarray], n_tokens: np.ndarray, order: np.ndarray) -> list[np.ndarray]:
    """Cut `flat` (rows in `order`, one after the other) into one array a row, in the rows' own order."""
    if not flat:
        return []
    flat = np.concatenate(flat)
    flat = flat.astype(np.float32) if flat.dtype == np.float64 else flat
    pieces = np.split(flat, np.cumsum(n_tokens[order])[:-1])
    return [pieces[i] for i in np.argsort(order)]


def _check_finite(finite: np.ndarray, rows: list[_Row]) -> None:
    if not finite.all():
        first = rows[int(np.argmin(finite))]
        raise AnswerError(
            f"the model gives no finite log-probability for {(~finite).sum()} of {len(rows)} answers, first item "
            f"{first.item_id!r}, candidate {first.candidate!r}: its weights have diverged; lower the learning rate"
        )
