"""Check a configuration as a person wrote it: types, unknown keys, and what two keys say about each other."""

import difflib
import typing
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ValidationError

from unlearning.config.schema import BaseModelEntry, Config, Experiment, Files, Method, Mu2
from unlearning.registry import available, declared

RESERVED = ("base", "target", "retrain")
FIX = "mend it in config/config.yaml or in the overlay given with --configfile"


class ConfigError(ValueError):
    """The configuration cannot be run; the message names the key, what is allowed and the fix."""


def nearest(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' for the closest known word, or an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _section_at(path: tuple) -> type[BaseModel] | None:
    """The configuration class that the key path leads to (tags of unions are part of pydantic's path)."""
    here: object = Config
    for step in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            field = here.model_fields.get(str(step))
            here = field.annotation if field else here
        here = _inner(here, step)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _inner(annotation: object, step: object) -> object:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _inner(args[0], step)
    classes = [a for a in args if isinstance(a, type) and issubclass(a, BaseModel)]
    tagged = [
        c for c in classes if "kind" in c.model_fields and step in typing.get_args(c.model_fields["kind"].annotation)
    ]
    if tagged:
        return tagged[0]
    if origin is dict:
        return args[1]
    return classes[0] if len(classes) == 1 and origin is not list else annotation


def _explain(error: dict) -> str:
    # pydantic's path to a benchmark's key also names the union's tag (its kind), which is not a key
    steps = [s for i, s in enumerate(error["loc"]) if not (error["loc"][0] == "benchmarks" and i == 2)]
    key = ".".join(str(s) for s in steps)
    if error["type"] == "extra_forbidden":
        section = _section_at(error["loc"][:-1])
        known = section.model_fields if section else ()
        return f"unknown key {key}.{nearest(str(error['loc'][-1]), known)} Known keys here: {_listed(known)}"
    if error["type"] == "missing":
        return f"key {key} is missing; add it"
    return f"key {key}: {error['msg']} (got {error['input']!r})"


def load(raw: Mapping) -> Config:
    """The checked configuration. ConfigError lists every problem found, one a line."""
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        raise ConfigError(_message(_explain(e) for e in error.errors())) from None
    problems = [p for check in CHECKS for p in check(config)]
    if problems:
        raise ConfigError(_message(problems))
    return config


def _message(problems: Iterable[str]) -> str:
    return "the configuration has a problem:\n" + "".join(f"  - {p}\n" for p in problems) + f"  ({FIX})"


def _known(key: str, word: str, known: Iterable[str], what: str) -> list[str]:
    known = list(known)
    return [] if word in known else [f"{key}: no {what} {word!r}.{nearest(word, known)} There are: {_listed(known)}"]


def _benchmarks(config: Config) -> Iterable[str]:
    for name, benchmark in config.benchmarks.items():
        key = f"benchmarks.{name}"
        yield from _known(f"{key}.judge", benchmark.judge, available("judges"), "judge")
        for metric in benchmark.metrics:
            yield from _known(f"{key}.metrics", metric, available("metrics"), "metric")
        if len(set(benchmark.metrics)) < len(benchmark.metrics):
            yield f"{key}.metrics: a metric is listed twice"
        yield from (_mu2 if isinstance(benchmark, Mu2) else _files)(config, key, benchmark)


def _mu2(config: Config, key: str, benchmark: Mu2) -> Iterable[str]:
    for split, n in benchmark.forget.items():
        if n >= benchmark.cut.memorised:
            known = benchmark.cut.memorised
            yield f"{key}.forget.{split}: {n} people to forget leave none of the {known} memorised to retain"
    for setting, languages in benchmark.settings.items():
        both = set(languages.train) & set(languages.holdout)
        if both:
            yield f"{key}.settings.{setting}: {_listed(both)} both in train and in holdout; list each language once"
        for side in ("train", "holdout"):
            listed = getattr(languages, side)
            if len(set(listed)) < len(listed):
                yield f"{key}.settings.{setting}.{side}: a language is listed twice"


def _files(config: Config, key: str, benchmark: Files) -> Iterable[str]:
    if benchmark.source not in config.sources and _used(config, key.split(".")[1]):
        pair = f"sources: {{{benchmark.source}: /path}}"
        fix = f"write {pair} in the overlay (make run takes TOFU=/path for TOFU)"
        yield f"{key}.source: no folder for {benchmark.source!r}; {fix}"
    for split, sets in benchmark.splits.items():
        for name in sets:
            yield from _known(f"{key}.splits.{split}", name, benchmark.sets, "set")
            if name in benchmark.sets and not benchmark.sets[name].train:
                yield f"{key}.splits.{split}: set {name!r} is not trained on (train: false), so it cannot be forgotten"
        if not sets:
            yield f"{key}.splits.{split}: nothing to forget; list at least one set"


def _used(config: Config, benchmark: str) -> bool:
    wanted = config.only in (None, benchmark)
    return wanted and any(e.enabled and e.benchmark == benchmark for e in config.experiments.values())


def _models(config: Config) -> Iterable[str]:
    for name, entry in config.base_models.items():
        key = f"base_models.{name}"
        if (entry.architecture is None) == (entry.name is None):
            yield f"{key}: give either architecture (a small model from scratch) or name (a pretrained one)"
        for method, changed in entry.methods.items():
            yield from _known(f"{key}.methods", method, config.methods, "method")
            for word in changed:
                yield from _known(f"{key}.methods.{method}", word, Method.model_fields, "key")


def _methods(config: Config) -> Iterable[str]:
    for name, method in config.methods.items():
        key = f"methods.{name}"
        if name in RESERVED:
            yield f"{key}: the names {', '.join(RESERVED)} are reserved; choose another"
        for side, term in (("forget", method.forget), ("retain", method.retain)):
            yield from _known(f"{key}.{side}", term, available(side), f"{side} term")
        yield from _params(f"{key}.params", method.params, method)
    for base, entry in config.base_models.items():
        for name, changed in entry.methods.items():
            if name in config.methods and isinstance(changed.get("params"), dict):
                yield from _params(f"base_models.{base}.methods.{name}.params", changed["params"], config.methods[name])


def _params(key: str, given: dict, method: Method) -> Iterable[str]:
    """Hyper-parameters that neither term knows, or whose kind of value is not that of the default."""
    known: dict = {}
    for side, term in (("forget", method.forget), ("retain", method.retain)):
        if term in available(side):
            known |= declared(f"unlearning.{side}.{term}", "PARAMS", {})
    for word, value in given.items():
        yield from _known(key, word, known, "hyper-parameter")
        if word in known and isinstance(value, str) != isinstance(known[word], str):
            yield f"{key}.{word}: {value!r} should be a {'word' if isinstance(known[word], str) else 'number'}"


def _attacks(config: Config) -> Iterable[str]:
    for name, attack in config.attacks.items():
        if name == "none" or "+" in name:
            yield f"attacks.{name}: this name is reserved; choose another"
        yield from _known(f"attacks.{name}.attack", attack.attack, available("attacks"), "attack")
        if attack.attack in available("attacks"):
            known = declared(f"unlearning.attacks.{attack.attack}", "PARAMS", {})
            for word in attack.params:
                yield from _known(f"attacks.{name}.params", word, known, "parameter")


def _experiments(config: Config) -> Iterable[str]:
    if not any(e.enabled for e in config.experiments.values()):
        yield "experiments: none is enabled; set enabled: true on one"
    for name, experiment in config.experiments.items():
        yield from _experiment(config, f"experiments.{name}", experiment)


def _experiment(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    yield from _known(f"{key}.benchmark", experiment.benchmark, config.benchmarks, "benchmark")
    if experiment.benchmark in config.benchmarks:
        benchmark = config.benchmarks[experiment.benchmark]
        splits = benchmark.forget if isinstance(benchmark, Mu2) else benchmark.splits
        settings = benchmark.settings if isinstance(benchmark, Mu2) else ["default"]
        for split in experiment.splits:
            yield from _known(f"{key}.splits", split, splits, "split")
        for setting in experiment.settings:
            yield from _known(f"{key}.settings", setting, settings, "setting")
    for base in experiment.base_models:
        yield from _known(f"{key}.base_models", base, config.base_models, "base model")
    for method in experiment.methods:
        yield from _known(f"{key}.methods", method, config.methods, "method")
    for attack, methods in experiment.attacks.items():
        for part in attack.split("+"):
            yield from _known(f"{key}.attacks", part, config.attacks, "attack")
        for method in [] if methods == "all" else methods:
            yield from _known(f"{key}.attacks.{attack}", method, experiment.methods, "method of this experiment")


CHECKS = (_benchmarks, _models, _methods, _attacks, _experiments)


def method_for(config: Config, base_model: str, method: str) -> Method:
    """The method with the keys that differ for this base model put in. ConfigError when the result is not valid."""
    entry: BaseModelEntry = config.base_models[base_model]
    own, changed = config.methods[method].model_dump(), entry.methods.get(method, {})
    values = own | changed | {"params": own["params"] | (changed.get("params") or {})}
    if values["lora"] is None and entry.lora is not None:
        values["lora"] = entry.lora.model_dump()
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        raise ConfigError(
            _message(f"base_models.{base_model}.methods.{method}: {_explain(e)}" for e in error.errors())
        ) from None
