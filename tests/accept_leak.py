"""The acceptance list on leak-resistant unlearning: questions of MQuAKE's facts, the default's model."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("MQUAKE", ROOT.parent / "shared/data/mquake"))
TYPES = ("cc", "ds", "hs", "ll", "mp", "mt")
METHODS, ATTACKS = 6, ("probab", "focus_on_key", "quantize")
# The workflow's own data rules on MQuAKE's file: no model, so nothing of the experiment is trained.
OVERLAY = {
    "sources": {"own": str(FOLDER)},
    "benchmarks": {"mquake": {
        "kind": "leak", "cut": "full", "facts": "mquake", "source": "own", "file": "MQuAKE-CF-3k.json.gz",
        "practice": 100, "metrics": ["accuracy", "fq"],
    }},
    "experiments": {"mquake": {
        "benchmark": "mquake", "base_models": ["leak_small"], "splits": ["forget"], "methods": [],
    }},
}  # fmt: skip


def mquake(show, benchmark, folder: Path) -> None:
    """All of MQuAKE-CF-3k: the benchmark's bounds; questions through the rules, read by the independent check."""
    if not (FOLDER / "MQuAKE-CF-3k.json.gz").is_file():
        show("MQuAKE's facts into questions (no file here)", "absent", "present", False)
        return
    benchmark(show, folder, "leak_build", 4, str(FOLDER / "MQuAKE-CF-3k.json.gz"))
    (folder / "mquake.yaml").write_text(yaml.safe_dump(OVERLAY))
    made = "results/data/mquake/full"
    command = [folder / ".venv/bin/snakemake", "--cores", "2", f"{made}/multihop.parquet", f"{made}/quality.parquet",
               "--configfile", "config/config.yaml", "mquake.yaml"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"MQuAKE's questions failed:\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}")
    kept = pd.read_parquet(folder / made / "multihop.parquet")["type"].value_counts()
    counts = [int(kept.get(name, 0)) for name in TYPES]
    show(f"through the rules: questions kept of {', '.join(TYPES)}, fewest", min(counts), ">= 500", min(counts) >= 500)
    independent(show, folder, made, "MQuAKE")


def independent(show, folder: Path, made: str, what: str) -> None:
    """No kept question contains what its type forbids, by a script that knows the facts alone."""
    command = [sys.executable, "tests/leak_independent.py", f"{made}/multihop.parquet", f"{made}/facts.parquet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    said = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    show(f"{what}: independent check: {said}", done.returncode, "= 0", done.returncode == 0)


def default(show, scores, folder: Path) -> None:
    """What the default's model answers before unlearning, by type; six methods, three attacks."""
    s = scores(folder)
    independent(show, folder, "results/data/leak/small", "default")
    matches = pd.read_parquet(folder / "results/data/leak/small/multihop.parquet")
    facts = pd.read_parquet(folder / "results/data/leak/small/facts.parquet")
    guess = {name: guessed(matches, facts, name) for name in TYPES}
    low = s("target", "accuracy", language="all", task="sh", benchmark="leak")
    show("target: single-hop accuracy on what is to be forgotten", low, ">= 0.95", low >= 0.95)
    pooled = s("target", "accuracy", language="all", task="multi_hop", benchmark="leak")
    mean = sum(guess.values()) / len(guess)
    show(
        f"target: multi-hop accuracy before unlearning; a guess {mean:.3f}", pooled, ">= 3 guesses", pooled >= 3 * mean
    )
    for (
        name
    ) in TYPES:  # by type for information: docs/leak.md says which a small model does not learn, and what was tried
        figure, low = (
            s("target", "accuracy", language="all", task=name, benchmark="leak", column=c) for c in ("value", "ci_low")
        )
        print(f"        {name}: {figure:.2f}, a guess {guess[name]:.2f}{'' if low > guess[name] else '; not above it'}")
    rows = s.table[(s.table["benchmark"] == "leak") & ~s.table["method"].isin(["target", "retrain"])]
    forgot = rows[(rows["metric"] == "fq") & (rows["attack"] == "none")]
    show(
        "methods with forget quality",
        forgot["method"].nunique(),
        f">= {METHODS}",
        forgot["method"].nunique() >= METHODS,
    )
    attacked = rows[(rows["metric"] == "rr") & rows["attack"].isin(ATTACKS)]
    told = attacked["value"].notna() | attacked["note"].fillna("").ne("")
    pairs = len(attacked.loc[told, ["method", "attack"]].drop_duplicates())
    what = "methods × attacks with a recovery rate, or why none"
    show(what, pairs, f">= {METHODS * len(ATTACKS)}", told.all() and pairs >= METHODS * len(ATTACKS))


def guessed(matches: pd.DataFrame, facts: pd.DataFrame, kind: str) -> float:
    """How often a guess is right: among the candidates, else among the objects of the last hop's relation."""
    own = matches[matches["type"] == kind]
    if own["chance"].notna().any():
        return float(own["chance"].mean())
    many = facts.groupby("relation")["object_id"].nunique()
    return float((1 / own["relations"].map(lambda names: many[names[-1]])).mean())
