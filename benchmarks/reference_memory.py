"""What a reference model costs in memory: the peak of a run that holds one, beside runs that hold none.

    PYTHONPATH=workflow python benchmarks/reference_memory.py

Two steps of each method on a random model of 52 M parameters, through the scripts that the workflow runs, each in a
process of its own, forked from a server that has done nothing but import the libraries. Each runs twice: as it is, and
made to keep a frozen copy of the target, as terms that ask for a reference model do. The peaks should be that model's
bytes apart: a method that held one anyway would show no difference. NPO and DPO read stored log-probabilities; AP and
SimNPO need none. Exit code 1 on a miss.
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
from unlearning.train.loop import TermTrainer
from unlearning.train.plan import Plan
from unlearning.train.rows import of_split

WIDE = {"hidden": 1024, "layers": 4, "heads": 8, "intermediate": 2816}
BATCH, STEPS = 4, 2
LOW, HIGH = 0.5, 1.5  # what the peaks are apart, in models: the question is none (0) or one (1); they scatter by 0.2
PAIRS = [("npo", "gd"), ("dpo", "ap"), ("simnpo", "gd")]
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


def script(name: str, holding: bool = False, **arguments) -> int:
    """Run a script of the workflow; the peak of resident memory of this process so far, in bytes (Linux).

    `holding` makes every method ask for a reference model, and read it in each step.
    """
    if holding:
        asked, compute = Plan.needs, TermTrainer.compute_loss
        Plan.needs = lambda plan: asked(plan) | {"reference_model"}

        def reading(trainer, *args, **kwargs):
            for parameter in trainer.reference.parameters():
                parameter.sum()  # weights come into memory when they are read
            return compute(trainer, *args, **kwargs)

        TermTrainer.compute_loss = reading
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
        for forget, retain in PAIRS:
            # One example at a time: activations are small beside the model.
            method = {"forget": forget, "retain": retain, "lr": 1e-5, "epochs": 1, "batch_size": BATCH}
            method |= {"micro_batch_size": 1}
            out = folder / f"{forget}_{retain}"
            outputs = {"model": out / "model.json", "weights": out / "weights", "log": out / "train_log.parquet"}
            given = {"target": folder / "model.json", "method": method, "seed": 0, **known, **data, **outputs}
            for holding in (False, True):
                peaks[forget, retain, holding] = alone(script, "unlearn", holding, **given)
                steps = len(read_table(outputs["log"], "train_log"))
                assert steps == STEPS, f"{forget} and {retain}: {steps} steps"
    print(f"a random model of {size / 4e6:.1f} M parameters, {size / MIB:.0f} MiB")
    met = True
    for pair in PAIRS:
        plain, held = (peaks[*pair, holding] for holding in (False, True))
        saved = (held - plain) / size
        met &= LOW <= saved <= HIGH
        verdict = "met   " if LOW <= saved <= HIGH else "MISSED"
        what = f"{'+'.join(pair)}: peak below that with a reference model, in models"
        print(f"{verdict}  {what:<62}  {saved:.3f}  {LOW}-{HIGH}")
        print(f"        {plain / MIB:.0f} and {held / MIB:.0f} MiB")
    sys.exit(not met)


if __name__ == "__main__":
    main()
