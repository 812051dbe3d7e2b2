"""Log-probabilities of whole answers under a frozen model: made once, so that no reference model need be loaded."""

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
) -> pd.DataFrame:
    """The `ref_logprobs` table of `examples`: log p(y|x) in nats, a sum over the answer's tokens, end-of-text included.

    Batches hold answers of like length; the values do not depend on it beyond rounding.
    """
    model.eval()
    rows = encode_rows(tokenizer, examples, max_length)
    order = sorted(range(len(rows)), key=lambda i: len(rows.encoded[i].prompt_ids) + len(rows.encoded[i].answer_ids))
    sums = [0.0] * len(rows)
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        batch = collate([rows.encoded[i] for i in chosen], pad_id(tokenizer)).to(model.device)
        logprobs_BT = token_logprobs(answer_logits(model, batch), batch.labels_BT, batch.mask_BT)
        for i, total in zip(chosen, logprobs_BT.double().sum(-1).tolist(), strict=True):
            sums[i] = total
    return pd.DataFrame(
        {"example_id": rows.ids, "n_tokens": [len(e.answer_ids) for e in rows.encoded], "logprob": sums}
    )
