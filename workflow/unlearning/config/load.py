"""Check a configuration as a person wrote it: types, unknown keys, and what two keys say about each other."""

from collections.abc import Mapping

from pydantic import ValidationError

from unlearning.config import check_benchmarks, check_experiments, check_llm, check_methods
from unlearning.config.problems import refuse
from unlearning.config.schema import Config
from unlearning.config.words import explain


def load(raw: Mapping) -> Config:
    """The checked configuration. ConfigError lists every problem found, one a line."""
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        refuse(explain(error.errors(), Config))
    refuse(
        p for section in (check_benchmarks, check_methods, check_llm, check_experiments) for p in section.check(config)
    )
    refuse(check_experiments.fits(config))
    return config
