"""Score tables, logs and provenance files as a small run would leave them, for the tests of the report."""

import json
import random
from pathlib import Path

import yaml

from unlearning.seeds import seed_for
from unlearning.tables.artifacts import write_table, write_text

SETTING = {"train": ["en", "de", "id", "af"], "holdout": ["es", "lv", "th", "mk"]}
CONFIG = yaml.safe_dump({"benchmarks": {"mu2": {"settings": {"s1": SETTING}}}, "methods": {"npo_gd": {"lr": 1e-4}}})
PS = {
    "target": 0.97,
    "retrain": 0.12,
    "ga": 0.001,
    "ga_gd": 0.05,
    "ga_kl": 0.09,
    "npo": 0.004,
    "npo_gd": 0.07,
    "idk_gd": 0.4,
}
RETAIN = {
    "target": 0.97,
    "retrain": 0.97,
    "ga": 0.002,
    "ga_gd": 0.93,
    "ga_kl": 0.71,
    "npo": 0.02,
    "npo_gd": 0.95,
    "idk_gd": 0.94,
}


def row(
    identity: dict, metric: str, value, group="forget", language="all", task="all", width=0.04, note=None, n=40
) -> dict:
    """One score row; the interval is `value` ± `width`, none where width is None or the value is null."""
    bounds = value is not None and width is not None
    return {
        **identity, "group": group, "language": language, "task": task, "metric": metric, "value": value, "n": n,
        "ci_low": value - width if bounds else None, "ci_high": value + width if bounds else None, "note": note,
    }  # fmt: skip


def identity(benchmark="mu2", method="npo_gd", attack="none", seed=0, setting="s1", split="p5", epoch=3) -> dict:
    """The eight columns that name a run."""
    return {"benchmark": benchmark, "base_model": "small", "setting": setting, "split": split, "method": method,
            "seed": seed, "epoch": epoch, "attack": attack}  # fmt: skip


def mu2_rows(run: dict) -> list[dict]:
    """Every score a mu2 run has, with plausible values."""
    draw = random.Random(seed_for(run["seed"], "fake", f"{run['method']}/{run['attack']}"))
    near = lambda value, width=0.03: min(1.0, max(0.0, value + draw.uniform(-width, width)))  # noqa: E731
    ps, retain = PS[run["method"]], RETAIN[run["method"]]
    lift = {"none": 0.0, "probab": 0.0, "quantize": 0.06}[run["attack"]]
    codes = SETTING
    weak = {"train": 1.0, "holdout": 0.4}
    levels = {"train": ["train", "train:high", "train:low", *codes["train"]],
              "holdout": ["holdout", *(f"holdout:{part}" for part in ("high", "low", "latin", "other")),
                          *codes["holdout"]]}  # fmt: skip
    rows = []
    for side, names in levels.items():
        known = 0.1 + (ps - 0.1) * weak[side] if ps > 0.1 else ps
        for name in names:
            rows += [
                row(run, "ps", near(known + lift), language=name),
                row(run, "se", near(known + lift), language=name),
            ]
            drop = {"ps": 100 * (1 - known / 0.97), "se": 100 * (1 - near(known) / 0.97)}
            null = "the target is compared with itself" if run["method"] == "target" else None
            rows += [
                row(run, "drop_rate", None if null else v, language=name, task=t, width=4, note=null)
                for t, v in drop.items()
            ]
        if run["attack"] == "probab":
            rows.append(row(run, "se", near(known + 0.1), language=side, task="any"))
        rows.append(row(run, "ps", near(retain * weak[side]), "retain", side, width=0.02))
        for kind in ("prob_roc", "prob_pr", "gen_roc", "gen_pr"):
            raw = near(0.98 - 0.4 * ps)
            rows += [row(run, f"kss_{kind}", raw, language=side),
                     row(run, f"kss_{kind}_chance", 100 * (raw - 0.5) / 0.48, language=side, width=9),
                     row(run, f"kss_{kind}_ratio", 100 * raw / 0.98, language=side, width=5)]  # fmt: skip
        leak = 100 * (ps - 0.12)
        note = "A of the retrained model is above 0.99, so the formula divides by almost 0; see privleak_relative"
        rows.append(
            row(
                run,
                "privleak",
                None if side == "holdout" else leak,
                language=side,
                width=8,
                note=note if side == "holdout" else None,
            )
        )
        note = "nothing was forgotten, so nothing can persist" if run["method"] in ("target",) else None
        rows.append(row(run, "kps", None if note else near(0.1), language=side, note=note))
    rows.append(
        row(run, "general_knowledge", None, "utility", "all", note="no TyDi QA file was given (data.tydi.path)", n=0)
    )
    return rows


