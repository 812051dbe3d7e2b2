"""What lies below results/ and how large it is: models by kind, tables, the store, language models' replies."""

import os
from collections import Counter
from pathlib import Path

from unlearning.cache.dropping import DROPPED

MODELS = ("base models", "targets", "retrained", "unlearned", "candidates", "models by epoch", "attacked models")
OTHERS = {
    ".store": "store of earlier results, beyond what is linked above", ".llm": "language models' replies",
    ".work": "checkpoints of trainings",
}  # fmt: skip
REST = "tables, logs, report"
NAMED = {"base": 0, "target": 1, "retrain": 2}


def kind_of(parts: tuple[str, ...]) -> str | None:
    """Which of MODELS a file belongs to, by its path below results/; None: to none.

    runs/<benchmark>/<base model>/<setting>/<split>/<method>/s<seed>[/e<epoch>[/<attack>]]/ model.json or weights/…
    """
    if parts[0] != "runs" or len(parts) < 8:
        return None
    end = parts.index("weights") if "weights" in parts[7:-1] else len(parts) - 1
    if end == len(parts) - 1 and parts[-1] not in ("model.json", DROPPED):
        return None
    method, below = parts[5], end - 7  # folders between the run's and the model's
    if below:
        return MODELS[5] if below == 1 else MODELS[6]
    return MODELS[4] if "~" in method else MODELS[NAMED.get(method, 3)]


def sizes(results: Path) -> list[dict]:
    """Rows `what`, `number` (of models), `dropped` (models), `mib`, in order, with a total; [] without a folder.

    A file that has several names (hard links) counts at the first of them.
    """
    size, number, dropped, seen = Counter(), Counter(), Counter(), set()
    for folder, folders, files in os.walk(results):
        folders.sort(key=lambda name: (name.startswith("."), "~" in name, name))  # a model before what links to it
        for name in files:
            path = Path(folder, name)
            try:
                stat = path.stat()
            except FileNotFoundError:  # a log or the like, of a job beside this one
                continue
            parts = path.relative_to(results).parts
            kind = kind_of(parts)
            if kind and name == "model.json":
                number[kind] += 1
            elif kind and name == DROPPED and "model.json" not in files:
                dropped[kind] += 1
            if (stat.st_dev, stat.st_ino) not in seen:
                seen.add((stat.st_dev, stat.st_ino))
                size[kind or OTHERS.get(parts[0], REST)] += stat.st_size
    rows = [
        {"what": what, "number": number.get(what), "dropped": dropped.get(what), "mib": size[what] / 2**20}
        for what in (*MODELS, REST, *OTHERS.values())
        if size[what] or dropped[what]
    ]
    total = {"what": "all", "number": number.total(), "dropped": dropped.total(), "mib": size.total() / 2**20}
    return [*rows, total] if rows else []
