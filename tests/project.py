"""A copy of the project in a temporary folder, for tests that run the real workflow and edit it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from unlearning.cache import ledger

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "rules", "workflow", "config", "profiles", "resources", "envs")


class Project:
    """The workflow's files below `path`, with its own results."""

    def __init__(self, path: Path, *overlays: str):
        self.path = path
        self.overlays = overlays
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, path / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                path.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, path / part)

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        """Run Snakemake here on two cores."""
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--configfile", *self.overlays]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, env=environment)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")
        return done

    def scheduled(self) -> list[str]:
        """What a run would do now, as labels."""
        done = self.snakemake("--summary")
        rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
        at = {name: i for i, name in enumerate(rows[0])}
        pending = [r for r in rows[1:] if r[at["plan"]] != "no update"]
        return sorted({label(r[at["output_file"]], r[at["rule"]]) for r in pending} - {None})

    def run(self) -> tuple[list[str], list[str]]:
        """Run; the labels of what was computed and of what was restored."""
        before = len(ledger.lines(self.path / "results/.ledger"))
        self.snakemake("--quiet")
        lines = ledger.lines(self.path / "results/.ledger")[before:]
        return tuple(sorted(label(l["output"]) for l in lines if l["action"] == a) for a in ("computed", "restored"))

    def only(self, *methods: str, metrics: list[str] | None = None) -> None:
        """From now on run the minimal overlay with these methods and metrics (None: all), without attacks."""
        small = {"benchmark": "mu2", "base_models": ["tiny"], "settings": ["four"], "splits": ["one"]}
        overlay = {"experiments": {"mu2_minimal": {"enabled": False}, "small": small | {"methods": list(methods)}}}
        overlay |= {"benchmarks": {"mu2": {"metrics": metrics}}} if metrics else {}
        (self.path / "config/small.yaml").write_text(json.dumps(overlay), encoding="utf-8")
        self.overlays = ("config/minimal.yaml", "config/small.yaml")

    def judged(self, **keys) -> None:
        """From now on these keys hold for the benchmark mu2."""
        self.merged("judged", {"benchmarks": {"mu2": keys}})

    def merged(self, name: str, overlay: dict | None) -> None:
        """From now on config/<name>.yaml is merged too; None: no more."""
        file = f"config/{name}.yaml"
        (self.path / file).write_text(json.dumps(overlay), encoding="utf-8")
        self.overlays = (*(o for o in self.overlays if o != file), *([file] if overlay else []))

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace the one occurrence of `old` in a file."""
        path = self.path / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def label(output: str, rule: str = "") -> str | None:
    """A short name of the job behind an output (of `rule`, if that is told): `train ga`, `answer npo_gd probab`, by a
    second judge `judge~llm ga none`, of likelihoods alone `ask ga~1 none` … (None: a side output)."""
    parts = Path(output).parts[1:]
    name = Path(output).stem
    if parts[0] == "report":
        return {"index": "report", "dropped_models": "drop"}.get(name)
    if parts[0] == "publish":
        return "card"
    if parts[0] == "data":
        table = "/".join(parts[3:])
        known = {
            "profiles.parquet": "profiles",
            "english.parquet": "english",
            "templates.parquet": "templates",
        }
        if table in known:
            return known[table]
        if parts[3] in ("values", "pairs"):
            return f"{'values' if parts[3] == 'values' else 'translate'} {name}"
        if parts[3] == "review":
            return f"review {name}"
        return "build" if name == "examples" else None
    method = parts[5]
    if rule == "select" or name == "selection":
        return f"select {method}"
    if parts[-1] == "model.json":
        return f"train {method}" if parts[-2] in parts[6:8] else f"attack {method} {parts[-2]}"
    if parts[-2] == "ref_logprobs":
        return "reference"
    table, _, judge = name.partition("~")
    alone = {"likelihoods": "ask"} if "~" in method else {}
    verb = {"answers": "answer", "verdicts": "judge", "scores": "score", **alone}.get(table)
    verb = f"{verb}~{judge}" if verb and judge else verb
    return f"{verb} {method} {parts[-2]}" if verb else None
