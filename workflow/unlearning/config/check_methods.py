"""What the keys of base models, methods and attacks say about each other, and what their modules allow."""

import importlib.util
from collections.abc import Iterable

from pydantic import ValidationError

from unlearning.config import candidates, parameters
from unlearning.config.methods import Method
from unlearning.config.problems import known, listed, placeholder, refuse
from unlearning.config.schema import Config
from unlearning.config.words import explain
from unlearning.models.small import check_shape
from unlearning.models.tokenizer import LEAST_TOKENS
from unlearning.registry import available

RESERVED = ("base", "target", "retrain")


def check(config: Config) -> Iterable[str]:
    """The problems of every base model, method and attack."""
    if config.scale.sharding == "full" and config.scale.processes < 2:
        yield "scale.sharding: full spreads weights over several processes; set scale.processes to 2 or more, or none"
    if config.scale.sharding == "full" and config.scale.checkpoint_steps:
        yield "scale.checkpoint_steps: there are no checkpoints of sharded weights; set it to 0, or sharding to none"
    for name, entry in config.base_models.items():
        yield from _model(f"base_models.{name}", entry)
    for name, method in config.methods.items():
        if name in RESERVED:
            yield f"methods.{name}: the names {', '.join(RESERVED)} are reserved; choose another"
        yield from _method(f"methods.{name}", method, method.params)
        yield from _candidates(f"methods.{name}", method)
    for name, entry in config.base_models.items():
        for method, changed in entry.methods.items():
            yield from _changed(config, name, method, changed)
    yield from _attacks(config)


def _model(key: str, entry) -> Iterable[str]:
    if (entry.architecture is None) == (entry.name is None):
        yield f"{key}: give either architecture (a small model from scratch) or name (a pretrained one)"
    for word, what in (("name", "model's name or folder"), ("revision", "commit, tag or branch")):
        yield from placeholder(f"{key}.{word}", getattr(entry, word), what)
    for stage in ("base", "target", "retrain"):
        if schedule := getattr(entry, stage):
            yield from _passes(f"{key}.{stage}", schedule)
    if entry.architecture is None:
        return
    if entry.billions is not None:
        yield f"{key}.billions: an architecture's parameters are counted; leave it out"
    shape = entry.architecture
    try:
        check_shape(shape.hidden, shape.heads)
    except ValueError as error:
        yield f"{key}.{error}"
    if shape.vision:
        yield from _vision(f"{key}.architecture.vision", shape.vision)
    if shape.vocab_size < LEAST_TOKENS:
        yield (
            f"{key}.architecture.vocab_size: {shape.vocab_size} is too small: every byte and special token needs one; "
            f"give at least {LEAST_TOKENS}"
        )


def _vision(key: str, vision) -> Iterable[str]:
    """A tower whose heads or patches do not come out even."""
    for whole, part in (("image_size", "patch_size"), ("hidden", "heads")):
        if getattr(vision, whole) % getattr(vision, part):
            yield f"{key}.{whole}: {getattr(vision, whole)} should be a multiple of {part} {getattr(vision, part)}"


def _passes(key: str, trained) -> Iterable[str]:
    """A forward pass of more examples than a step has."""
    if trained.micro_batch_size and trained.micro_batch_size > trained.batch_size:
        yield (
            f"{key}.micro_batch_size: {trained.micro_batch_size} examples a forward pass are more than the "
            f"{trained.batch_size} of a step; give at most batch_size"
        )


