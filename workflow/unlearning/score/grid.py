"""The rows that scoring must give, known before anything is scored.

Each metric module declares `ROWS`: a literal tuple of (metric, groups, languages, tasks).
groups: "asked" (forget and retain, and every other group that has questions but background and utility) or a tuple of
names. languages: a kind of `unlearning.score.languages.names`. tasks: a tuple of names, or "trials": all, and any
where the questions were answered more than once.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

from unlearning.score.languages import Language, names

METRICS = Path(__file__).parent.parent / "metrics"


def metric_names() -> list[str]:
    """Every metric that can be scored: the modules of `unlearning.metrics`."""
    return sorted(path.stem for path in METRICS.glob("*.py") if path.stem != "__init__")


def declared(module: str, constant: str) -> tuple:
    """The literal `constant` (NEEDS, ROWS) of a metric's module, read without importing it.

    ValueError for an unknown metric lists the known ones.
    """
    if module not in metric_names():
        raise ValueError(f"unknown metric {module!r}; metrics are {', '.join(metric_names())}")
    body = ast.parse((METRICS / f"{module}.py").read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == [constant]:
            return ast.literal_eval(node.value)
    raise AssertionError(f"metric {module} declares no {constant}")


def expected(
    metrics: Iterable[str], languages: dict[str, Language], groups: tuple[str, ...], trials: int = 1
) -> list[tuple[str, str, str, str]]:
    """The (group, language, task, metric) keys that `score` gives for these metrics.

    `groups`: those asked about what was learnt, `View.groups`. `trials`: answers per question.
    """
    keys = []
    for module in metrics:
        for metric, asked, kind, tasks in declared(module, "ROWS"):
            asked = groups if asked == "asked" else asked
            tasks = ("all", "any")[: 1 + (trials > 1)] if tasks == "trials" else tasks
            keys += [(g, language, t, metric) for t in tasks for g in asked for language in names(kind, languages)]
    return keys
