"""The configuration's files as they are written: what YAML would take in silence, or Snakemake refuses without a name.

`python -m unlearning.config.overlay FILE …` checks overlays before Snakemake reads them (`make run`, `make dry`).
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import yaml

from unlearning.config.problems import ConfigError


def check_files(paths: Iterable[Path | str]) -> None:
    """ConfigError, with file and line, for a file that is missing, empty, not YAML or has a key twice."""
    for path in paths:
        if not Path(path).is_file():
            raise ConfigError(f"{path}: no such file; overlays lie in config/")
        text = Path(path).read_text(encoding="utf-8")
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            if not _is_json(text):
                raise ConfigError(f"{path}{_broken(error, text)}") from None
            continue
        if not isinstance(node, yaml.MappingNode):
            what = "is empty" if node is None else "should have keys at the top"
            raise ConfigError(f"{path} {what}; write a key, e.g. bootstrap_draws: 100, or leave the file out")
        if problems := list(_twice(node, "", set())):
            raise ConfigError("\n".join(f"{path}, {problem}" for problem in problems))


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _broken(error: yaml.YAMLError, text: str) -> str:
    """`, line 3: what is wrong` for a text that is not YAML."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f": not readable as YAML: {error}"
    line = text.splitlines()[mark.line] if mark.line < len(text.splitlines()) else ""
    if "\t" in line[: mark.column + 1]:
        return f", line {mark.line + 1}: a tab; YAML is indented with spaces"
    return f", line {mark.line + 1}: not readable as YAML: {error.problem}; near {line.strip()!r}"


def _twice(node: yaml.Node, above: str, seen: set[int]) -> Iterable[str]:
    """The keys that stand twice in one map, of which YAML would silently keep the last."""
    if id(node) in seen:
        return  # an alias
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from _twice(entry, above, seen)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            yield f"line {line}: key {above}{name} stands in line {lines[name]} already; keep one"
        lines.setdefault(name, line)
        yield from _twice(value, f"{above}{name}.", seen)


if __name__ == "__main__":
    try:
        check_files(sys.argv[1:])
    except ConfigError as error:
        sys.exit(f"CONFIG: {error}")
