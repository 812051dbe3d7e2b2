"""The configuration: one class per section, each key with its type, default and description.

config/README.md is generated from these classes (`make docs`), and unknown keys are refused with the nearest known one.
The sections about benchmarks, models and methods stand in the modules of these names.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from unlearning.config.benchmarks import Files, Leak, Lume, Mu2, Seps
from unlearning.config.fields import Count, Name, Number, Positive, Section, Text, Whole
from unlearning.config.llm import BackendEntry, Llm, Price, RoleEntry
from unlearning.config.methods import Attack, Method
from unlearning.config.models import BaseModelEntry
from unlearning.config.umu import Umu


class Gpus(Section):
    """How many GPUs a job of each verb asks for."""

    train: Count = Field(
        0,
        description="GPUs per training job; 1 or more on a cluster. Weight attacks and reference jobs take one of them",
    )
    answer: Count = Field(0, description="GPUs per answering job")
    complete: Count = Field(0, description="GPUs per bulk LLM job")


class Threads(Section):
    """CPU threads per job; the same number gives the same bytes."""

    base: Positive = Field(1, description="threads of the base model's training, which runs alone")
    train: Positive = Field(1, description="threads of every other training job")
    answer: Positive = Field(1, description="threads of an answering job")
    complete: Positive = Field(1, description="threads of a bulk LLM job")


class Scale(Section):
    """How a training job is spread and kept small. But for rounding results do not depend on it: a change makes the
    report again, which shows the configuration, and nothing else."""

    processes: Positive = Field(
        1, description="processes that train a model together, each on a GPU of its own or on threads.train CPU threads"
    )
    sharding: Literal["none", "full"] = Field(
        "none", description="full = each process keeps a part of weights, gradients and optimiser (`fully_shard`)"
    )
    gradient_checkpointing: bool = Field(
        False, description="compute what a layer made again when it is needed instead of keeping it"
    )
    checkpoint_steps: Count = Field(
        0, description="steps between checkpoints, from which a training that was killed goes on; 0 = none"
    )


class Shards(Section):
    """Into how many jobs one is split. Results do not depend on it, and nothing is asked again when it changes; the
    report is made again, which shows the configuration."""

    answer: Positive = Field(1, description="jobs that share the questions to a model, each loads it")
    complete: Positive = Field(1, description="jobs that share the prompts of a bulk LLM job")


class Experiment(Section):
    """What is run: every combination of what is listed here."""

    enabled: bool = Field(True, description="whether it runs; overlays switch experiments off here")
    benchmark: Name = Field(description="benchmark name")
    base_models: list[Name] = Field(min_length=1, description="base models")
    settings: list[Name] = Field(["default"], min_length=1, description="settings of the benchmark")
    splits: list[Name] = Field(min_length=1, description="what is forgotten")
    methods: list[Name] = Field(
        description="unlearning methods; target and retrain come by themselves, so it may be empty"
    )
    seeds: list[Whole] = Field([0], min_length=1, description="seeds of training")
    score_epochs: list[Count] | Literal["all"] = Field(
        [], description="epochs after which the unlearned models are scored too, besides their last; all = each of them"
    )
    attacks: dict[str, list[Name] | Literal["all"]] = Field(
        {}, description="attack name (compose with +) -> the methods it is tried on, or all"
    )


class Source(Section):
    """Where a benchmark's own files are: a folder outside the project, or a data set; give one of them."""

    folder: Text | None = Field(None, description="the folder; {folder: /path} may be written as /path")
    hub: Text | None = Field(
        None,
        description="a data set of the Hugging Face Hub, owner/name, or a folder in its shape (it begins with /, . or "
        "~); a set's `file` then means <configuration>/<split>; default/<split> where there are no configurations",
    )
    revision: Text | None = Field(None, description="its commit, tag or branch on the Hub; pin it")

    @property
    def copied(self) -> bool:
        """Whether the data set lies in a folder and not on the Hub."""
        return self.hub is not None and self.hub.startswith(("/", ".", "~"))


def _source(given: object) -> object:
    """A folder alone as a map."""
    if isinstance(given, str):
        return {"folder": given}
    if not isinstance(given, (dict, Source)):
        raise PydanticCustomError("source", "neither a folder nor a map")
    return given


SourceEntry = Annotated[Source, BeforeValidator(_source)]


class Config(Section):
    """The whole configuration."""

    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="where models run; auto = CUDA when it is there")
    only: Name | None = Field(None, description="run the experiments of this benchmark only (`make run ONLY=mu2`)")
    gpus: Gpus = Field(Gpus(), description="GPUs per job; independent of `device`")
    threads: Threads = Field(Threads(), description="CPU threads per job")
    shards: Shards = Field(Shards(), description="jobs that one job's questions or prompts are shared among")
    scale: Scale = Field(Scale(), description="several processes per training job, and what saves memory")
    sources: dict[Name, SourceEntry] = Field(
        {}, description="what data are read from, by name: a folder, --config 'sources={tofu: /path}', or a map"
    )
    benchmarks: dict[Name, Annotated[Mu2 | Files | Leak | Lume | Seps | Umu, Field(discriminator="kind")]] = Field(
        description="what is measured"
    )
    base_models: dict[Name, BaseModelEntry] = Field(description="models that unlearning starts from")
    methods: dict[Name, Method] = Field(description="unlearning methods by name")
    attacks: dict[Name, Attack] = Field({}, description="attacks by name")
    experiments: dict[Name, Experiment] = Field(description="what is run, by unique name")
    backends: dict[Name, BackendEntry] = Field({}, description="language models by name; offline is always there")
    roles: dict[str, RoleEntry] = Field(
        {}, description="role -> a backend's name, or a map; roles not named are offline"
    )
    prices: dict[str, Price] = Field({}, description="model -> price, for costs and the spending cap")
    llm: Llm = Field(Llm(), description="what holds for every backend")
    bootstrap_draws: Positive = Field(1000, description="draws behind each interval")
    store_limit_gib: Number = Field(
        20.0, gt=0, description="size that `make prune` trims the store of earlier results to"
    )
    keep_models: Literal["all", "selected", "targets"] = Field(
        "all",
        description="whose weights stay when all is scored: selected = those of base models, targets, retrained and "
        "unlearned models, not of candidates, earlier epochs and attacks; targets = base models and targets alone",
    )
