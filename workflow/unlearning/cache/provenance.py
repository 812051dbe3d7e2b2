"""Provenance: how an artifact came to be, in a JSON file beside it that nothing but the report reads."""

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path

from unlearning.tables.artifacts import write_text

LIBRARIES = ("torch", "transformers", "peft", "torchao", "datasets", "pandas", "pyarrow", "numpy", "faker", "snakemake")


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries results depend on; recorded, never a reason to run again."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def beside(path: Path) -> Path:
    """`scores.parquet` -> `scores.provenance.json`."""
    path = Path(path)
    return path.with_name(f"{path.stem}.provenance.json")


def write(path: Path, facts: Mapping) -> None:
    """Write `facts` beside the artifact `path`."""
    write_text(beside(path), json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read(path: Path) -> dict:
    """The facts beside the artifact `path`; {} where there are none."""
    facts = beside(path)
    return json.loads(facts.read_text(encoding="utf-8")) if facts.is_file() else {}
