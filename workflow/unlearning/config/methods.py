"""The sections about unlearning methods and attacks."""

from typing import Annotated, Literal

from pydantic import Field

from unlearning.config.fields import Name, Number, Parameter, Part, Positive, Section, Share
from unlearning.config.models import Lora


class Method(Section):
    """An unlearning method: what is computed, and how it is trained."""

    method: Name = Field(
        "pair", description="pair = forget term x retain term; or a method with terms and a schedule of its own"
    )
    forget: Name | None = Field(None, description="forget term; needed by method pair, of no other")
    retain: Name = Field("none", description="retain term; of method pair only")
    forget_weight: Number = Field(1.0, ge=0, description="weight of the forget term")
    retain_weight: Number = Field(1.0, ge=0, description="weight of the retain term")
    image_weight: Number = Field(
        1.0, ge=0, description="α of a pair: weight of its losses on questions about pictures; 0 = not unlearned"
    )
    text_weight: Number = Field(1.0, ge=0, description="β of a pair: weight of its losses on questions in text")
    params: dict[str, Parameter | None] = Field(
        {}, description="hyper-parameters of the terms or of the method, e.g. beta; each takes those it knows"
    )
    reduction: Literal["token_mean", "sequence_sum"] = Field("token_mean", description="how a term sums over tokens")
    epochs: Positive = Field(description="passes over the forget set (of lingtea: forget and retain epochs)")
    batch_size: Positive = Field(16, description="forget examples per step; as many retain examples")
    micro_batch_size: Positive | None = Field(None, description="examples per forward pass; null = the whole batch")
    lr: Number = Field(gt=0, le=1, description="peak learning rate")
    schedule: Literal["cosine", "linear", "constant"] = Field("linear", description="learning rate after warm-up")
    warmup: Share = Field(0.1, description="share of the steps that warm up")
    optimizer: Literal["adamw", "adamw_8bit"] = Field(
        "adamw", description="adamw_8bit keeps its state in a quarter of the memory"
    )
    weight_decay: Number = Field(0.0, ge=0, description="AdamW weight decay")
    betas: tuple[Part, Part] = Field((0.9, 0.999), description="AdamW betas")
    max_grad_norm: Number = Field(1.0, gt=0, description="gradient clipping")
    collapse_factor: Number = Field(
        20.0, gt=1, description="stop when the retain loss, in nats, passes this multiple of its start"
    )
    lora: Lora | None = Field(None, description="train adapters instead of all weights; null = as the base model says")
    candidates: dict[str, Annotated[list[Parameter], Field(min_length=1)]] = Field(
        {}, description="key -> values to try (`lr`, `params.beta`); every combination is trained"
    )
    select: Name | None = Field(
        None, description="criterion by which one of the candidates becomes the method's model, e.g. mu2_retain_ps"
    )

    @property
    def modules(self) -> list[str]:
        """The modules that it names: its own and, of a plain pair, the two terms."""
        terms = [f"unlearning.forget.{self.forget}", f"unlearning.retain.{self.retain}"] if self.forget else []
        return [f"unlearning.methods.{self.method}", *terms]


class Attack(Section):
    """An attack that tries to recover what was unlearned."""

    attack: Name = Field(description="which attack")
    params: dict[str, Parameter] = Field({}, description="its parameters")
    only: Literal["forget", "all"] = Field("forget", description="which items are asked under the attack")
