"""What an experiment names, and whether what it brings together fits."""

from collections.abc import Iterable

from unlearning.config import parameters
from unlearning.config.benchmarks import Lume, Mu2
from unlearning.config.check_benchmarks import among, background, lacking
from unlearning.config.check_methods import method_for
from unlearning.config.compose import compose
from unlearning.config.problems import known
from unlearning.config.runs import candidates_of, epochs_of
from unlearning.config.schema import Config, Experiment
from unlearning.config.umu import Umu
from unlearning.registry import available, declared

REFERENCES = ("target", "retrain")
"""Models that an attack may name too: what it does to one that has forgotten nothing, or has never known."""


def check(config: Config) -> Iterable[str]:
    """Names that do not exist, and composed attacks that cannot be."""
    if not any(e.enabled for e in config.experiments.values()):
        yield "experiments: none is enabled; set enabled: true on one"
    for name, experiment in config.experiments.items():
        yield from _names(config, f"experiments.{name}", experiment)
        yield from _attacks(config, f"experiments.{name}", experiment)


def fits(config: Config) -> Iterable[str]:
    """What does not go together in the enabled experiments; every name in them is known."""
    for name, experiment in config.experiments.items():
        if experiment.enabled:
            yield from _heldout(config, f"experiments.{name}", experiment)
            yield from _background(config, f"experiments.{name}", experiment)
            yield from _shapes(config, f"experiments.{name}", experiment)
            yield from _asked(config, f"experiments.{name}", experiment)
            yield from _taught(config, f"experiments.{name}", experiment)
            yield from _seen(config, f"experiments.{name}", experiment)
            yield from _epochs(config, f"experiments.{name}", experiment)
            yield from _criteria(config, f"experiments.{name}", experiment)
            yield from _sharded(config, f"experiments.{name}", experiment)


