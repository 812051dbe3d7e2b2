"""The configuration: what a person may write, and what they read when they may not."""

import copy
from pathlib import Path

import pytest
import yaml

from unlearning.config import docs
from unlearning.config.load import ConfigError, load, method_for
from unlearning.config.runs import plan

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


def changed(path: str, value):
    """The default configuration with one key set (or removed, for value ...)."""
    config = copy.deepcopy(DEFAULT)
    *steps, last = path.split("/")
    here = config
    for step in steps:
        here = here[step]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return config


BAD = [
    ("methods/npo_gd/params", {"beta": "hot"}, "methods.npo_gd.params.beta: 'hot' should be a number"),
    ("base_models/small/methods", {"npo": {"params": {"bta": 1}}}, "base_models.small.methods.npo.params: no hyper"),
    ("benchmarks/mu2/metrics", ["ps", "ps"], "benchmarks.mu2.metrics: a metric is listed twice"),
    ("metods", {}, "unknown key metods. Did you mean 'methods'?"),
    ("methods/npo_gd/bta", 0.1, "unknown key methods.npo_gd.bta"),
    ("methods/npo_gd/learning_rate", 0.1, "Known keys here: .*lr"),
    ("benchmarks/mu2/heldout_shar", 0.1, "unknown key benchmarks.mu2.heldout_shar. Did you mean 'heldout_share'?"),
    ("benchmarks/mu2/cut/memorized", 3, "unknown key benchmarks.mu2.cut.memorized. Did you mean 'memorised'?"),
    ("benchmarks/mu2/kind", "mu3", "benchmarks.mu2.*'mu2'.*'files'"),
    ("methods/npo_gd/lr", ..., "key methods.npo_gd.lr is missing"),
    ("methods/npo_gd/lr", "fast", "key methods.npo_gd.lr: .*number.*'fast'"),
    ("methods/npo_gd/lr", -1e-4, "key methods.npo_gd.lr: .*greater than 0"),
    ("methods/npo_gd/epochs", 1.5, "key methods.npo_gd.epochs: .*integer"),
    ("methods/npo_gd/forget", "npoo", "no forget term 'npoo'. Did you mean 'npo'"),
    ("methods/npo_gd/retain", "gdd", "no retain term 'gdd'"),
    ("methods/npo_gd/params", {"betta": 1}, "methods.npo_gd.params: no hyper-parameter 'betta'. Did you mean 'beta'"),
    (
        "methods/target",
        {"forget": "ga", "lr": 1, "epochs": 1},
        "methods.target: the names base, target, retrain are reserved",
    ),
    ("benchmarks/mu2/forget", {"p20": 20}, "forget.p20: 20 people to forget leave none of the 20 memorised"),
    ("benchmarks/mu2/forget", {"p20": 0}, "forget.p20: .*greater than 0"),
    ("benchmarks/mu2/settings/s1/holdout", ["es", "de"], "settings.s1: de both in train and in holdout"),
    ("benchmarks/mu2/settings/s1/train", [], "settings.s1.train"),
    ("benchmarks/mu2/settings/s1/train", ["en", "en"], "settings.s1.train: a language is listed twice"),
    ("benchmarks/mu2/metrics", ["ps", "kps2"], "no metric 'kps2'. Did you mean 'kps'"),
    ("benchmarks/mu2/judge", "oracle", "no judge 'oracle'"),
    ("benchmarks/mu2/heldout_share", 1.5, "heldout_share: .*less than or equal to 1"),
    ("base_models/small/architecture", None, "base_models.small: give either architecture .* or name"),
    ("base_models/small/methods", {"npo_gd": {"rate": 1}}, "base_models.small.methods.npo_gd: no key 'rate'"),
    ("base_models/small/methods", {"npo": {"lr": "quick"}}, "base_models.small.methods.npo: key lr"),
    ("attacks/probab/attack", "probabb", "attacks.probab.attack: no attack 'probabb'. Did you mean 'probab'"),
    ("attacks/probab/params", {"temp": 1}, "attacks.probab.params: no parameter 'temp'"),
    ("attacks/none", {"attack": "probab"}, "attacks.none: this name is reserved"),
    ("experiments/mu2_small/benchmark", "mu", "experiments.mu2_small.benchmark: no benchmark 'mu'. Did you mean 'mu2'"),
    ("experiments/mu2_small/base_models", ["smal"], "no base model 'smal'. Did you mean 'small'"),
    ("experiments/mu2_small/settings", ["s9"], "no setting 's9'"),
    ("experiments/mu2_small/splits", ["p1"], "no split 'p1'. .*There are: p20"),
    ("experiments/mu2_small/methods", ["npo_gdr"], "no method 'npo_gdr'. Did you mean 'npo_gd'"),
    ("experiments/mu2_small/attacks", {"int4": "all"}, "no attack 'int4'"),
    ("experiments/mu2_small/attacks", {"probab": ["rmu"]}, "attacks.probab: no method of this experiment 'rmu'"),
    ("experiments/mu2_small/enabled", False, "experiments: none is enabled"),
    ("only", "tofu", "only: no enabled experiment measures 'tofu'; enabled ones measure: mu2"),
    ("gpus", {"training": 1}, "unknown key gpus.training. Did you mean 'train'"),
    ("device", "gpu", "key device: .*'auto', 'cpu' or 'cuda'"),
]


