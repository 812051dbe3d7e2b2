"""How much memory and time a job asks a cluster for. Results do not depend on it; a local run does not look at it."""

from collections.abc import Iterable

from unlearning.config.doors import door_settings
from unlearning.config.llm import OFFLINE
from unlearning.config.models import Architecture, BaseModelEntry
from unlearning.config.schema import Config

PRETRAINED = 8  # billions of parameters of a pretrained model whose entry does not say
LIBRARIES = 2000  # MB of a job without its model; the most that was measured is 954 (docs/slurm.md)
# Bytes of main memory per parameter. Training on CPUs: weights 4, gradients 4, two moments 8, a frozen reference 4, a
# copy to be saved 4. Answering there, and both on a GPU: what is read, and a copy on its way to the GPU or to the disk.
CPU_TRAINING, OTHERWISE = 24, 8
# minutes of any job, and more per billion parameters
MINUTES = {"train": (60, 60), "adjust": (60, 30), "answer": (60, 30), "gather": (60, 0)}
LOCAL_MODEL, LLM_MINUTES = 32_000, 720  # MB of a job with a language model in it; minutes of any that asks one


def billions(entry: BaseModelEntry) -> float:
    """Parameters in billions: counted from the architecture; else the entry's own number, or 8 where there is none."""
    if entry.architecture:
        return _counted(entry.architecture) / 1e9
    return entry.billions or PRETRAINED


def memory(config: Config, verb: str, base_model: str, attempt: int) -> int:
    """MB of main memory of a job on `base_model`, doubled by each further attempt.

    `verb`: train (in scale.processes processes), adjust (weight attacks, reference log-probabilities: in one), answer,
    gather (put shards of answers together, without the model).
    """
    gpus = config.gpus.answer if verb == "answer" else config.gpus.train
    on_cpu = config.device == "cpu" or not gpus
    held = CPU_TRAINING if on_cpu and verb != "answer" else OTHERWISE
    processes = config.scale.processes if verb == "train" else 1
    model = 0 if verb == "gather" else 1000 * held * billions(config.base_models[base_model])
    return round((LIBRARIES + processes * model) * 2 ** (attempt - 1))


def minutes(config: Config, verb: str, base_model: str, attempt: int) -> int:
    """Minutes of a job on `base_model`, once more of them by each further attempt; `verb` as in `memory`."""
    fixed, per_billion = MINUTES[verb]
    return round((fixed + per_billion * billions(config.base_models[base_model])) * attempt)


def llm_memory(config: Config, roles: Iterable[str], attempt: int) -> int:
    """MB of a job that asks `roles`: more where one of them is a model in the job itself; doubled by each attempt."""
    local = {"vllm", "transformers"} & _kinds(config, roles)
    return (LOCAL_MODEL if local else LIBRARIES) * 2 ** (attempt - 1)


def llm_minutes(config: Config, roles: Iterable[str], attempt: int) -> int:
    """Minutes of a job that asks `roles`; what one had answered before its time was up is stored."""
    return (LLM_MINUTES if _kinds(config, roles) - {OFFLINE} else MINUTES["answer"][0]) * attempt


def _kinds(config: Config, roles: Iterable[str]) -> set[str]:
    return {door_settings(config, role)["backend"]["kind"] for role in roles}


def _counted(shape: Architecture) -> int:
    """Embeddings, twice unless tied; of each layer four maps of attention, three of the feed-forward part, norms."""
    embeddings = shape.vocab_size * shape.hidden * (1 if shape.tied else 2)
    layer = 4 * shape.hidden**2 + 3 * shape.hidden * shape.intermediate + 2 * shape.hidden
    return embeddings + shape.layers * layer + shape.hidden + (_seeing(shape) if shape.vision else 0)


def _seeing(shape: Architecture) -> int:
    """The tower: patches, places, layers with biases, norms; and the projector's two maps."""
    see, width = shape.vision, shape.vision.hidden
    patches = (see.image_size // see.patch_size) ** 2
    embeddings = 3 * see.patch_size**2 * width + (patches + 2) * width
    layer = 4 * (width**2 + width) + 2 * width * see.intermediate + see.intermediate + width + 4 * width
    projector = width * shape.hidden + shape.hidden + shape.hidden**2 + shape.hidden
    return embeddings + see.layers * layer + 4 * width + projector
