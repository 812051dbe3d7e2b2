"""Backend `transformers`: a local chat model without vLLM, in batches of alike length. JSON schemas do not guide it."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.llm.local_model import check_chat, local_identity, prompt_ids, reply_seed
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
        self._settings = dict(settings)
        self.identity = local_identity(settings)

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | Failure]]:
        """Results by window, longest prompts first within it."""
        numbered = enumerate(requests)
        while window := dict(islice(numbered, WINDOW * self._settings["batch_size"])):
            yield from self._answer(window)

    def close(self) -> None:
        """Let the model go, and give its memory back to the GPU for whatever the job does next."""
        if loaded := self.__dict__.pop("_loaded", None):
            loaded[0].to("meta")

    @functools.cached_property
    def _loaded(self) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
        return _load(self._settings, self.identity["revision"])

    def _answer(self, window: dict[int, Request]) -> Iterator[tuple[int, Reply | Failure]]:
        model, tokenizer = self._loaded
        longest = getattr(model.config.get_text_config(), "max_position_embeddings", None)
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
        model, tokenizer = self._loaded
        asked, size = list(prompts.values()), self._settings["batch_size"]
        for row, written in continuations(model, tokenizer, asked, decoding, seeds, size, sampling.max_tokens):
            yield positions[row], Reply(written.text, written.finish_reason, len(asked[row]), written.n_tokens)


def open(settings: Mapping) -> Transformers:
    """The backend. `settings`: model (hub name or folder), revision, dtype, batch_size, device (auto, cpu, cuda)."""
    return Transformers(settings)


def _load(settings: Mapping, revision: str) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """Model and tokenizer, from safetensors, without any code that a model brings along."""
    from unlearning.models.optional import leave_out_unused

    leave_out_unused()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name, device = settings["model"], find_device(settings["device"])
    here = {} if Path(name).is_dir() else {"revision": revision}
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, **here)
        check_chat(tokenizer, name)
        model = AutoModelForCausalLM.from_pretrained(
            name, dtype=settings["dtype"], use_safetensors=True, trust_remote_code=False, **here
        )
    except OSError as error:
        raise ModelError(f"model {name!r} cannot be loaded: {error}") from error
    return model.to(device).eval(), tokenizer
