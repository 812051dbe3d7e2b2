"""Backend `transformers`: a local chat model without vLLM, in batches of alike length. JSON schemas do not guide it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.llm.local_model import Shared, check_chat, local_identity, prompt_ids, reply_seed
from unlearning.llm.requests import Failure, Reply, Request
from unlearning.models.load import ModelError, find_device

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

WINDOW = 32  # batches' worth of requests sorted by length at a time


class Transformers:
    """Decodes as the answers of models under test are decoded (`unlearning.answer.generate`).

    Greedy at temperature 0; otherwise each reply has its own random numbers, so that neither the other requests nor
    `batch_size` change it, up to the rounding of the logits. The model is loaded when there is a first request.
    """

    def __init__(self, settings: Mapping):
        self.identity = local_identity(settings)
        self._batch_size = settings["batch_size"]
        self._key: str | None = MODELS.join({**settings, "revision": self.identity["revision"]})

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | Failure]]:
        """Results by window, longest prompts first within it."""
        numbered = enumerate(requests)
        while window := dict(islice(numbered, WINDOW * self._batch_size)):
            yield from self._answer(window)

    def close(self) -> None:
        """Let the model go."""
        if self._key:
            MODELS.leave(self._key)
        self._key = None

    def _answer(self, window: dict[int, Request]) -> Iterator[tuple[int, Reply | Failure]]:
        model, tokenizer = MODELS.get(self._key)
        longest = getattr(model.config, "max_position_embeddings", None)
        prompts = {i: prompt_ids(tokenizer, request, longest) for i, request in window.items()}
        yield from ((i, found) for i, found in prompts.items() if isinstance(found, Failure))
        drawn: dict[tuple, list[int]] = {}
        for i, request in window.items():
            if not isinstance(prompts[i], Failure):
                drawn.setdefault(request.sampling._replace(seed=0), []).append(i)
        for sampling, rows in drawn.items():
            yield from self._continue(sampling, {i: prompts[i] for i in rows}, [reply_seed(window[i]) for i in rows])

    def _continue(self, sampling, prompts: dict[int, list[int]], seeds: list[int]) -> Iterator[tuple[int, Reply]]:
        from unlearning.answer.decoding import Decoding
        from unlearning.answer.generate import continuations

        positions, decoding = list(prompts), Decoding(sampling.temperature, sampling.top_p)
        model, tokenizer = MODELS.get(self._key)
        asked, steps = list(prompts.values()), sampling.max_tokens
        for row, written in continuations(model, tokenizer, asked, decoding, seeds, self._batch_size, steps):
            yield positions[row], Reply(written.text, written.finish_reason, len(asked[row]), written.n_tokens)


def open(settings: Mapping) -> Transformers:
    """The backend. `settings`: model (hub name or folder), revision, dtype, batch_size, device (auto, cpu, cuda)."""
    return Transformers(settings)


def _load(settings: Mapping) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """Model and tokenizer, from safetensors, without any code that a model brings along."""
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name, device = settings["model"], find_device(settings["device"])
    here = {} if Path(name).is_dir() else {"revision": settings["revision"]}
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, **here)
        check_chat(tokenizer, name)
        model = AutoModelForCausalLM.from_pretrained(
            name, dtype=settings["dtype"], use_safetensors=True, trust_remote_code=False, **here
        )
    except OSError as error:
        raise ModelError(f"model {name!r} cannot be loaded: {error}") from error
    return model.to(device).eval(), tokenizer


def _free(loaded: tuple["PreTrainedModel", "PreTrainedTokenizerBase"]) -> None:
    """Give the model's memory back to the GPU, for whatever the job does next."""
    import torch

    if loaded[0].device.type == "cuda":
        loaded[0].to("meta")
        torch.cuda.empty_cache()


MODELS = Shared(_load, _free)
