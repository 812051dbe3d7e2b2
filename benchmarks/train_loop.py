"""Our training loop against a bare one, and NPO with stored reference log-probabilities against a model in memory.

    PYTHONPATH=workflow python benchmarks/train_loop.py [--repeats 9] [--steps 4]

Each pair runs in alternation, the two taking turns to be first, from the same weights on the same batches. A line gives
the median of the repeats' ratios of tokens per CPU second of the one thread (the speed where nothing else runs), range,
the bound and the verdict; below it the same by the clock, and how far the losses of the two are apart: a miss too, if
they differ. Exit code 1 on a miss. What comes before the first step, building the Trainer, does not count.
Texts and batches are the default's: answers of μ²-Bench in its four training languages, 16 to forget and 16 to retain a
step. The verdicts are on a model of 8 layers of 256; the default's own, 2 layers of 128, is shown for information.
"""

import argparse
import contextlib
import copy
import importlib.util
import io
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unlearning.models.optional import leave_out_unused

leave_out_unused()
import bare_loop
import torch
import transformers
from transformers import TrainerCallback

from unlearning.forget import npo
from unlearning.models.encode import pad_id
from unlearning.models.forward import token_logprobs
from unlearning.models.small import small_model
from unlearning.models.tokenizer import texts_of, train_tokenizer
from unlearning.tables.artifacts import read_table
from unlearning.train.loop import Side, Steps, train
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows, of_split
from unlearning.train.terms import Term, load_term

LANGUAGES = ["en", "de", "id", "af"]
LARGE = {"hidden": 256, "layers": 8, "heads": 8, "intermediate": 512}
SMALL = {"hidden": 128, "layers": 2, "heads": 4, "intermediate": 256, "init_std": 0.08}
BATCH, BETA = 16, 0.1
KEYS = {"lr": 1e-5, "epochs": 1, "batch_size": BATCH, "warmup": 1, "max_grad_norm": 1.0}
SAME = 1e-6  # how far two losses of a step may be apart, as a share of the loss


class Run(NamedTuple):
    """Losses of each step's sides; of all steps the tokens, the seconds, and those that this process computed."""

    losses: list[tuple[float, ...]]
    tokens: int
    seconds: float
    cpu: float


class Clock(TrainerCallback):
    """Seconds, and those computed, from before the first step to after the last."""

    def on_train_begin(self, args, state, control, **kwargs):
        self.started, self.computed = time.perf_counter(), time.process_time()

    def on_step_end(self, args, state, control, **kwargs):
        self.seconds, self.cpu = time.perf_counter() - self.started, time.process_time() - self.computed


def npo_in_memory(logprobs_BT, mask_BT, labels_BT, ref_logits_BTV, beta: float) -> torch.Tensor:
    """NPO whose reference log-probabilities a second model computes in every step."""
    ref_logprob_B = token_logprobs(ref_logits_BTV, labels_BT, mask_BT).sum(-1)
    return npo.loss(logprobs_BT, mask_BT, ref_logprob_B, beta)


IN_MEMORY = Term(
    "npo in memory",
    npo_in_memory,
    {"beta": BETA},
    ("logprobs_BT", "mask_BT", "labels_BT", "ref_logits_BTV"),
    "reference",
    ("reference_model",),
)


class Bench:
    """A model of `architecture` with random weights and `steps` steps of rows to forget and to retain."""

    def __init__(self, data: Path, architecture: dict, steps: int) -> None:
        tables = {name: read_table(data / f"{name}.parquet", name) for name in ("examples", "items", "splits")}
        texts = texts_of(tables["examples"], tables["items"])
        self.tokenizer = train_tokenizer(texts, 3000, "words")
        self.model = small_model(architecture, self.tokenizer, 0)
        self.steps = steps
        forget, retain = (
            of_split(tables["examples"], tables["splits"], "p5", group, LANGUAGES).sample(BATCH * steps, random_state=0)
            for group in ("forget", "retain")
        )
        self.reference = copy.deepcopy(self.model).eval()
        known = reference_logprobs(self.reference, self.tokenizer, forget)
        self.rows = {"forget": encode_rows(self.tokenizer, forget, ref_logprobs=known)}
        self.rows["retain"] = encode_rows(self.tokenizer, retain)

    def sides(self, forget: Term, retain: bool) -> list[Side]:
        """The sides of a run."""
        terms = {"forget": forget} | ({"retain": load_term("retain", "gd")} if retain else {})
        return [Side(name, term, 1.0, self.rows[name]) for name, term in terms.items()]

    def draw(self, n: int) -> Callable[[int], list[np.ndarray]]:
        """The rows of each step, for `n` sides."""
        return lambda step: [np.arange(step * BATCH, (step + 1) * BATCH)] * n

    def ours(self, forget: Term, retain: bool) -> Run:
        """Our loop, from a fresh copy of the model."""
        sides, model = self.sides(forget, retain), copy.deepcopy(self.model)
        reference = self.reference if "reference_model" in forget.needs else None
        clock, pad, draw = Clock(), pad_id(self.tokenizer), self.draw(len(sides))
        options = {"reference": reference, "callbacks": [clock]}
        trained = train(model, sides, draw, self.steps, make_plan(KEYS), 0, pad, **options)
        losses = [tuple(row[f"{side.name}_loss"] for side in sides) for row in trained.log]
        return Run(losses, sum(row["tokens"] for row in trained.log), clock.seconds, clock.cpu)

    def save(self, folder: Path) -> None:
        """Weights and batches for the bare loop."""
        self.model.save_pretrained(folder)
        sides = self.sides(load_term("forget", "npo"), True)
        steps = Steps(sides, self.draw(len(sides)), self.steps, make_plan(KEYS), 0, pad_id(self.tokenizer))
        torch.save([{part.side.name: _tensors(part) for part in steps[i]} for i in range(len(steps))],
                   folder / "batches.pt")  # fmt: skip

    def bare(self, folder: Path, forget: str) -> Run:
        """The bare loop on what `save` wrote."""
        return Run(**bare_loop.run(folder, forget, KEYS["lr"], KEYS["warmup"], KEYS["max_grad_norm"], BETA))


