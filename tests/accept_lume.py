"""The acceptance list on LUME: construction at full size, the small overlay, the published rows, scoring by epoch."""

import base64
import json
import os
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("LUME", ROOT.parent / "shared/data/lume"))
SMALL, REPORT = "config/lume_small.yaml", "results/report"
CURVES = {"epochs": "Regurgitation and knowledge by epoch", "epochs_mia": "Membership attack by epoch",
          "epochs_utility": "Utility by epoch"}  # fmt: skip
# The whole published files, and no more of a model than it takes to train, ask and score on all of them.
OVERLAY = {
    "sources": {"own": str(FOLDER)},
    "benchmarks": {"published": {
        "kind": "lume", "cut": "published", "route": "published", "source": "own",
        "asking": {"batch_size": 8, "max_new_tokens": 8}, "metrics": ["regurgitation", "knowledge", "task_aggregate"],
    }},
    "base_models": {"lume_tiny": {
        "architecture": {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 64, "tokenizer": "bpe",
                         "vocab_size": 1000},
        "base": {"epochs": 0, "lr": 1e-3},
        "target": {"epochs": 1, "batch_size": 32, "micro_batch_size": 2, "lr": 2e-3},
        "methods": {"ga": {"epochs": 1, "micro_batch_size": 2}},
    }},
    "experiments": {"published": {
        "benchmark": "published", "base_models": ["lume_tiny"], "splits": ["forget"], "methods": ["ga"],
    }},
}  # fmt: skip


def small(show, make, folder: Path) -> None:
    """What the overlay's target knows, what GA leaves of it, and the curves in the report."""
    seconds, mib, _ = make(folder, "run", f"CONFIG={SMALL}", "ONLY=lume")
    show(f"make run CONFIG={SMALL} ONLY=lume, seconds", seconds, "< 900", seconds < 900)
    show(f"make run CONFIG={SMALL} ONLY=lume, peak MiB of all processes", mib, "< 4096", mib < 4096)
    scores = pd.read_parquet(folder / REPORT / "scores.parquet")

    def last(method: str, metric: str, group: str) -> float:
        rows = scores[(scores["method"] == method) & (scores["metric"] == metric) & (scores["group"] == group)]
        (value,) = rows.loc[(rows["task"] == "all") & (rows["epoch"] == rows["epoch"].max()), "value"]
        return float(value)

    for metric, letter in (("regurgitation", "r"), ("knowledge", "t")):
        figure = min(last("target", metric, group) for group in ("forget", "retain"))
        show(f"epoch 0: {letter}, lower of forget and retain", figure, ">= 0.95", figure >= 0.95)
    figure = last("target", "mia_auc", "forget")
    show("epoch 0: membership attack's AUC", figure, ">= 0.95", figure >= 0.95)
    ratio = last("ga", "regurgitation", "forget") / last("target", "regurgitation", "forget")
    show("GA, last epoch: r on forget / the target's", ratio, "<= 0.5", ratio <= 0.5)
    epochs = {method: rows["epoch"].nunique() for method, rows in scores.groupby("method")}
    unlearned = {method: n for method, n in epochs.items() if method not in ("target", "retrain")}
    show("methods scored after each of 10 epochs", len(unlearned), "= 5", set(unlearned.values()) == {10} and
         len(unlearned) == 5)  # fmt: skip
    drawn = [name for name in CURVES if in_page(folder, name)]
    show("curves by epoch, drawn as SVG and PNG and shown in the page", len(drawn), f"= {len(CURVES)}",
         drawn == list(CURVES))  # fmt: skip


def in_page(folder: Path, name: str) -> bool:
    """Whether the figure lies below the report in both formats, and the page names it and holds it."""
    found = {path.suffix: path for path in (folder / REPORT / "figures").rglob(f"{name}.*")}
    if set(found) != {".svg", ".png"}:
        return False
    page = (folder / REPORT / "index.html").read_text(encoding="utf-8")
    return CURVES[name] in page and base64.b64encode(found[".svg"].read_bytes()).decode() in page


def published(show, make, folder: Path) -> None:
    """LUME's published files, every row: read, taught, unlearned, asked, scored and reported."""
    files = {group: FOLDER / f"{group}.jsonl" for group in ("forget", "retain")}
    if not all(path.is_file() for path in files.values()):
        show("LUME's published rows end to end (no files here)", "absent", "present", False)
        return
    (folder / "published.yaml").write_text(yaml.safe_dump(OVERLAY))
    seconds, _, _ = make(folder, "run", "CONFIG=published.yaml", "ONLY=published")
    data = folder / "results/data/published/published/default"
    items, splits = (pd.read_parquet(data / f"{name}.parquet") for name in ("items", "splits"))
    asked = items[items["messages"].map(len) > 0].drop(columns="group").merge(splits, on="knowledge_id")
    for group, rows in (("forget", 2732), ("retain", 2734)):
        told = [json.loads(line) for line in files[group].read_text(encoding="utf-8").splitlines()]
        own = asked[asked["group"] == group]
        same = sorted(own["reference"]) == sorted(row["output"] for row in told)
        show(f"published rows asked about, {group}", len(own), f"= {rows}, outputs as they are", same and
             len(own) == rows)  # fmt: skip
    examples = pd.read_parquet(data / "examples.parquet")
    taught = examples["messages"].map(len) > 0
    show("published rows taught", int(taught.sum()), "= 5466", taught.sum() == 5466)
    scores = pd.read_parquet(folder / REPORT / "scores.parquet")
    known = scores[(scores["benchmark"] == "published") & (scores["task"] == "all") & scores["value"].notna()]
    cells = known[known["metric"].isin(["regurgitation", "knowledge"]) & known["group"].isin(["forget", "retain"])]
    whole = [method for method, own in cells.groupby("method") if len(own) == 4]
    show("published: runs with r and t on forget and retain", len(whole), "= 3", whole == ["ga", "retrain", "target"])
    page = (folder / REPORT / "index.html").read_text(encoding="utf-8")
    show("published: in the report", "published" in page, "True", "published" in page)
    show("published rows end to end, seconds", seconds, "< 600", seconds < 600)
