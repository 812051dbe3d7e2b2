"""The configuration: one class per section, each key with its type, default and description.

config/README.md is generated from these classes (`make docs`), and unknown keys are refused with the nearest known one.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A section of the configuration; keys it does not know are refused."""

    model_config = ConfigDict(extra="forbid", validate_default=True)


class Gpus(Section):
    """How many GPUs a job of each verb asks for."""

    train: Count = Field(0, description="GPUs per training or weight-attack job; 1 or more on a cluster")
    answer: Count = Field(0, description="GPUs per answering job")
    complete: Count = Field(0, description="GPUs per bulk LLM job")


class Threads(Section):
    """CPU threads per job; the same number gives the same bytes."""

    base: Positive = Field(1, description="threads of the base model's training, which runs alone")
    train: Positive = Field(1, description="threads of every other training job")
    answer: Positive = Field(1, description="threads of an answering job")


class Cut(Section):
    """How many invented people a μ² data set has."""

    name: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    memorised: Positive = Field(description="people the target memorises")
    nonmember: Count = Field(description="people never seen, for the membership attack")
    background: Count = Field(description="other people, taught in every language before memorising")
    attributes: list[str] | Literal["all"] = Field(
        "all", description="attributes asked about; all = the 20 of the pools"
    )


class Setting(Section):
    """Languages of one μ² setting."""

    train: list[str] = Field(min_length=1, description="languages in which people are memorised and unlearned")
    holdout: list[str] = Field(min_length=1, description="languages in which they are only asked")


class Asking(Section):
    """How a benchmark's items are answered."""

    batch_size: Positive = Field(256, description="items answered side by side")
    max_new_tokens: Positive = Field(32, description="longest answer")


class Mu2(Section):
    """μ²-Bench: invented people in many languages."""

    kind: Literal["mu2"] = Field(description="which construction: mu2")
    cut: Cut = Field(description="size of the data set")
    forget: dict[Name, Positive] = Field(min_length=1, description="split name -> how many memorised people it forgets")
    settings: dict[Name, Setting] = Field(min_length=1, description="setting name -> its languages")
    heldout_share: Share = Field(
        0.05, description="share of background questions kept from training, asked as general knowledge"
    )
    seed: int = Field(0, description="seed of the data")
    asking: Asking = Field(Asking(), description="how the items are answered")
    judge: Name = Field("rule", description="who decides whether an answer is right")
    metrics: list[Name] = Field(min_length=1, description="what is scored")


class Columns(Section):
    """Which column of a person's files holds what; null = there is none."""

    question: str = Field("question", description="the question")
    answer: str = Field("answer", description="the right answer")
    paraphrase: str | None = Field(None, description="the answer in other words")
    perturbed: str | None = Field(None, description="list of wrong answers in the same words")
    options: str | None = Field(None, description="list of choices")
    correct_option: str | None = Field(None, description="index of the right choice")
    value: str | None = Field(None, description="key part of the answer")
    aliases: str | None = Field(None, description="list of other right forms of the value")
    knowledge_id: str | None = Field(None, description="identifier of the fact; default: set and row")
    person_id: str | None = Field(None, description="identifier of the person or document")
    document: str | None = Field(None, description="a text to train on instead of a question and an answer")


class FileSet(Section):
    """One file of questions (or some of its rows) and its part in the benchmark."""

    file: str = Field(description="path below the source folder")
    rows: tuple[Count, Positive] | None = Field(None, description="first row and the row after the last; null = all")
    align: str | None = Field(
        None, description="a second file whose rows align and bring paraphrase and perturbed answers"
    )
    group: Literal["forget", "retain", "nonmember", "background", "real_authors", "world_facts", "utility"] = Field(
        description="what the set is asked as"
    )
    train: bool = Field(True, description="whether the target is trained on it")
    rows_per_person: Positive | None = Field(None, description="consecutive rows that belong to one person")


class Files(Section):
    """Anyone's own questions, read from files; TOFU is one configuration of it."""

    kind: Literal["files"] = Field(description="which construction: files")
    cut: Name = Field("whole", description="name of the cut, a folder below results/data/<benchmark>/")
    source: Name = Field(description="key of `sources` that gives the folder of the files")
    language: str = Field("en", description="language of the questions")
    columns: Columns = Field(Columns(), description="column names")
    sets: dict[Name, FileSet] = Field(min_length=1, description="set name -> file and part")
    splits: dict[Name, list[Name]] = Field(min_length=1, description="split name -> the sets it forgets")
    asking: Asking = Field(Asking(), description="how the items are answered")
    judge: Name = Field("rule", description="who decides whether an answer is right")
    metrics: list[Name] = Field(min_length=1, description="what is scored")


class Schedule(Section):
    """How a model is trained on a set: base, target and retrained models."""

    epochs: Count = Field(description="passes over the training set; 0 = no training")
    batch_size: Positive = Field(64, description="examples per optimiser step")
    micro_batch_size: Positive | None = Field(None, description="examples per forward pass; null = the whole batch")
    lr: float = Field(gt=0, description="peak learning rate")
    schedule: Literal["cosine", "linear", "constant"] = Field("cosine", description="learning rate after warm-up")
    warmup: Share = Field(0.05, description="share of the steps that warm up")
    weight_decay: float = Field(0.0, ge=0, description="AdamW weight decay")
    betas: tuple[Share, Share] = Field((0.9, 0.999), description="AdamW betas")
    max_grad_norm: float = Field(1.0, gt=0, description="gradient clipping")
    background_share: Share = Field(0.0, description="share of each batch drawn from background rows (target, retrain)")


