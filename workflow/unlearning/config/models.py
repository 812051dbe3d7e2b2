"""The sections about base models: what they are and how they are trained."""

from typing import Literal

from pydantic import Field

from unlearning.config.fields import Count, Name, Number, Part, Positive, Section, Share, Text


class Schedule(Section):
    """How a model is trained on a set: base, target and retrained models."""

    epochs: Count = Field(description="passes over the training set; 0 = no training")
    batch_size: Positive = Field(64, description="examples per optimiser step")
    micro_batch_size: Positive | None = Field(None, description="examples per forward pass; null = the whole batch")
    lr: Number = Field(gt=0, le=1, description="peak learning rate")
    schedule: Literal["cosine", "linear", "constant"] = Field("cosine", description="learning rate after warm-up")
    warmup: Share = Field(0.05, description="share of the steps that warm up")
    optimizer: Literal["adamw", "adamw_8bit"] = Field(
        "adamw", description="adamw_8bit keeps its state in a quarter of the memory"
    )
    weight_decay: Number = Field(0.0, ge=0, description="AdamW weight decay")
    betas: tuple[Part, Part] = Field((0.9, 0.999), description="AdamW betas")
    max_grad_norm: Number = Field(1.0, gt=0, description="gradient clipping")
    background_share: Part = Field(0.0, description="share of each batch drawn from background rows (target, retrain)")


class Lora(Section):
    """Low-rank adapters, merged into the weights when training ends."""

    r: Positive = Field(8, description="rank")
    alpha: Positive = Field(16, description="scaling: alpha / r")
    dropout: Share = Field(0.0, description="dropout on the adapter's input")
    targets: list[str] | Literal["all-linear"] = Field("all-linear", description="modules that get an adapter")


class Vision(Section):
    """What a small model sees with: a CLIP tower over square pictures, made from scratch."""

    image_size: Positive = Field(56, description="pixels along each side that a picture is resized to")
    patch_size: Positive = Field(14, description="pixels along each side of a patch; divides image_size")
    hidden: Positive = Field(64, description="hidden size; a multiple of heads")
    layers: Positive = Field(2, description="layers")
    heads: Positive = Field(4, description="attention heads")
    intermediate: Positive = Field(128, description="size of the feed-forward layer")


class Architecture(Section):
    """A small Llama-type model made from scratch; with `vision`, a LLaVA."""

    hidden: Positive = Field(128, description="hidden size; a multiple of 2 x heads")
    layers: Positive = Field(2, description="decoder layers")
    heads: Positive = Field(4, description="attention heads")
    intermediate: Positive = Field(256, description="size of the feed-forward layer")
    tokenizer: Literal["bpe", "words"] = Field("bpe", description="byte-level tokenizer: byte pairs, or whole words")
    vocab_size: Positive = Field(
        2048, description="most tokens it may have, at least 261; it is trained on the benchmark's own texts"
    )
    init_std: Number = Field(0.02, gt=0, description="standard deviation of the initial weights")
    max_length: Positive = Field(512, description="longest text in tokens")
    tied: bool = Field(True, description="input and output embeddings shared")
    vision: Vision | None = Field(None, description="what it sees pictures with; null = it reads text only")


class BaseModelEntry(Section):
    """A base model: made from scratch (architecture) or pretrained (name)."""

    architecture: Architecture | None = Field(None, description="make a small model from scratch")
    name: Text | None = Field(None, description="Hugging Face name or a folder; give this or architecture")
    revision: Text | None = Field(None, description="commit of the pretrained model; pin it")
    billions: Number | None = Field(
        None,
        gt=0,
        description="billions of parameters of a pretrained model: its jobs ask a cluster for memory and time by them; "
        "null = 8",
    )
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="precision of training and answering")
    lora: Lora | None = Field(None, description="train adapters instead of all weights; null = all weights")
    base: Schedule = Field(Schedule(epochs=0, lr=1e-3), description="teaching the background before memorising")
    target: Schedule = Field(description="memorising")
    retrain: Schedule | None = Field(None, description="the model trained without the forget set; null = as target")
    methods: dict[Name, dict] = Field({}, description="method name -> keys that differ for this base model, e.g. lr")
