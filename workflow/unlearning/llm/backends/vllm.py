"""Backend `vllm`: bulk generation in this process, JSON schemas guiding it; on all GPUs a job sees, or the CPU."""

import contextlib
import functools
import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.llm.local_model import check_chat, local_identity, prompt_ids, reply_seed
from unlearning.llm.requests import Failure, Reply, Request
from unlearning.models.load import ModelError

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

CPU_BATCH_TOKENS = 4096
OUTSTANDING = 1024  # requests in the engine at a time: more than it runs at once, so that it never waits
QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "WARNING"}
CPU = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "4"}  # GiB for keys and values
INSTALL = "pip install -r envs/vllm.txt (GPU) or -r envs/vllm-cpu.txt (no GPU), in an environment of its own"


class Vllm:
    """vLLM's engine, kept filled: a request goes in as another is done. It is started when there is a first request.

    Greedy at temperature 0; otherwise each reply has its own seed. Batches differ from run to run in size, and their
    sums are rounded differently: near ties may be decided either way.
    """

    def __init__(self, settings: Mapping):
        self._settings = dict(settings)
        self.identity = local_identity(settings)

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | Failure]]:
        """Results as they are done. What is still in the engine when the caller stops listening is dropped."""
        waiting: dict[str, int] = {}  # engine's name of a request -> tokens of its prompt
        numbered = enumerate(requests)
        try:
            while True:
                yield from self._fill(numbered, waiting)
                if not waiting:
                    return
                for output in self._engine.llm_engine.step():
                    if output.finished:
                        yield int(output.request_id), self._result(output, waiting.pop(output.request_id))
        finally:
            if waiting:
                self._engine.llm_engine.abort_request(list(waiting))

    def close(self) -> None:
        """Stop the engine and free its memory."""
        if engine := self.__dict__.pop("_engine", None):
            engine.llm_engine.engine_core.shutdown()

    @functools.cached_property
    def _engine(self) -> "LLM":
        engine = start(self._settings, self.identity["revision"])
        check_chat(engine.get_tokenizer(), self._settings["model"])
        return engine

    def _fill(self, numbered: Iterator[tuple[int, Request]], waiting: dict) -> Iterator[tuple[int, Failure]]:
        """Move requests into the engine while there is room; yields those that it cannot take."""
        while len(waiting) < OUTSTANDING and (found := next(numbered, None)):
            position, request = found
            ids = prompt_ids(self._engine.get_tokenizer(), request, self._settings["max_length"])
            refused = ids if isinstance(ids, Failure) else self._add(str(position), ids, request)
            if refused:
                yield position, refused
            else:
                waiting[str(position)] = len(ids)

    def _add(self, name: str, ids: list[int], request: Request) -> Failure | None:
        from vllm.inputs.engine import tokens_input

        try:
            self._engine.llm_engine.add_request(name, tokens_input(ids), _params(request))
        except ValueError as error:  # a schema it cannot follow, say
            return Failure(f"vLLM refuses the request: {error}", refused=True)
        return None

    def _result(self, output: "RequestOutput", input_tokens: int) -> Reply | Failure:
        written = output.outputs[0]
        if written.finish_reason not in ("stop", "length"):
            return Failure(f"vLLM gave the request up ({written.finish_reason})")
        text = written.text
        if written.finish_reason == "length":  # its text lacks the last token where that ends inside a character
            decode = self._engine.get_tokenizer().decode
            text = decode(written.token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            text = text.rstrip("\ufffd")
        return Reply(text, written.finish_reason, input_tokens, len(written.token_ids))


def open(settings: Mapping) -> Vllm:
    """The backend. `settings`: model (hub name or folder), revision, dtype, max_length, memory_share, device."""
    return Vllm(settings)


def tensor_parallel(gpus: int, heads: int) -> int:
    """Over how many of `gpus` to spread each layer: the most that share its attention `heads` evenly."""
    return next(count for count in range(gpus, 0, -1) if heads % count == 0)


def _params(request: Request) -> "SamplingParams":
    from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams

    sampling, schema = request.sampling, request.schema
    return SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=reply_seed(request) if sampling.temperature else None,
        structured_outputs=StructuredOutputsParams(json=schema) if schema else None,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def check_installed() -> None:
    """ModelError, saying how to install it, where there is no vLLM."""
    if importlib.util.find_spec("vllm") is None:
        raise ModelError(f"vLLM is wanted and not installed here; {INSTALL}")


def start(settings: Mapping, revision: str | None) -> "LLM":
    """The engine, from safetensors, without any code that a model brings along. ModelError says what is missing."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    check_installed()
    from vllm.platforms import current_platform

    on_cpu = _runs_on_cpu(settings["device"], built_for_cpu=current_platform.is_cpu())
    if on_cpu:
        for name, value in CPU.items():
            os.environ.setdefault(name, value)
    from vllm import LLM

    name = settings["model"]
    pinned = None if Path(name).is_dir() else revision
    with _explained(settings):
        return LLM(
            name,
            revision=pinned,
            tokenizer_revision=pinned,
            dtype=settings["dtype"],
            max_model_len=settings["max_length"],
            trust_remote_code=False,
            load_format="safetensors",
            structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": True},
            **(_cpu_options(settings["max_length"]) if on_cpu else _gpu_options(settings, pinned)),
        )


def _runs_on_cpu(device: str, built_for_cpu: bool) -> bool:
    """Where to run, after it was made sure that this vLLM can. ModelError says what to change if not."""
    import torch

    if built_for_cpu and device.startswith("cuda"):
        raise ModelError(f"device {device} was asked for, but this vLLM is the build for CPUs; {INSTALL}")
    if not built_for_cpu and device == "cpu":
        raise ModelError(f"device cpu was asked for, but this vLLM is the build for GPUs; {INSTALL}")
    if not built_for_cpu and not torch.cuda.is_available():
        raise ModelError(
            "vLLM's build for GPUs finds no GPU here. On a cluster, check that the job's partition has one "
            f"(gpus: {{complete: 1}}); to run without, {INSTALL}, or use a backend of kind transformers"
        )
    return built_for_cpu


def _cpu_options(max_length: int) -> dict:
    # Whole prompts at once: after a part of one, vLLM winds a seeded generator back, which a CPU's cannot do.
    whole = {"enable_chunked_prefill": False, "max_num_batched_tokens": max(max_length, CPU_BATCH_TOKENS)}
    return {"enforce_eager": True, "distributed_executor_backend": "uni"} | whole


def _gpu_options(settings: Mapping, revision: str | None) -> dict:
    import torch
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(settings["model"], revision=revision, trust_remote_code=False)
    heads = config.get_text_config().num_attention_heads
    return {
        "tensor_parallel_size": tensor_parallel(torch.cuda.device_count(), heads),
        "gpu_memory_utilization": settings["memory_share"],
    }


@contextlib.contextmanager
def _explained(settings: Mapping):
    """What keeps an engine from starting is mostly the model, its length or the memory: say so."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"vLLM cannot start with model {settings['model']!r}, max_length {settings['max_length']}, memory_share "
            f"{settings['memory_share']}: {error}. For lack of memory lower max_length, free the GPU, or take more GPUs"
        ) from error
