"""The acceptance list on SEPS: the paper's tables, the small overlay with its twelve methods, TOFU's files."""

import os
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("TOFU", ROOT.parent / "shared/data/tofu"))
SMALL, SCORES = "config/seps_small.yaml", "results/report/scores.parquet"
TARGETED = ("dpo_gd", "dpo_kl", "idk_gd", "idk_kl", "idk_ap")
METHODS = ("ga_gd", "ga_kl", "npo_gd", "npo_kl", "me_gd", *TARGETED, "mp_me", "mp_idk")
# TOFU's forget01 with mixed prompts, and no more of a model than it takes to train, ask and score.
OVERLAY = {
    "sources": {"tofu": str(FOLDER)},
    "benchmarks": {"tofu": {
        "cut": "mixed", "mixed": {"stress_lines": 10}, "asking": {"batch_size": 64, "max_new_tokens": 96},
        "metrics": ["rouge_l", "probability", "truth_ratio", "model_utility", "forget_quality", "judge", "cosine", "mu",
                    "fe", "separability", "h_avg", "joint", "stress"],
    }},
    "base_models": {"tofu_tiny": {
        "architecture": {"hidden": 64, "layers": 1, "heads": 2, "intermediate": 128, "vocab_size": 3000},
        "base": {"epochs": 0, "lr": 1e-3},
        "target": {"epochs": 2, "batch_size": 32, "lr": 3e-3, "background_share": 0.3},
        "methods": {"ga_gd": {"epochs": 1}},
    }},
    "experiments": {
        "tofu_small": {"enabled": False},
        "tofu_tiny": {"benchmark": "tofu", "base_models": ["tofu_tiny"], "splits": ["forget01"], "methods": ["ga_gd"]},
    },
}  # fmt: skip


def tables(show) -> None:
    """How many of the paper's printed rows our formulas give from their printed parts."""
    sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests")]
    from test_metrics_seps import AGGREGATES, MISPRINT, TABLE, WITHIN

    for name, bound in (("mu", "30 of 30"), ("fe", "30 of 30"), ("seps", "29 of 30"), ("h_avg", "35 of 36")):
        rows = {key: row for key, row in TABLE.items() if name == "h_avg" or row["mu"] is not None}  # in four digits
        missed = [key for key, row in rows.items() if abs(AGGREGATES[name](row) - row[name]) > WITHIN]
        figure = f"{len(rows) - len(missed)} of {len(rows)}"
        show(f"the paper's rows whose {name} recomputes within {WITHIN}", figure, bound,
             figure == bound and missed in ([], [MISPRINT]))  # fmt: skip


def small(show, make, folder: Path) -> None:
    """Twelve methods and the stress test on the overlay's model."""
    seconds, mib, _ = make(folder, "run", f"CONFIG={SMALL}", "ONLY=seps")
    show(f"make run CONFIG={SMALL} ONLY=seps, seconds", seconds, "< 1200", seconds < 1200)
    show(f"make run CONFIG={SMALL} ONLY=seps, peak MiB of all processes", mib, "< 4096", mib < 4096)
    scores = pd.read_parquet(folder / SCORES)

    def value(method: str, metric: str, group: str = "all", task: str = "all") -> float:
        rows = scores[(scores["method"] == method) & (scores["metric"] == metric) & (scores["attack"] == "none")]
        (found,) = rows.loc[(rows["group"] == group) & (rows["task"] == task) & (rows["language"] == "all"), "value"]
        return float(found)

    figure = min(value("target", "judge", group) for group in ("forget", "retain"))
    show("target: answers right, lower of forget and retain", figure, ">= 0.95", figure >= 0.95)
    figure = value("target", "fis", task="judge")
    show("target: FIS by the judge (it tells in mixed prompts what it will have to forget)", figure, ">= 0.75",
         figure >= 0.75)  # fmt: skip
    figure = value("retrain", "seps", task="judge")
    show("retrained: SEPS by the judge", figure, ">= 0.8", figure >= 0.8)
    done = {method for method in METHODS if all(value(method, m) >= 0 for m in ("mu", "fe", "seps", "h_avg"))}
    show("methods with MU, FE, SEPS and H-Avg", len(done), "= 12", len(done) == 12)
    ours, others = value("mp_idk", "seps"), {method: value(method, "seps") for method in TARGETED}
    best = max(others, key=others.get)
    show(f"MP-IDK's SEPS; best of single prompts, targeted: {best} {others[best]:.3f}", ours, "above it",
         ours > others[best])  # fmt: skip
    stress = scores[scores["task"].str.startswith("stress_") & scores["value"].notna()]
    per_run = stress.groupby("method").size()
    show("stress test: scores of each of 14 models (18 prompts' kinds x 2 sides)", int(per_run.min()), "= 36",
         len(per_run) == 14 and set(per_run) == {36})  # fmt: skip


def tofu(show, make, folder: Path) -> None:
    """TOFU's forget01 with mixed prompts and the stress test through the same rules."""
    if not (FOLDER / "full.json").is_file():
        show("TOFU's files with mixed prompts (no files here)", "absent", "present", False)
        return
    (folder / "mixed.yaml").write_text(yaml.safe_dump(OVERLAY))
    seconds, _, _ = make(folder, "run", "CONFIG=config/tofu_files.yaml mixed.yaml", f"TOFU={FOLDER}", "ONLY=tofu")
    show("TOFU's files with mixed prompts, seconds", seconds, "< 900", seconds < 900)
    items = pd.read_parquet(folder / "results/data/tofu/mixed/default/items.parquet", columns=["task", "group"])
    mixed = items[items["group"] == "mixed"]["task"]
    pairs, stress = int((~mixed.str.startswith("stress_")).sum()), int(mixed.str.startswith("stress_").sum())
    show("forget01: pairs in four orders", pairs, "= 160", pairs == 160)
    show("forget01: prompts of the stress test", stress, "= 180", stress == 180)
    scores = pd.read_parquet(folder / SCORES)
    wanted = {"mu", "fe", "seps", "h_avg", "model_utility", "forget_quality"}
    rows = scores[(scores["benchmark"] == "tofu") & (scores["task"] == "all") & scores["metric"].isin(wanted)]
    got = set(rows.loc[rows["value"].notna() & (rows["method"] == "ga_gd"), "metric"])
    show("TOFU: numbers of the unlearned model", "+".join(sorted(got)), "all six", got == wanted)