def _tensors(part) -> dict[str, torch.Tensor]:
    batch = part.batch
    found = (batch.input_ids_BS, batch.attention_mask_BS, batch.position_ids_BS, batch.labels_BT, batch.mask_BT)
    refs = {} if part.ref_logprob_B is None else {"ref_logprob": part.ref_logprob_B.float()}
    return dict(zip(bare_loop.TENSORS, found, strict=True)) | refs


def compare(what: str, first: Callable[[], Run], second: Callable[[], Run], repeats: int, bound: float | None) -> bool:
    """Run both `repeats` times in alternation and print a line; False on a miss. `bound` None: for information."""
    pairs = []
    for turn in range(repeats):
        runs = [call() for call in ((first, second) if turn % 2 == 0 else (second, first))]
        pairs.append(runs if turn % 2 == 0 else runs[::-1])
    ratios, passed = (
        sorted((a.tokens / getattr(a, key)) / (b.tokens / getattr(b, key)) for a, b in pairs)
        for key in ("cpu", "seconds")
    )
    ratio = statistics.median(ratios)
    speeds = [statistics.median(run.tokens / run.cpu for run in runs) for runs in zip(*pairs, strict=True)]
    apart = max(_apart(*runs) for runs in pairs)
    met = bound is None or (ratio >= bound and apart <= SAME)
    verdict, asked = ("      ", "for information") if bound is None else ("met   " if met else "MISSED", f">= {bound}")
    print(f"{verdict}  {what:<36}  {ratio:.3f}  ({ratios[0]:.3f}-{ratios[-1]:.3f})   {asked}\n"
          f"        {speeds[0]:,.0f} and {speeds[1]:,.0f} tokens per CPU second; by the clock "
          f"{statistics.median(passed):.3f} ({passed[0]:.3f}-{passed[-1]:.3f}); "
          f"losses at most {apart:.1e} of a loss apart (<= {SAME:g})", flush=True)  # fmt: skip
    return met


def _apart(first: Run, second: Run) -> float:
    """The largest difference of two losses of a step and side, as a share of the larger one."""
    pairs = zip(np.ravel(first.losses), np.ravel(second.losses), strict=True)
    return max(abs(x - y) / max(abs(x), abs(y)) for x, y in pairs)


def measure(folder: Path, data: Path, architecture: dict, steps: int, repeats: int, bounds: tuple) -> list[bool]:
    """All four comparisons on a model of `architecture`, held against `bounds`."""
    bench = Bench(data, architecture, steps)
    bench.save(folder)
    shape = f"{architecture['layers']} layers of {architecture['hidden']}"
    tokens = bench.bare(folder, "ga").tokens / steps
    print(
        f"\n{shape}: {bench.model.num_parameters() / 1e6:.1f} M parameters, {steps} steps, {tokens:.0f} tokens a step"
    )
    ga, npo = (load_term("forget", name) for name in ("ga", "npo"))
    pairs = {
        "GA+gd: ours / the bare loop": (lambda: bench.ours(ga, True), lambda: bench.bare(folder, "ga")),
        "NPO+gd: ours / the bare loop": (lambda: bench.ours(npo, True), lambda: bench.bare(folder, "npo")),
        "NPO: stored / reference in memory": (lambda: bench.ours(npo, False), lambda: bench.ours(IN_MEMORY, False)),
        "NPO+gd: stored / reference in memory": (lambda: bench.ours(npo, True), lambda: bench.ours(IN_MEMORY, True)),
    }
    return [compare(what, *calls, repeats, bound) for (what, calls), bound in zip(pairs.items(), bounds, strict=True)]


def build_data(folder: Path) -> None:
    """The full-size μ²-Bench of LANGUAGES, made by the benchmark of its construction."""
    spec = importlib.util.spec_from_file_location("construction", Path(__file__).with_name("mu2_build.py"))
    construction = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(construction)
    with contextlib.redirect_stdout(io.StringIO()):
        construction.build_all(folder, LANGUAGES, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9, help="how often each of a pair runs")
    parser.add_argument("--steps", type=int, default=4, help="steps of a run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    print(f"{os.cpu_count()} CPUs ({platform.machine()}), one thread, load {os.getloadavg()[0]:.1f}; "
          f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}; "
          f"{options.repeats} repeats")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        build_data(data)
        met = measure(Path(folder) / "large", data, LARGE, options.steps, options.repeats, (0.9, 0.9, 1.2, 1.08))
        measure(Path(folder) / "small", data, SMALL, options.steps, options.repeats, (None,) * 4)
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
