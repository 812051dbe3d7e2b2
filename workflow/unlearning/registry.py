"""The registries: a folder of modules, a name for each, and the literals a module declares, read without importing it.

forget, retain, methods, criteria, metrics, attacks, judges, data/checks: a name there is the module
`unlearning.<folder>.<name>`.
"""

import ast
import functools
from pathlib import Path

PACKAGE = "unlearning"
ROOT = Path(__file__).resolve().parents[1]


def module_file(module: str, root: Path = ROOT) -> Path | None:
    """The file of a dotted project module, or None when there is no such module (it names an attribute)."""
    path = root.joinpath(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def available(folder: str, root: Path = ROOT) -> list[str]:
    """The names a registry folder offers: its modules, e.g. available("retain") -> ["ap", "gd", "kl", "none"]."""
    return sorted(p.stem for p in (root / PACKAGE / folder).glob("*.py") if not p.stem.startswith("_"))


def declared(module: str, name: str, default: object = None, root: Path = ROOT) -> object:
    """The literal assigned to `name` at the top of a project module, read without importing it (torch stays out).

    `default` where the module declares none. ValueError for a module that does not exist lists those beside it.
    """
    file = module_file(module, root)
    if file is None:
        folder, _, last = module.rpartition(".")
        there = available(folder.removeprefix(f"{PACKAGE}.").replace(".", "/"), root)
        raise ValueError(f"no {last!r} in {folder}; there are: {', '.join(there) or 'none'}")
    found = _assigned(file.read_text(encoding="utf-8")).get(name)
    return default if found is None else ast.literal_eval(found)


@functools.cache
def _assigned(text: str) -> dict[str, ast.expr]:
    """What is assigned to each name at the top of a module's text, the first time. Of a text, as a file may change."""
    found: dict[str, ast.expr] = {}
    for node in ast.parse(text).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:
                found.setdefault(target.id, node.value)
    return found