def _method(key: str, method: Method, params: dict) -> Iterable[str]:
    """Unknown methods and terms, and those of `params` that none of them knows or that are not allowed."""
    weights = (method.image_weight, method.text_weight)
    if method.method != "pair" and weights != (1.0, 1.0):
        yield f"{key}: method {method.method} knows no modalities; remove image_weight and text_weight"
    if weights == (0.0, 0.0):
        yield f"{key}: image_weight and text_weight are both 0: nothing would be unlearned; give one a weight"
    names = {"methods": method.method, "forget": method.forget, "retain": method.retain}
    if method.method != "pair":
        if method.forget is not None or method.retain != "none":
            yield (
                f"{key}: method {method.method} brings its own terms; remove forget and retain, or, to pair these two, "
                "method"
            )
        if (method.forget_weight, method.retain_weight) != (1, 1):
            yield f"{key}: method {method.method} has no terms to weigh; remove forget_weight and retain_weight"
        del names["forget"], names["retain"]
    elif method.forget is None:
        others = listed(name for name in available("methods") if name != "pair")
        yield (
            f"key {key}.forget is missing; add it. There are: {listed(available('forget'))}. Or give a method that "
            f"brings its own terms: {others}"
        )
        del names["forget"]
    modules = []
    for folder, name in names.items():
        where, what = (f"{key}.method", "method") if folder == "methods" else (f"{key}.{folder}", f"{folder} term")
        yield from known(where, name, available(folder), what)
        modules += [f"unlearning.{folder}.{name}"] if name in available(folder) else []
    if method.method == "pair" and not method.forget_weight and (method.retain == "none" or not method.retain_weight):
        yield f"{key}: with these weights there is no loss; give forget_weight or the weight of a retain term above 0"
    if "reduction" in params:
        yield f"{key}.params.reduction: this is a key of the method itself; write it as {key}.reduction"
    own = {name: value for name, value in params.items() if name != "reduction"}
    yield from _passes(key, method)
    yield from parameters.check(f"{key}.params", own, modules, "hyper-parameter")
    if params.get("spans") == "entities" and not importlib.util.find_spec("spacy"):
        yield (
            f"{key}.params.spans: entities needs spaCy, which is not installed; install it with `pip install spacy` "
            "and a pipeline with `python -m spacy download en_core_web_sm`, or choose value, pos or entropy"
        )


def _candidates(key: str, method: Method) -> Iterable[str]:
    """Candidates that cannot be trained or chosen from; what the entry itself gets wrong is not said again."""
    if problems := list(candidates.check(key, method)):
        yield from problems
        return
    entries, problems = candidates.entries(key, method)
    yield from problems
    where = f"{key}.candidates"
    own = set(_method(where, method, method.params))
    found = (problem for entry in entries for problem in _method(where, entry, entry.params))
    yield from dict.fromkeys(problem for problem in found if problem not in own)


def _changed(config: Config, base: str, name: str, changed: dict) -> Iterable[str]:
    """The keys of a method that a base model changes, once they stand in the method's own."""
    key = f"base_models.{base}.methods"
    unknown = known(key, name, config.methods, "method")
    unknown += [p for word in changed for p in known(f"{key}.{name}", word, Method.model_fields, "key")]
    if unknown:
        yield from unknown
        return
    if "select" in changed:
        yield f"{key}.{name}.select: the criterion is the same for every base model; set it in methods.{name}"
    merged = merge(config, base, name)
    if isinstance(merged, Method):
        own = changed.keys() & {"method", "forget", "retain"}
        yield from _method(f"{key}.{name}", merged, merged.params if own else changed.get("params") or {})
        if "candidates" in changed:
            yield from _candidates(f"{key}.{name}", merged)
    else:
        yield from merged


def merge(config: Config, base: str, name: str) -> Method | list[str]:
    """The method with the keys that differ for this base model put in, or the problems of the result."""
    entry, own = config.base_models[base], config.methods[name].model_dump()
    values = own | entry.methods.get(name, {})
    if isinstance(values["params"], dict):
        values["params"] = own["params"] | values["params"]
    if values["lora"] is None and entry.lora is not None:
        values["lora"] = entry.lora.model_dump()
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        return explain(error.errors(), Method, f"base_models.{base}.methods.{name}")


def method_for(config: Config, base_model: str, method: str) -> Method:
    """The method with the keys that differ for this base model put in; `<method>~<number>` is one of its candidates.

    ConfigError when the result is not valid.
    """
    name, _, number = method.partition("~")
    merged = merge(config, base_model, name)
    if isinstance(merged, list):
        refuse(merged)
    return candidates.candidate(merged, int(number)) if number else merged


def _attacks(config: Config) -> Iterable[str]:
    for name, attack in config.attacks.items():
        if name == "none":
            yield f"attacks.{name}: this name is reserved; choose another"
        problems = known(f"attacks.{name}.attack", attack.attack, available("attacks"), "attack")
        yield from problems
        if not problems:
            module = f"unlearning.attacks.{attack.attack}"
            yield from parameters.check(f"attacks.{name}.params", attack.params, [module], "parameter")
