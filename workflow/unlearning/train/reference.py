"""Log-probabilities of answers and refusals under a frozen model, made once: then no reference model is loaded."""

import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from unlearning.models.encode import collate, pad_id
from unlearning.models.forward import answer_logits, token_logprobs
from unlearning.train.rows import encode_rows


@torch.inference_mode()
def reference_logprobs(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    examples: pd.DataFrame,
    max_length: int | None = None,
    batch_size: int = 64,
    refusals: dict[str, list[str]] | None = None,
    seed: int = 0,
    epochs: int = 0,
) -> pd.DataFrame:
    """The `ref_logprobs` table of `examples`: log p(y|x) in nats, a sum over the answer's tokens, end-of-text included.

    After the answers come the refusals that `epochs` epochs of a run of `seed` draw for each example, each once.
    Batches hold texts of like length; the values do not depend on it beyond rounding.
    """
    model.eval()
    rows = encode_rows(tokenizer, examples, max_length, refusals=refusals)
    drawn = sorted({(i, rows.drawn(i, seed, epoch)) for i in range(len(rows)) for epoch in range(epochs)})
    encoded = rows.encoded + [rows.refused(i, refusal) for i, refusal in drawn]
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].prompt_ids) + len(encoded[i].answer_ids))
    sums = [0.0] * len(encoded)
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        batch = collate([encoded[i] for i in chosen], pad_id(tokenizer)).to(model.device)
        logprobs_BT = token_logprobs(answer_logits(model, batch), batch.labels_BT, batch.mask_BT)
        for i, total in zip(chosen, logprobs_BT.double().sum(-1).tolist(), strict=True):
            sums[i] = total
    return pd.DataFrame(
        {
            "example_id": rows.ids + [rows.ids[i] for i, _ in drawn],
            "refusal": pd.array([None] * len(rows) + [refusal for _, refusal in drawn], dtype="Int32"),
            "n_tokens": [len(e.answer_ids) for e in encoded],
            "logprob": sums,
        }
    )