class Lora(Section):
    """Low-rank adapters, merged into the weights when training ends."""

    r: Positive = Field(8, description="rank")
    alpha: Positive = Field(16, description="scaling: alpha / r")
    dropout: Share = Field(0.0, description="dropout on the adapter's input")
    targets: list[str] | Literal["all-linear"] = Field("all-linear", description="modules that get an adapter")


class Architecture(Section):
    """A small Llama-type model made from scratch."""

    hidden: Positive = Field(128, description="hidden size")
    layers: Positive = Field(2, description="decoder layers")
    heads: Positive = Field(4, description="attention heads")
    intermediate: Positive = Field(256, description="size of the feed-forward layer")
    tokenizer: Literal["bpe", "words"] = Field("bpe", description="byte-level tokenizer: byte pairs, or whole words")
    vocab_size: Positive = Field(
        2048, description="most tokens it may have; it is trained on the benchmark's own texts"
    )
    init_std: float = Field(0.02, gt=0, description="standard deviation of the initial weights")
    max_length: Positive = Field(512, description="longest text in tokens")
    tied: bool = Field(True, description="input and output embeddings shared")


class BaseModelEntry(Section):
    """A base model: made from scratch (architecture) or pretrained (name)."""

    architecture: Architecture | None = Field(None, description="make a small model from scratch")
    name: str | None = Field(None, description="Hugging Face name or a folder; give this or architecture")
    revision: str | None = Field(None, description="commit of the pretrained model; pin it")
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="precision of training and answering")
    lora: Lora | None = Field(None, description="train adapters instead of all weights; null = all weights")
    base: Schedule = Field(Schedule(epochs=0, lr=1e-3), description="teaching the background before memorising")
    target: Schedule = Field(description="memorising")
    retrain: Schedule | None = Field(None, description="the model trained without the forget set; null = as target")
    methods: dict[Name, dict] = Field({}, description="method name -> keys that differ for this base model, e.g. lr")


class Method(Section):
    """An unlearning method: forget term and retain term, and how it is trained."""

    forget: Name = Field(description="forget term")
    retain: Name = Field("none", description="retain term")
    forget_weight: float = Field(1.0, description="weight of the forget term")
    retain_weight: float = Field(1.0, description="weight of the retain term")
    params: dict[str, float | str | bool] = Field({}, description="hyper-parameters of the two terms, e.g. beta")
    reduction: Literal["token_mean", "sequence_sum"] = Field("token_mean", description="how a term sums over tokens")
    epochs: Positive = Field(description="passes over the forget set")
    batch_size: Positive = Field(16, description="forget examples per step; as many retain examples")
    micro_batch_size: Positive | None = Field(None, description="examples per forward pass; null = the whole batch")
    lr: float = Field(gt=0, description="peak learning rate")
    schedule: Literal["cosine", "linear", "constant"] = Field("linear", description="learning rate after warm-up")
    warmup: Share = Field(0.1, description="share of the steps that warm up")
    weight_decay: float = Field(0.0, ge=0, description="AdamW weight decay")
    betas: tuple[Share, Share] = Field((0.9, 0.999), description="AdamW betas")
    max_grad_norm: float = Field(1.0, gt=0, description="gradient clipping")
    collapse_factor: float = Field(
        20.0, gt=1, description="stop when the retain loss passes this multiple of its start"
    )
    lora: Lora | None = Field(None, description="train adapters instead of all weights; null = as the base model says")


class Attack(Section):
    """An attack that tries to recover what was unlearned."""

    attack: Name = Field(description="which attack")
    params: dict[str, float | int | str | bool] = Field({}, description="its parameters")
    only: Literal["forget", "all"] = Field("forget", description="which items are asked under the attack")


class Experiment(Section):
    """What is run: every combination of what is listed here."""

    enabled: bool = Field(True, description="whether it runs; overlays switch experiments off here")
    benchmark: Name = Field(description="benchmark name")
    base_models: list[Name] = Field(min_length=1, description="base models")
    settings: list[Name] = Field(["default"], min_length=1, description="settings of the benchmark")
    splits: list[Name] = Field(min_length=1, description="what is forgotten")
    methods: list[Name] = Field(min_length=1, description="unlearning methods; target and retrain come by themselves")
    seeds: list[int] = Field([0], min_length=1, description="seeds of training")
    attacks: dict[str, list[Name] | Literal["all"]] = Field(
        {}, description="attack name (compose with +) -> the methods it is tried on, or all"
    )


class Config(Section):
    """The whole configuration."""

    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="where models run; auto = CUDA when it is there")
    only: Name | None = Field(None, description="run the experiments of this benchmark only (`make run ONLY=mu2`)")
    gpus: Gpus = Field(Gpus(), description="GPUs per job; independent of `device`")
    threads: Threads = Field(Threads(), description="CPU threads per job")
    sources: dict[Name, str] = Field(
        {}, description="folders outside the project, by name: --config 'sources={tofu: /path}'"
    )
    benchmarks: dict[Name, Annotated[Mu2 | Files, Field(discriminator="kind")]] = Field(description="what is measured")
    base_models: dict[Name, BaseModelEntry] = Field(description="models that unlearning starts from")
    methods: dict[Name, Method] = Field(description="unlearning methods by name")
    attacks: dict[Name, Attack] = Field({}, description="attacks by name")
    experiments: dict[Name, Experiment] = Field(description="what is run, by unique name")
    bootstrap_draws: Positive = Field(1000, description="draws behind each interval")
    store_limit_gib: float = Field(
        20.0, gt=0, description="size that `make prune` trims the store of earlier results to"
    )