def _sharded(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    if config.scale.sharding == "none":
        return
    for base in experiment.base_models:
        for method in experiment.methods:
            modules = method_for(config, base, method).modules
            if any("attention" in declared(module, "NEEDS", ()) for module in modules):
                yield (
                    f"{key}.methods: {method} reads attention maps, whose gradients do not reach sharded weights; set "
                    "scale.sharding: none, or leave it out"
                )


def _names(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    yield from known(f"{key}.benchmark", experiment.benchmark, config.benchmarks, "benchmark")
    if experiment.benchmark in config.benchmarks:
        benchmark = config.benchmarks[experiment.benchmark]
        splits = benchmark.forget if isinstance(benchmark, Mu2) else benchmark.splits
        settings = benchmark.settings if isinstance(benchmark, Mu2) else ["default"]
        for split in experiment.splits:
            yield from known(f"{key}.splits", split, splits, "split")
        for setting in experiment.settings:
            yield from known(f"{key}.settings", setting, settings, "setting")
    for base in experiment.base_models:
        yield from known(f"{key}.base_models", base, config.base_models, "base model")
    for method in experiment.methods:
        yield from known(f"{key}.methods", method, config.methods, "method")


def _attacks(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    for attack, methods in experiment.attacks.items():
        unknown = [p for part in attack.split("+") for p in known(f"{key}.attacks", part, config.attacks, "attack")]
        yield from unknown
        if not unknown and all(config.attacks[part].attack in available("attacks") for part in attack.split("+")):
            try:
                compose(attack, config.attacks)
            except ValueError as error:
                yield f"{key}.attacks: {error}"
        for method in [] if methods == "all" else methods:
            yield from known(
                f"{key}.attacks.{attack}", method, [*experiment.methods, *REFERENCES], "method of this experiment"
            )
            if method == "target" and not unknown and any(_of_a_split(config, part) for part in attack.split("+")):
                yield (
                    f"{key}.attacks.{attack}: the target is asked once for all splits, and {attack} takes one split's "
                    "items; set only: all, or leave the target out"
                )


def _of_a_split(config: Config, attack: str) -> bool:
    """Whether what an attack asks, or shows, depends on the split."""
    module = f"unlearning.attacks.{config.attacks[attack].attack}"
    return config.attacks[attack].only == "forget" or "splits" in declared(module, "NEEDS", ())


def _heldout(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """More questions held out than there are: each is held out in one language at most."""
    benchmark = config.benchmarks[experiment.benchmark]
    for name in experiment.settings if isinstance(benchmark, Mu2) else []:
        n = len({*benchmark.settings[name].train, *benchmark.settings[name].holdout})
        if benchmark.heldout_share * n > 1:
            yield (
                f"benchmarks.{experiment.benchmark}.heldout_share: {benchmark.heldout_share} is too much for the {n} "
                f"languages of setting {name} ({key}): each question is held out in one; give at most 1/{n}"
            )


def _background(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Base models that are taught background rows of a benchmark that has none."""
    if background(config.benchmarks[experiment.benchmark]):
        return
    for base in experiment.base_models:
        entry = config.base_models[base]
        schedules = {"target": entry.target, "retrain": entry.retrain}
        wanted = {f"{name}.background_share": s.background_share for name, s in schedules.items() if s}
        if entry.architecture:
            wanted["base.epochs"] = entry.base.epochs
        for word, amount in wanted.items():
            if amount:
                yield (
                    f"base_models.{base}.{word}: {amount} of background rows, of which benchmark "
                    f"{experiment.benchmark} ({key}) has none; set it to 0 or add some to the benchmark"
                )


def _shapes(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Attacks and methods whose numbers do not fit a small model's architecture."""
    parts = dict.fromkeys(part for attack in experiment.attacks for part in attack.split("+"))
    attacks = [
        (f"attacks: attack {p}", f"unlearning.attacks.{config.attacks[p].attack}", config.attacks[p].params)
        for p in parts
    ]
    for base in experiment.base_models:
        if architecture := config.base_models[base].architecture:
            used = [*attacks, *_modules(config, base, experiment)]
            problems = [
                problem
                for what, module, params in used
                for problem in parameters.check_shape(
                    f"{key}.{what} on base model {base}",
                    declared(module, "PARAMS", {}) | params,
                    module,
                    architecture.model_dump(),
                )
            ]
            yield from dict.fromkeys(problems)


def _taught(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Methods that put questions together, on a benchmark that teaches whole documents too."""
    if not isinstance(config.benchmarks[experiment.benchmark], Lume):
        return
    for base in experiment.base_models:
        for method in experiment.methods:
            modules = method_for(config, base, method).modules
            if any(declared(module, "TAUGHT", "") == "questions" for module in modules):
                yield (
                    f"{key}.methods: {method} puts questions together, and {experiment.benchmark} teaches documents "
                    "too; take another method"
                )


def _seen(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Models and methods that cannot do with pictures, on a benchmark that has them."""
    benchmark = config.benchmarks[experiment.benchmark]
    if not isinstance(benchmark, Umu):
        return
    for base in experiment.base_models:
        architecture = config.base_models[base].architecture
        if architecture and architecture.vision is None:
            yield (
                f"base_models.{base}.architecture: reads text only, and {experiment.benchmark} ({key}) has pictures; "
                "give it vision: {} (with other sizes than the default's where wanted)"
            )
        for method in experiment.methods:
            trained = method_for(config, base, method)
            if any(declared(module, "TAUGHT", "") == "questions" for module in trained.modules):
                yield f"{key}.methods: {method} puts questions together, which have pictures here; take another method"
            elif not trained.image_weight and benchmark.text_side != "text":
                yield (
                    f"{key}.methods: {method} unlearns questions in text only, of which text_side "
                    f"{benchmark.text_side} teaches none; set benchmarks.{experiment.benchmark}.text_side: text, or "
                    f"methods.{method}.image_weight above 0"
                )
            elif trained.image_weight and any(_looks_inside(module) for module in trained.modules):
                yield (
                    f"{key}.methods: {method} looks for tokens of questions or sensitive spans, which is not done with "
                    f"pictures; take another method, or set methods.{method}.image_weight: 0"
                )


def _looks_inside(module: str) -> bool:
    """Whether a term's rows need more than which tokens are the answer's."""
    return "question_tokens" in declared(module, "NEEDS", ()) or "spans" in declared(module, "PARAMS", {})


def _asked(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Attacks that the benchmark's questions lack something for: a second language, a group that is named."""
    benchmark = config.benchmarks[experiment.benchmark]
    there = among(benchmark, experiment.settings)
    for part in dict.fromkeys(part for attack in experiment.attacks for part in attack.split("+")):
        attack, module = config.attacks[part], f"unlearning.attacks.{config.attacks[part].attack}"
        for reason in lacking(benchmark, [attack.attack], "attacks"):
            yield f"{key}.attacks: attack {part} does not fit benchmark {experiment.benchmark}: {reason}"
            break
        else:
            for word, kind in declared(module, "AMONG", {}).items():
                value = attack.params.get(word, declared(module, "PARAMS")[word])
                where = f"attacks.{part}.params.{word} ({key}, benchmark {experiment.benchmark})"
                yield from known(where, value, there[kind], kind.removesuffix("s"))


def _modules(config: Config, base: str, experiment: Experiment) -> Iterable[tuple[str, str, dict]]:
    """The modules of an experiment's methods on a base model: what to call one, its name, its parameters."""
    for method in experiment.methods:
        for name in candidates_of(config, base, method) or [method]:
            trained = method_for(config, base, name)
            for module in trained.modules:
                yield f"methods: method {name}", module, trained.params


def _epochs(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Epochs that a method never reaches, or of a method whose epochs are those of several candidates."""
    for method in experiment.methods if experiment.score_epochs else []:
        if config.methods[method].select:
            yield (
                f"{key}.score_epochs: method {method} is chosen among candidates, whose epochs are not kept; score a "
                "method by epoch that has no candidates, e.g. one with the keys of the candidate that was chosen"
            )
            continue
        for base in experiment.base_models:
            last = epochs_of(config, base, method)
            if experiment.score_epochs != "all" and (beyond := [e for e in experiment.score_epochs if e > last]):
                yield (
                    f"{key}.score_epochs: {', '.join(map(str, beyond))} asked for, but method {method} trains {last} "
                    f"epochs on base model {base}; give at most {last}, or all"
                )


def _criteria(config: Config, key: str, experiment: Experiment) -> Iterable[str]:
    """Criteria that read metrics for which the benchmark's questions lack something."""
    benchmark = config.benchmarks[experiment.benchmark]
    for method in experiment.methods:
        if criterion := config.methods[method].select:
            for reason in lacking(benchmark, declared(f"unlearning.criteria.{criterion}", "METRICS")):
                yield f"methods.{method}.select: {criterion} does not fit benchmark {experiment.benchmark}: {reason}"
