"""One forward pass: logits where an answer is predicted, and the log-probabilities of its tokens.

Shapes: B examples, S columns, T answer columns, U columns of questions and answers, V vocabulary (see
`unlearning.models.encode`). Logarithms are natural.
"""

import inspect
from functools import cache

import torch
from torch import nn

from unlearning.models.encode import Batch


@cache
def _accepted(kind: type) -> frozenset[str]:
    return frozenset(inspect.signature(kind.forward).parameters)


def core(model: nn.Module) -> nn.Module:
    """The model under wrappers (distributed, PEFT) that hide its layers and the arguments its forward accepts."""
    while hasattr(model, "module"):
        model = model.module
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def answer_logits(model: nn.Module, batch: Batch) -> torch.Tensor:
    """`logits_BTV`: column t holds the logits that predict `labels_BT[:, t]`."""
    return last_logits(model, batch, batch.labels_BT.shape[1])


def last_logits(model: nn.Module, batch: Batch, n: int) -> torch.Tensor:
    """The logits that predict the last `n` columns of a batch, n < S.

    The last column is not fed, since nothing reads its prediction. Models that can are asked for those n columns
    only; others compute all and are cut.
    """
    return run(model, batch, stop=-1, logits_to_keep=n).logits[:, -n:]


def run(model: nn.Module, batch: Batch, stop: int | None = None, logits_to_keep: int = 0, **more):
    """`model`'s output for the columns of `batch` before `stop` (None = all of them); `more` goes to its forward.

    Of our own arguments those that a model does not know (position ids, say) are left out.
    """
    inner, ids, mask = core(model), batch.input_ids_BS[:, :stop], batch.attention_mask_BS[:, :stop]
    arguments = {
        "attention_mask": mask,
        "position_ids": places(inner, ids, mask, batch.position_ids_BS[:, :stop], batch.pictures),
        "logits_to_keep": logits_to_keep,
        "use_cache": False,
    }
    return model(input_ids=ids, **known(inner, arguments), **batch.pictures, **more)


def known(inner: nn.Module, arguments: dict) -> dict:
    """Those of `arguments` that the forward of `inner` takes."""
    return {name: value for name, value in arguments.items() if name in _accepted(type(inner))}


def places(
    inner: nn.Module,
    ids_BS: torch.Tensor,
    mask_BS: torch.Tensor,
    positions_BS: torch.Tensor,
    pictures: dict[str, torch.Tensor],
) -> torch.Tensor:
    """Where each token stands: `positions_BS`; 3×B×S of a model that lays pictures out in rows and columns (Qwen-VL).

    Tokens of a picture stand in time, row and column of their own; those of text at the same place in all three.
    """
    own = getattr(inner, "model", None)
    if not pictures or not hasattr(own, "get_rope_index"):
        return positions_BS
    kinds_BS = (ids_BS == inner.config.image_token_id).int()
    grid = {"image_grid_thw": pictures["image_grid_thw"]}
    return own.get_rope_index(ids_BS, mm_token_type_ids=kinds_BS, attention_mask=mask_BS, **grid)[0]


def token_logprobs(logits_BTV: torch.Tensor, labels_BT: torch.Tensor, mask_BT: torch.Tensor) -> torch.Tensor:
    """`logprobs_BT`: log p(label) in nats, ≤ 0, exactly 0 where masked; in float32, or float64 if the logits are."""
    logits_BTV = logits_BTV if logits_BTV.dtype == torch.float64 else logits_BTV.float()
    chosen_BT = logits_BTV.gather(-1, labels_BT.unsqueeze(-1)).squeeze(-1)
    return torch.where(mask_BT, chosen_BT - logits_BTV.logsumexp(-1), 0.0)
