"""Code fingerprints: what a job's result depends on, by content of the code it can reach.

The fingerprint of a script covers the script, every project module it imports (directly or not, at the top or inside a
function), and the modules its configuration names (a forget term, a metric …) with theirs. Docstrings and comments do
not count. Imports inside `if __name__ == "__main__":` are left out: that block only connects the function to the
workflow and cannot change what a table contains.
"""

import ast
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from unlearning.registry import PACKAGE, ROOT, module_file


class CodeChanged(RuntimeError):
    """The project's code changed between the parse of the workflow and the end of a job."""


def _is_main_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
    return tree


def _imported(tree: ast.Module, root: Path, package: str) -> set[Path]:
    """Project files that `tree` imports; `package` is the dotted package the file lies in, for relative imports."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    inside = (name for name in names if name.split(".")[0] == PACKAGE)
    return {file for name in inside if (file := module_file(name, root))}


@functools.cache
def _parsed(path: Path, root: Path, mtime_ns: int, size: int) -> tuple[str, frozenset[Path]]:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    tree.body = [node for node in tree.body if not _is_main_block(node)]
    tree = _without_docstrings(tree)
    package = ".".join(path.relative_to(root).parent.parts)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), frozenset(_imported(tree, root, package))


def closure(script: Path, modules: Iterable[str] = (), root: Path = ROOT) -> dict[str, str]:
    """Project files reachable from `script` and from the named `modules`: {path below root: hash of its parsed code}.

    Raises ValueError for a module that does not exist.
    """
    waiting = [Path(script)]
    for module in modules:
        file = module_file(module, root)
        if file is None:
            raise ValueError(f"no module {module} below {root.name}/; it is named by the configuration")
        waiting.append(file)
    seen: dict[str, str] = {}
    while waiting:
        file = waiting.pop()
        name = str(file.relative_to(root))
        if name in seen:
            continue
        stat = file.stat()
        seen[name], imported = _parsed(file, root, stat.st_mtime_ns, stat.st_size)
        waiting.extend(imported)
    return seen


def fingerprint(script: Path, modules: Iterable[str] = (), root: Path = ROOT) -> str:
    """sha256 (first 16 hex digits) over `closure`: equal exactly when nothing that can matter changed."""
    lines = (f"{name} {digest}\n" for name, digest in sorted(closure(script, modules, root).items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