def tofu_rows(run: dict) -> list[dict]:
    """Every score a TOFU run has."""
    p, keep = PS[run["method"]], RETAIN[run["method"]]
    rows, parts = [], []
    for group, level in (("forget", p), ("retain", keep), ("real_authors", 0.6 * keep), ("world_facts", 0.5 * keep)):
        for metric, value in (
            ("probability", level),
            ("rouge_l_recall", 0.9 * level),
            ("truth_ratio", 0.3 + 0.4 * level),
        ):
            rows.append(row(run, metric, value, group))
            if group != "forget":
                rows.append(row(run, "model_utility", value, "all", task=f"{group}:{metric}"))
                parts.append(value)
    quality = {"target": 3e-7, "retrain": 1.0, "ga_gd": 0.011, "npo_gd": 0.27}[run["method"]]
    rows.append(row(run, "model_utility", len(parts) / sum(1 / v for v in parts), "all"))
    rows.append(row(run, "forget_quality", quality, "forget", width=None))
    return rows


def write_run(root: Path, rows: list[dict], provenance=True) -> str:
    """Write `rows` (one run) to its place below `root`/results/runs; the path, relative to `root`."""
    run = rows[0]
    place = "/".join(str(run[k]) for k in ("benchmark", "base_model", "setting", "split", "method"))
    folder = Path("results/runs") / place / f"s{run['seed']}"
    path = folder / f"e{run['epoch']}" / run["attack"] / "scores.parquet"
    write_table(rows, root / path, "scores")
    if provenance:
        answers = str(path.with_name("answers.parquet"))
        facts = {"rule": f"score_{run['benchmark']}", "code": "c0de" * 16, "params": {"draws": 1000, "judge": "rule"},
                 "seed": run["seed"], "inputs": {answers: "a1" * 32}, "versions": {"numpy": "2.3.5"},
                 "seconds": 1.5}  # fmt: skip
        write_text(root / path.with_name("scores.provenance.json"), json.dumps(facts))
        made = {
            "rule": "generate",
            "code": "beef" * 16,
            "inputs": {str(folder / "model.json"): "b2" * 32},
            "seconds": 9.0,
        }
        write_text(root / path.with_name("answers.provenance.json"), json.dumps(made))
    collapsed = run["method"] in ("ga", "npo")
    write_text(root / folder / "model.json", json.dumps({"kind": "weights", "trained": {"collapsed": collapsed}}))
    return str(path)


def write_log(root: Path, run: dict) -> str:
    """A training log of 30 steps for `run`."""
    target = run["method"] in ("target", "retrain")
    falling = lambda step: 3 * 0.85**step  # noqa: E731
    rows = [
        {"step": i, "epoch": i / 10, "loss": falling(i) if target else 0.2 - 0.02 * i,
         "forget_loss": None if target else -0.04 * i, "retain_loss": None if target else 0.2 + 0.02 * i,
         "grad_norm": 1.0, "learning_rate": 1e-4, "tokens": 900, "seconds": 0.1, "memory_mib": 700.0}
        for i in range(1, 31)
    ]  # fmt: skip
    place = "/".join(str(run[k]) for k in ("benchmark", "base_model", "setting", "split", "method"))
    path = Path("results/runs") / place / f"s{run['seed']}" / "train_log.parquet"
    write_table(rows, root / path, "train_log")
    return str(path)


def small_project(root: Path) -> dict[str, list[str]]:
    """A finished mu2 and TOFU run below `root`: paths of scores, logs, rejected and kept, relative to it."""
    runs = [identity(method=m) for m in PS]
    runs += [identity(method="npo_gd", attack=a) for a in ("probab", "quantize")]
    runs += [identity("tofu", m, setting="default", split="forget01") for m in ("target", "retrain", "ga_gd", "npo_gd")]
    scores = [write_run(root, (mu2_rows if r["benchmark"] == "mu2" else tofu_rows)(r)) for r in runs]
    logs = [write_log(root, r) for r in runs if r["benchmark"] == "mu2" and r["attack"] == "none"]
    refused = [
        {"id": f"p{i}/job/{lang}", "language": lang, "check": check, "reason": "as seen", "round": 1, "content": "{}"}
        for lang, check, times in (
            ("th", "answer_in_question", 3),
            ("de", "same_translation", 1),
            ("th", "language", 2),
            ("lv", "language", 1),
        )
        for i in range(times)
    ]
    write_table(refused, root / "results/data/mu2/small/rejected.parquet", "rejected")
    pairs = [
        {"pair_id": f"p{i}/job/{lang}", "knowledge_id": f"p{i}/job", "person_id": f"p{i}", "role": "memorised",
         "attribute": "job", "language": lang, "name": "A B", "question": "q", "answer": "a",
         "paraphrase": "a", "value": "v",
         "english_value": "v"}
        for lang in ("en", "de", "th") for i in range(20)
    ]  # fmt: skip
    write_table(pairs, root / "results/data/mu2/small/pairs.parquet", "pairs")
    times = "s\th:m:s\tmax_rss\n{}\t0:00:01\t{}\n"
    place = "runs/mu2/small/s1/p5/npo_gd"
    for name, seconds, peak in ((f"{place}/s0", 31.2, "911.4"), (f"{place}/s1", 30.1, "905.0"),
                                (f"{place}/score/s0-e3-none", 1.2, "-")):  # fmt: skip
        write_text(root / f"results/benchmarks/{name}.tsv", times.format(seconds, peak))
    return {"scores": scores, "logs": logs, "rejected": ["results/data/mu2/small/rejected.parquet"],
            "kept": ["results/data/mu2/small/pairs.parquet"]}  # fmt: skip
