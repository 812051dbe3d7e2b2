"""Answers by vLLM, which keeps a GPU filled; pictures are handed to it as they are, it puts their tokens in itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from unlearning.answer.batches import check_items
from unlearning.answer.decoding import Decoding
from unlearning.answer.generate import answers, draws, texts
from unlearning.llm.backends.vllm import start
from unlearning.models.encode import encode_prompts
from unlearning.models.load import source_of
from unlearning.models.pictures import Seen, look, opened, pictures, processor_of
from unlearning.tables.shards import WHOLE, share

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MEMORY_SHARE = 0.9  # of the GPU: the other model has left it


def generate(
    model_json: Path,
    tokenizer: "PreTrainedTokenizerBase",
    stops: set[int],
    items: pd.DataFrame,
    decoding: Decoding,
    seed: int,
    max_new_tokens: int,
    device: str,
    dtype: str,
    shard: Sequence[int] = WHOLE,
) -> pd.DataFrame:
    """The `answers` table of the model of `model_json`, as `unlearning.answer.generate.generate` gives it.

    Greedy answers are the same but for near ties; drawn ones have a seed each by (seed, item_id, sample) too, but
    vLLM's own way to draw. `stops`: tokens that end an answer. Of `shard`, (k, n), every n-th row: vLLM makes its
    batches by itself, so that those of a shard are others. Raises AnswerError on no items, PictureError where a
    picture cannot be shown, ModelError where vLLM cannot start.
    """
    check_items(items)
    rows = share(draws(items, decoding, seed), shard)
    if rows.empty:
        return answers(rows, [])
    asked = prompts(tokenizer, items)
    name, options = source_of(model_json)
    longest = max(len(prompt["prompt_token_ids"]) for prompt in asked)
    shown = max((len(seen.ids) for seen in look(tokenizer, pictures(items)) if seen is not None), default=0)
    settings = {
        "model": name, "device": device, "dtype": dtype, "memory_share": MEMORY_SHARE,
        "max_length": longest + shown + max_new_tokens,
    }  # fmt: skip
    engine = start(settings, options.get("revision"))
    from vllm.sampling_params import SamplingParams

    sampling = [
        SamplingParams(
            temperature=decoding.temperature, top_p=decoding.top_p, max_tokens=max_new_tokens,
            seed=None if decoding.greedy else own % 2**63, stop_token_ids=sorted(stops), detokenize=False,
        )
        for own in rows["seed"]
    ]  # fmt: skip
    try:
        given = engine.generate([asked[i] for i in rows["item"]], sampling)
    finally:
        engine.llm_engine.engine_core.shutdown()
    return answers(rows, texts(tokenizer, [list(output.outputs[0].token_ids) for output in given], stops))


def prompts(tokenizer: "PreTrainedTokenizerBase", items: pd.DataFrame) -> list[dict]:
    """Each item as vLLM takes it: token ids with one placeholder for a picture, and the picture itself beside them."""
    images = pictures(items)
    processor = processor_of(tokenizer)
    placeholders = [None if image is None else Seen([processor.image_token_id], {}) for image in images]
    ids = encode_prompts(tokenizer, items["messages"].tolist(), placeholders)
    known = {image["bytes"]: opened(image) for image in images if image is not None}
    return [
        {"prompt_token_ids": own} | ({} if image is None else {"multi_modal_data": {"image": known[image["bytes"]]}})
        for own, image in zip(ids, images, strict=True)
    ]
