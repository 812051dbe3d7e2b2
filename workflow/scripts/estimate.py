"""What asking every prompt made so far would take: replies, tokens, USD. Nobody is asked. For `make estimate`."""

import argparse
import sys
from pathlib import Path

import pandas as pd
import yaml

RESULTS = Path("results")


def configuration(arguments: list[str]):
    """The configuration under the overlays and keys that Snakemake's own arguments would give."""
    from snakemake.utils import update_config

    from unlearning.config.load import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfile", nargs="+", default=[])
    parser.add_argument("--config", nargs="+", default=[])
    given = parser.parse_args(arguments)
    merged: dict = {}
    for path in ["config/config.yaml", *given.configfile]:
        update_config(merged, yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    for pair in given.config:
        key, _, value = pair.partition("=")
        update_config(merged, {key: yaml.safe_load(value)})
    return load(merged)


def estimates(config, tables: list[Path], folder: Path) -> list:
    """One estimate for each role that `tables` (of prompts) ask, with what is stored in `folder` taken off."""
    from contextlib import closing, nullcontext

    from unlearning.config.doors import door_settings
    from unlearning.llm.estimate import estimate
    from unlearning.llm.requests import identity_of
    from unlearning.llm.store import Store
    from unlearning.tables.artifacts import read_table

    asked = pd.concat([read_table(path, "prompts") for path in tables], ignore_index=True)
    found = []
    for role, prompts in asked.groupby("role", sort=True):
        door = door_settings(config, role)
        path = folder / f"{door['name']}.sqlite"
        with closing(Store(path)) if path.is_file() else nullcontext() as store:
            found += estimate(prompts, identity_of(door["backend"]), store, door["price"])
    return found


def main(arguments: list[str]) -> int:
    """Print the estimate; exit status 1 with the problem if the configuration has one."""
    from unlearning.config.problems import ConfigError
    from unlearning.llm.estimate import described

    try:
        config = configuration(arguments)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    tables = sorted(RESULTS.glob("*/**/llm/*/prompts.parquet"))
    if not tables:
        print(
            "No prompts are made yet, so there is nothing to count. A paid job's log begins with its estimate."
        )
        return 0
    print(f"{len(tables)} tables of prompts. {described(estimates(config, tables, RESULTS / '.llm'))}")
    if config.llm.spending_cap is not None:
        print(f"Spending is capped at {config.llm.spending_cap:,.2f} USD (llm.spending_cap)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
