"""Models of finished runs, dropped to save room: weights and the store's copies go, what is known of the models stays.

Of a dropped model `model.json` is called `model.dropped.json`, so that whatever needs the model has it made again.
"""

import json
import shutil
from pathlib import Path

from unlearning.cache import provenance

DROPPED = "model.dropped.json"


def record_of(folder: Path) -> dict:
    """What model.json in `folder` says, also of a model that was dropped; {} where there was none."""
    for name in ("model.json", DROPPED):
        if (Path(folder) / name).is_file():
            return json.loads((Path(folder) / name).read_text(encoding="utf-8"))
    return {}


def drop(model_json: Path, store: Path) -> int:
    """Drop the weights beside `model_json` and the store's entry of the job that made them; the bytes freed.

    Files that another model links to (the candidate that was selected) free nothing. Killed at any moment, it can be
    called again.
    """
    model_json = Path(model_json)
    weights = model_json.with_name("weights")
    if model_json.is_file():
        model_json.replace(model_json.with_name(DROPPED))
    key, freed = provenance.read(model_json).get("key"), 0  # of the job that made it
    for folder in [weights, *([store / key[:2] / key] if key else [])]:
        for path in folder.rglob("*"):
            if path.is_file():
                freed += path.stat().st_size if path.stat().st_nlink == 1 else 0
                path.unlink()
        shutil.rmtree(folder, ignore_errors=True)
    return freed
