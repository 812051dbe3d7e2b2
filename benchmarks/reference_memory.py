"""What a reference model costs in memory: the peak of a run that holds one, beside runs that hold none.

    PYTHONPATH=workflow python benchmarks/reference_memory.py

Two steps of each method on a random model of 52 M parameters, through the scripts that the workflow runs, each in a
process of its own, forked from a server that has done nothing but import the libraries. NPO+kl holds a second model:
its peak should be higher by that model's bytes than those of NPO and DPO, which read stored log-probabilities, and of
AP and SimNPO, which need none. Exit code 1 on a miss.
"""

import importlib.util
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from train_loop import LANGUAGES, build_data

from unlearning.models.load import save_model
from unlearning.models.small import small_model
from unlearning.models.tokenizer import texts_of, train_tokenizer
from unlearning.registry import ROOT
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.rows import of_split

WIDE = {"hidden": 1024, "layers": 4, "heads": 8, "intermediate": 2816}
BATCH, STEPS = 4, 2
HOLDING = ("npo", "kl")
LOW, HIGH = 0.85, 1.15  # what the peaks may be apart, in models
WITHOUT = [("npo", "gd"), ("dpo", "ap"), ("simnpo", "gd")]
MIB = 2**20


def make_target(folder: Path) -> int:
    """Write the rows of two steps and a random model into `folder`; returns the bytes of its weights."""
    tables = {name: read_table(folder / "data" / f"{name}.parquet", name) for name in ("examples", "items", "splits")}
    examples, splits = tables["examples"], tables["splits"]
    parts = [of_split(examples, splits, "p5", group, LANGUAGES) for group in ("forget", "retain")]
    write_table(pd.concat([part.head(BATCH * STEPS) for part in parts]), folder / "examples.parquet", "examples")
    tokenizer = train_tokenizer(texts_of(examples, tables["items"]), 400)
    network = small_model(WIDE, tokenizer, 0)
    save_model(network, tokenizer, folder / "model.json")
    return sum(parameter.nbytes for parameter in network.parameters())


def script(name: str, **arguments) -> int:
    """Run a script of the workflow; the peak of resident memory of this process so far, in bytes (Linux)."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    getattr(module, name)(**arguments)
    # Not ru_maxrss: that of a new process begins with what its parent had.
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def alone(function, *args, **kwargs):
    """What `function` returns in a fresh process."""
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *args, **kwargs).result()


def main() -> None:
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"  # in the processes that follow
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_data(folder / "data")
        size = alone(make_target, folder)
        data = {"examples": folder / "examples.parquet", "splits": folder / "data" / "splits.parquet", "split": "p5"}
        data |= {"languages": LANGUAGES, "refusals": ROOT.parent / "resources" / "refusals.yaml", "device": "cpu"}
        known = {"ref_logprobs": folder / "ref_logprobs.parquet"}
        alone(script, "reference", model=folder / "model.json", epochs=1, **known, **data)
        peaks = {}
        for forget, retain in (HOLDING, *WITHOUT):
            # One example at a time: a term that sees two texts of each would hold more activations than another.
            method = {"forget": forget, "retain": retain, "lr": 1e-5, "epochs": 1, "batch_size": BATCH}
            method |= {"micro_batch_size": 1}
            out = folder / f"{forget}_{retain}"
            outputs = {"model": out / "model.json", "weights": out / "weights", "log": out / "train_log.parquet"}
            given = {"target": folder / "model.json", "method": method, "seed": 0}
            peaks[forget, retain] = alone(script, "unlearn", **given, **known, **data, **outputs)
            steps = len(read_table(outputs["log"], "train_log"))
            assert steps == STEPS, f"{forget} and {retain}: {steps} steps"
    print(f"a random model of {size / 4e6:.1f} M parameters, {size / MIB:.0f} MiB; {'+'.join(HOLDING)}, which holds a "
          f"second one, has its peak at {peaks[HOLDING] / MIB:.0f} MiB")  # fmt: skip
    models = {pair: (peaks[HOLDING] - peaks[pair]) / size for pair in WITHOUT}
    for pair, saved in models.items():
        verdict = "met   " if LOW <= saved <= HIGH else "MISSED"
        print(f"{verdict}  {'+'.join(pair) + ': peak below that, in models':<36}  {saved:.3f}  {LOW}-{HIGH}")
    sys.exit(not all(LOW <= saved <= HIGH for saved in models.values()))


if __name__ == "__main__":
    main()
