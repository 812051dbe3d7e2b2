"""How to train: a method's or a training's entry in the configuration, checked."""

from dataclasses import dataclass, field, fields

from unlearning.registry import available, declared
from unlearning.train.terms import REDUCTIONS, Term, load_term

LORA = {"r": 8, "alpha": 16, "dropout": 0.0, "targets": None}


class PlanError(ValueError):
    """An entry cannot be trained by; the message names the key, the value and what is allowed."""


@dataclass(frozen=True)
class Plan:
    """One key per field; `lr` and `epochs` are required. A step's loss is the mean over its examples, in nats."""

    lr: float
    epochs: int
    # `pair` is a forget term × a retain term; any other method brings its own.
    method: str = "pair"
    forget: str | None = None
    retain: str = "none"
    forget_weight: float = 1.0
    retain_weight: float = 1.0
    # Of a plain pair: weights of its losses on questions about pictures and on questions in text, α and β.
    image_weight: float = 1.0
    text_weight: float = 1.0
    params: dict = field(default_factory=dict)
    reduction: str = "token_mean"
    batch_size: int = 16
    # Examples per forward pass; the result does not depend on it, only the memory needed.
    micro_batch_size: int | None = None
    schedule: str = "linear"
    # Below 1 a share of all steps, else a number of steps.
    warmup: float = 0.1
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)
    # 0 does not clip.
    max_grad_norm: float = 1.0
    max_length: int | None = None
    # bfloat16 computes in it and keeps the weights in float32.
    dtype: str = "float32"
    gradient_checkpointing: bool = False
    lora: dict | None = None
    # adamw_8bit keeps its two moments in 8 bits (torchao).
    optimizer: str = "adamw"
    # full: each of several processes keeps its part of the weights, gradients and moments.
    sharding: str = "none"
    # Stop when the retain loss passes this many times its start; null never stops.
    collapse_factor: float | None = 20.0
    # Steps between checkpoints to resume from; 0 keeps none.
    checkpoint_steps: int = 0

    def terms(self) -> dict[str, Term]:
        """The terms by side (forget, retain) with this plan's parameters; TermError on an unknown name."""
        sides = {"forget": self.forget, "retain": self.retain}
        return {side: load_term(side, name, self.given) for side, name in sides.items() if name is not None}

    @property
    def given(self) -> dict:
        """The hyper-parameters that were given, for whoever knows them."""
        return {"reduction": self.reduction, **self.params}

    def own(self) -> dict:
        """The method's own hyper-parameters: its defaults, overlaid by those given."""
        return {key: self.given.get(key, default) for key, default in self._declared("PARAMS", {}).items()}

    def loads_on(self, device: str) -> str:
        """Where a model for a run on `device` is loaded: on the CPU if it is to be sharded, being too large for one."""
        return "cpu" if self.sharding == "full" else device

    def needs(self) -> set[str]:
        """What must have been made before the run, see `unlearning.train.terms`."""
        return {need for term in self.terms().values() for need in term.needs} | {*self._declared("NEEDS", ())}

    def _declared(self, literal: str, default):
        return declared(f"unlearning.methods.{self.method}", literal, default)

    def spans(self, side: str) -> dict:
        """How a side's sensitive spans are found, as `encode_rows` takes it; empty where none are wanted."""
        settings = self.terms()[side].settings
        return {key: settings[key] for key in ("spans", "pipeline") if key in settings}


def _pair(value) -> tuple[float, float]:
    first, second = value
    return float(first), float(second)


# How a key is read, and the least it may be.
READ = {
    "lr": (float, 0),
    "epochs": (int, 0),
    "forget_weight": (float, None),
    "retain_weight": (float, None),
    "image_weight": (float, 0),
    "text_weight": (float, 0),
    "batch_size": (int, 1),
    "micro_batch_size": (int, 1),
    "warmup": (float, 0),
    "weight_decay": (float, 0),
    "betas": (_pair, None),
    "max_grad_norm": (float, 0),
    "max_length": (int, 2),
    "collapse_factor": (float, 1),
    "checkpoint_steps": (int, 0),
}
CHOICES = {
    "schedule": ("linear", "cosine", "constant"),
    "reduction": REDUCTIONS,
    "dtype": ("float32", "bfloat16"),
    "optimizer": ("adamw", "adamw_8bit"),
    "sharding": ("none", "full"),
}
OPTIONAL = ("forget", "micro_batch_size", "max_length", "lora", "collapse_factor")


def make_plan(entry: dict, where: str = "training") -> Plan:
    """The Plan of `entry`; `where` names it in errors. YAML reads 1e-5 as a string: it is taken as the number.

    Raises PlanError on unknown or missing keys, an unknown method, impossible values and parameters of neither the
    method nor a term; TermError on an unknown term.
    """
    allowed = [f.name for f in fields(Plan)]
    unknown, missing = sorted(set(entry) - set(allowed)), [k for k in ("lr", "epochs") if k not in entry]
    if unknown or missing:
        raise PlanError(f"{where}: unknown keys {unknown}, missing keys {missing}; allowed: {', '.join(allowed)}")
    plan = Plan(**{key: _read(key, value, where) for key, value in entry.items()})
    if plan.method not in available("methods"):
        raise PlanError(f"{where}.method: {plan.method!r} is unknown; allowed: {', '.join(available('methods'))}")
    if plan.method != "pair" and (plan.forget, plan.retain) != (None, "none"):
        raise PlanError(f"{where}: method {plan.method} brings its own terms; remove forget and retain, or method")
    if plan.method != "pair" and (plan.image_weight, plan.text_weight) != (1.0, 1.0):
        raise PlanError(f"{where}: method {plan.method} knows no modalities; remove image_weight and text_weight")
    if plan.sharding == "full" and plan.checkpoint_steps:
        raise PlanError(
            f"{where}: no checkpoints are kept of sharded weights; set checkpoint_steps: 0 or sharding: none"
        )
    if plan.sharding == "full" and "attention" in plan.needs():
        raise PlanError(f"{where}: gradients of attention maps do not reach sharded weights; set sharding: none")
    known = sorted({key for term in plan.terms().values() for key in (*term.params, *term.settings)} | {*plan.own()})
    if strange := sorted(set(plan.params) - set(known)):
        told = f"are unknown to {plan.method}; it knows"
        if plan.method == "pair":
            told = f"belong to neither {plan.forget} nor {plan.retain}; they know"
        raise PlanError(f"{where}.params: {strange} {told}: {', '.join(known) or 'none'}")
    return plan


def _read(key: str, value, where: str):
    if value is None and key in OPTIONAL:
        return None
    if key in READ:
        kind, least = READ[key]
        try:
            value = kind(value)
        except (TypeError, ValueError) as error:
            raise PlanError(f"{where}.{key}: {value!r} is not a number (betas: two of them)") from error
        if least is not None and not value >= least:
            raise PlanError(f"{where}.{key}: {value} is too small, at least {least}")
    if key in CHOICES and value not in CHOICES[key]:
        raise PlanError(f"{where}.{key}: {value!r} is unknown; allowed: {', '.join(CHOICES[key])}")
    if key == "lora" and set(value) - set(LORA):
        raise PlanError(f"{where}.lora: unknown keys {sorted(set(value) - set(LORA))}; allowed: {', '.join(LORA)}")
    return value
