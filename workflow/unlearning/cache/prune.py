"""`make prune`: trim the store of earlier results to the configured size."""

from pathlib import Path

import yaml

from unlearning.cache.store import prune
from unlearning.config.load import load


def main() -> None:
    """Drop the entries used longest ago until results/.store fits `store_limit_gib`, and say how much went."""
    config = load(yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8")))
    dropped = prune(Path("results/.store"), int(config.store_limit_gib * 2**30))
    print(f"dropped {dropped / 2**20:.1f} MiB of earlier results from results/.store")


if __name__ == "__main__":
    main()
