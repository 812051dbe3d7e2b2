"""What the tests of the configuration share: the default, changed or overlaid, and parsed as a dry run does."""

import copy
from pathlib import Path

import yaml
from snakemake.utils import update_config

from unlearning.config.load import load
from unlearning.config.resources import check_resources
from unlearning.config.runs import plan

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


POOLS = yaml.safe_load((ROOT / "resources/mu2/pools.yaml").read_text(encoding="utf-8"))["attributes"]
ATTRIBUTES = {name: len(pool["values"]) for name, pool in POOLS.items()}
LANGUAGES = yaml.safe_load((ROOT / "resources/mu2/languages.yaml").read_text(encoding="utf-8"))
LEVELS = {code: facts["resource"] for code, facts in LANGUAGES.items()}


def overlaid(*names: str) -> dict:
    """The default configuration under overlays of config/, the last on top."""
    config = copy.deepcopy(DEFAULT)
    for name in names:
        update_config(config, yaml.safe_load((ROOT / "config" / name).read_text(encoding="utf-8")))
    config["sources"] = dict.fromkeys(("tofu", "wmdp"), "somewhere") | config.get("sources", {})
    return config


def changed(path: str, value, base: dict = DEFAULT):
    """The configuration `base` with one key set (or removed, for value ...)."""
    config = copy.deepcopy(base)
    *steps, last = path.split("/")
    here = config
    for step in steps:
        here = here[step]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return config


def parse(config: dict):
    """What a dry run does with a configuration."""
    checked = load(config)
    check_resources(checked, ATTRIBUTES, LEVELS)
    return plan(checked)
