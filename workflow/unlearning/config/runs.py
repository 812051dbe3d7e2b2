"""From experiments to runs: the list of what has to be scored, each identity once."""

from typing import NamedTuple

from unlearning.config.check_methods import method_for
from unlearning.config.models import BaseModelEntry, Schedule
from unlearning.config.problems import ConfigError
from unlearning.config.schema import Config


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


def epochs_of(config: Config, base_model: str, method: str) -> int:
    """Epochs trained by `method` on `base_model`: the last epoch, the one that is scored."""
    if method in ("base", "target", "retrain"):
        return schedule_of(config.base_models[base_model], method).epochs
    return method_for(config, base_model, method).epochs


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
                            epoch = epochs_of(config, base, method)
                            for attack in ["none", *_attacks_on(experiment.attacks, method)]:
                                run = Run(experiment.benchmark, base, setting, split, method, seed, epoch, attack)
                                runs[run] = None
    if not runs:
        raise ConfigError(
            f"only: no enabled experiment measures {config.only!r}; enabled ones measure: {_enabled(config)}"
        )
    return list(runs)


def _attacks_on(attacks: dict, method: str) -> list[str]:
    reserved = method in ("target", "retrain")
    return [name for name, methods in attacks.items() if (methods == "all" and not reserved) or method in methods]


def _enabled(config: Config) -> str:
    return ", ".join(sorted({e.benchmark for e in config.experiments.values() if e.enabled})) or "nothing"