@pytest.mark.parametrize(("path", "value", "said"), BAD, ids=[f"{p}={str(v)[:20]}" for p, v, _ in BAD])
def test_a_bad_configuration_is_refused_with_key_and_fix(path, value, said):
    with pytest.raises(ConfigError, match=said) as caught:
        config = load(changed(path, value))
        plan(config)
        for method in config.methods:
            method_for(config, "small", method)
    assert "config/config.yaml" in str(caught.value) or "only:" in str(caught.value)


def test_every_problem_is_listed_at_once():
    config = changed("methods/npo_gd/forget", "npoo")
    config["benchmarks"]["mu2"]["judge"] = "oracle"
    with pytest.raises(ConfigError) as caught:
        load(config)
    assert "npoo" in str(caught.value) and "oracle" in str(caught.value)


def test_the_default_is_valid_and_its_runs_are_unique():
    runs = plan(load(DEFAULT))
    assert len(set(runs)) == len(runs)
    assert {r.method for r in runs} == {"target", "retrain", *DEFAULT["experiments"]["mu2_small"]["methods"]}


def test_numbers_in_scientific_notation_are_numbers():
    assert load(changed("methods/npo_gd/lr", "1e-5")).methods["npo_gd"].lr == 1e-5


def test_two_experiments_share_their_runs():
    config = copy.deepcopy(DEFAULT)
    config["experiments"]["again"] = copy.deepcopy(config["experiments"]["mu2_small"])
    assert plan(load(config)) == plan(load(DEFAULT))


def test_a_base_model_may_change_a_methods_keys():
    config = load(changed("base_models/small/methods", {"npo_gd": {"lr": "2e-5"}}))
    assert method_for(config, "small", "npo_gd").lr == 2e-5
    assert config.methods["npo_gd"].lr == load(DEFAULT).methods["npo_gd"].lr


def test_a_base_models_parameters_join_the_methods_own():
    config = load(changed("base_models/small/methods", {"ga_kl": {"lr": 1e-5}, "npo": {"params": {"beta": 0.5}}}))
    assert method_for(config, "small", "npo").params == {"beta": 0.5}
    assert method_for(config, "small", "ga_kl").params == {"direction": "ref_theta"}


def test_an_attack_on_all_methods_leaves_target_and_retrained_alone():
    runs = plan(load(changed("experiments/mu2_small/attacks", {"probab+quantize": "all"})))
    attacked = {r.method for r in runs if r.attack != "none"}
    assert attacked == set(DEFAULT["experiments"]["mu2_small"]["methods"])


def test_the_reference_of_the_configuration_is_up_to_date():
    page = (ROOT / "config/README.md").read_text(encoding="utf-8")
    assert page == docs.render(), "config/README.md is out of date: run `make docs`"


@pytest.mark.parametrize("overlay", sorted(p.name for p in (ROOT / "config").glob("*.yaml") if p.name != "config.yaml"))
def test_every_overlay_is_valid(overlay):
    from snakemake.utils import update_config

    config = copy.deepcopy(DEFAULT)
    update_config(config, yaml.safe_load((ROOT / "config" / overlay).read_text(encoding="utf-8")))
    config.setdefault("sources", {}).setdefault("tofu", "somewhere")
    assert plan(load(config))


def test_every_profile_reruns_for_the_same_reasons():
    profiles = {p.parent.name: yaml.safe_load(p.read_text()) for p in (ROOT / "profiles").glob("*/profile.yaml")}
    assert profiles["default"]["rerun-triggers"] == ["mtime", "params", "input", "software-env"]
    for name, profile in profiles.items():
        for key in ("rerun-triggers", "max-checksum-file-size"):
            assert profile[key] == profiles["default"][key], f"profiles/{name}: {key}"
