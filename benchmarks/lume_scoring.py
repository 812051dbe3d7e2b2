"""What scoring after every epoch costs beside training it, on LUME: each figure beside its bound.

    python benchmarks/lume_scoring.py

Data, model and methods are those of config/lume_small.yaml. A target is taught, then unlearned; in the same process,
after each epoch, the model is asked all that a run's job asks, and the answers are scored. What is compared is CPU
seconds of the one thread: scores alone, and answers with scores, against training. Loading, saving and the first epoch,
before which the Trainer is built, do not count. Exit code 1 on a miss. GA is shown for information: it trains on the
forget set alone, so in half the time, and in its last epochs hardly an answer ends before the last token allowed.
"""

import copy
import importlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests")]
os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported

from unlearning.models.optional import leave_out_unused

leave_out_unused()
import torch
import transformers

from configurations import overlaid
from unlearning.answer.decoding import Decoding
from unlearning.answer.generate import generate
from unlearning.answer.likelihood import likelihoods
from unlearning.answer.select import questions
from unlearning.config.candidates import SEARCH
from unlearning.config.check_methods import method_for
from unlearning.config.load import load
from unlearning.data.lume import construct, layout
from unlearning.models.encode import pad_id
from unlearning.models.small import small_model
from unlearning.models.tokenizer import texts_of, train_tokenizer
from unlearning.score.languages import Language
from unlearning.score.run import score
from unlearning.score.split import with_groups
from unlearning.score.view import Tables, View
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.rows import encode_rows, of_group, of_split
from unlearning.train.unlearn import Given

MODEL, SPLIT, BOUND = "lume_small", "forget", 1.0
METHODS = {"ga_gd": BOUND, "ngdiff": BOUND, "ga": None}


class Epoch(NamedTuple):
    """CPU seconds of one epoch's parts."""

    trained: float
    answered: float
    likelihoods: float
    scored: float


class Bench:
    """LUME's small data, and the model that has learnt them all."""

    def __init__(self) -> None:
        self.config = load(overlaid("lume_small.yaml"))
        self.lume, self.base = self.config.benchmarks["lume"], self.config.base_models[MODEL]
        tables = self.tables()
        self.examples, self.items, self.splits = (tables[name] for name in ("examples", "items", "splits"))
        shape = self.base.architecture.model_dump()
        size, kind = shape.pop("vocab_size"), shape.pop("tokenizer")
        self.tokenizer = train_tokenizer(texts_of(self.examples, self.items), size, kind)
        rows = encode_rows(self.tokenizer, of_group(self.examples, "memorised", [self.lume.language]))
        plan = make_plan(self.base.target.model_dump(exclude={"background_share"}))
        model = small_model(shape, self.tokenizer, 0)
        self.target = memorise(model, rows, plan, 0, pad_id(self.tokenizer)).model

    def tables(self) -> dict[str, pd.DataFrame]:
        """Examples, items and splits as their jobs read them."""
        sizes = {task: (size.forget, size.retain) for task, size in self.lume.sizes}
        grammars = construct.read_grammars(ROOT / "resources/lume")
        made = construct.offline(grammars, sizes, self.lume.nonmembers, self.lume.seed)
        built = layout.build(made.documents, layout.cut(made.documents, self.lume.seed), made.knowledge, SPLIT)
        read = {}
        with tempfile.TemporaryDirectory() as folder:
            for name, table in zip(("examples", "items", "splits"), built, strict=True):
                write_table(table, Path(folder) / name, name)
                read[name] = read_table(Path(folder) / name, name)
        return read

    def epochs(self, method: str) -> list[Epoch]:
        """What the parts of each epoch of `method` took, from the second on."""
        plan = make_plan(method_for(self.config, MODEL, method).model_dump(exclude=set(SEARCH)))
        if unmet := plan.needs():
            raise ValueError(f"{method} needs {unmet}, which is not made here")
        found, left = [], 0.0

        def after(model, facts) -> None:
            nonlocal left
            trained = time.process_time() - left
            found.append(Epoch(trained, *self.asked(copy.deepcopy(model).eval())))
            left = time.process_time()

        forget, retain = (
            of_split(self.examples, self.splits, SPLIT, group, [self.lume.language]) for group in ("forget", "retain")
        )
        given = Given(copy.deepcopy(self.target), self.tokenizer, forget, retain, plan, 0,
                      after={epoch: after for epoch in range(1, plan.epochs + 1)})  # fmt: skip
        importlib.import_module(f"unlearning.methods.{plan.method}").unlearn(given)
        return found[1:]

    def asked(self, model) -> tuple[float, float, float]:
        """CPU seconds of the answers, the likelihoods and the scores of `model`."""
        size, most = self.lume.asking.batch_size, self.lume.asking.max_new_tokens
        told, answered = timed(generate, model, self.tokenizer, questions(self.items), Decoding(), 0, size, most)
        likely, weighed = timed(likelihoods, model, self.tokenizer, self.items, size)
        _, scored = timed(self.scores, Tables(told, likely))
        return answered, weighed, scored

    def scores(self, run: Tables) -> pd.DataFrame:
        """All scores of a run, as its job computes them."""
        items = with_groups(self.items, self.splits, SPLIT)
        languages = {self.lume.language: Language("train", "high", "latin")}
        view = View(items, run, Tables(), languages=languages, draws=self.config.bootstrap_draws)
        return score(view, self.lume.metrics)


def timed(function: Callable, *arguments) -> tuple[object, float]:
    """What `function` returns, and the CPU seconds it took."""
    started = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - started


def show(method: str, epochs: list[Epoch], bound: float | None) -> bool:
    """Print what an epoch takes and the two ratios beside `bound`; False on a miss. None: for information."""
    part = Epoch(*(sum(column) / len(epochs) for column in zip(*epochs, strict=True)))
    print(f"{method}: CPU seconds of an epoch, mean of {len(epochs)}: training {part.trained:.2f}, answers "
          f"{part.answered:.2f}, likelihoods {part.likelihoods:.2f}, scores {part.scored:.3f}")  # fmt: skip
    sums = {"scores": part.scored, "answers + scores": part.answered + part.likelihoods + part.scored}
    ratios = {what: seconds / part.trained for what, seconds in sums.items()}
    for what, ratio in ratios.items():
        verdict = "      " if bound is None else "met   " if ratio < bound else "MISSED"
        asked = "for information" if bound is None else f"< {bound:g}"
        print(f"{verdict}  {f'{method}: {what} / training, an epoch':<50}  {ratio:.3g}   {asked}", flush=True)
    return bound is None or all(ratio < bound for ratio in ratios.values())


def main() -> None:
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    print(f"{os.cpu_count()} CPUs ({platform.machine()}), one thread, load {os.getloadavg()[0]:.1f}; "
          f"Python {platform.python_version()}, torch {torch.__version__}")  # fmt: skip
    bench = Bench()
    sys.exit(not all([show(method, bench.epochs(method), bound) for method, bound in METHODS.items()]))


if __name__ == "__main__":
    main()
