"""From experiments to runs: the list of what has to be scored, each identity once."""

from collections.abc import Iterable
from typing import NamedTuple

from unlearning.config.candidates import combinations
from unlearning.config.check_methods import method_for
from unlearning.config.models import BaseModelEntry, Schedule
from unlearning.config.problems import ConfigError
from unlearning.config.schema import Config, Experiment


class Run(NamedTuple):
    """The identity of one scored model under one attack. The experiment's name is not part of it."""

    benchmark: str
    base_model: str
    setting: str
    split: str
    method: str
    seed: int
    epoch: int
    attack: str

    @property
    def folder(self) -> str:
        """The run's folder; the target is trained once for all splits."""
        return f"results/runs/{self.benchmark}/{self.base_model}/{self.setting}/{self.split}/{self.method}/s{self.seed}"

    @property
    def scores(self) -> str:
        """Path of the run's scores."""
        return f"{self.folder}/e{self.epoch}/{self.attack}/scores.parquet"


def schedule_of(entry: BaseModelEntry, method: str) -> Schedule:
    """How base, target or retrain is trained."""
    return {"base": entry.base, "target": entry.target, "retrain": entry.retrain or entry.target}[method]


def candidates_of(config: Config, base_model: str, method: str) -> dict[str, dict]:
    """The candidates of a search, `<method>~<number>`, and what each changes; none of a method that has no search."""
    found = combinations(method_for(config, base_model, method).candidates) if config.methods[method].select else []
    return {f"{method}~{number}": changed for number, changed in enumerate(found, 1)}


def epochs_of(config: Config, base_model: str, method: str) -> int:
    """Epochs trained by `method` on `base_model`: the last epoch; of a search, the most that a candidate trains."""
    if method in ("base", "target", "retrain"):
        return schedule_of(config.base_models[base_model], method).epochs
    searched = "~" not in method and candidates_of(config, base_model, method)
    return max(method_for(config, base_model, name).epochs for name in searched or [method])


def scored_epochs(config: Config, experiment: Experiment, base_model: str, method: str) -> list[int]:
    """The epochs of `method` that the experiment scores: the last, and what `score_epochs` asks for of those before.

    Epoch 0 is the target, which is scored by itself; so are the last epochs alone of target and retrained model.
    """
    last, asked = epochs_of(config, base_model, method), experiment.score_epochs
    if method in ("target", "retrain"):
        return [last]
    return sorted({last, *(range(1, last) if asked == "all" else asked)} - {0})


def plan(config: Config) -> list[Run]:
    """All runs of the enabled experiments, in a stable order, each once (two experiments may share runs)."""
    runs: dict[Run, None] = {}
    for experiment in config.experiments.values():
        if not experiment.enabled or config.only not in (None, experiment.benchmark):
            continue
        for base in experiment.base_models:
            for setting in experiment.settings:
                for split in experiment.splits:
                    for seed in experiment.seeds:
                        for method in ["target", "retrain", *experiment.methods]:
                            epochs = scored_epochs(config, experiment, base, method)
                            attacks = _attacks_on(experiment.attacks, method)
                            scored = [*((e, "none") for e in epochs), *((epochs[-1], attack) for attack in attacks)]
                            for epoch, attack in scored:
                                run = Run(experiment.benchmark, base, setting, split, method, seed, epoch, attack)
                                runs[run] = None
    if not runs:
        raise ConfigError(
            f"only: no enabled experiment measures {config.only!r}; enabled ones measure: {_enabled(config)}"
        )
    return list(runs)


def several_epochs(runs: Iterable[Run]) -> dict[tuple[str, str, str], list[int]]:
    """(benchmark, base model, method) -> the epochs scored, of the methods that are scored after more than one."""
    found: dict[tuple[str, str, str], set[int]] = {}
    for run in runs:
        found.setdefault((run.benchmark, run.base_model, run.method), set()).add(run.epoch)
    return {key: sorted(epochs) for key, epochs in found.items() if len(epochs) > 1}


def _attacks_on(attacks: dict, method: str) -> list[str]:
    reserved = method in ("target", "retrain")
    return [name for name, methods in attacks.items() if (methods == "all" and not reserved) or method in methods]


def _enabled(config: Config) -> str:
    return ", ".join(sorted({e.benchmark for e in config.experiments.values() if e.enabled})) or "nothing"
