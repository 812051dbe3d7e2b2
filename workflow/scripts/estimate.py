"""What the language models of a run would take: replies, tokens, USD. Nobody is asked. For `make estimate`.

Every job that would ask is looked at twice: what it may ask in all its rounds follows from its inputs, or, where other
jobs have yet to make those, from stand-ins; and it is run on what is stored, up to its first question that nobody has
answered. Its outputs go nowhere.
"""

import argparse
import collections
import contextlib
import inspect
import io
import logging
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

import yaml

SPENDING = Path("results/.llm/spending.sqlite")
STAND_INS = {
    "mu2_refine": "stand_in_refined",
    "mu2_values_llm": "stand_in_values",
    "mu2_translate": "stand_in_pairs",
    "mu2_translate_llm": "stand_in_pairs",
    "leak_extract_llm": "stand_in_extracted",
    "leak_questions_llm": "stand_in_questions",
    "lume_documents_llm": "stand_in_documents",
    "school_questions_llm": "stand_in_school",
    "answer": "stand_in_answers",
}


def planned(arguments: list[str]) -> tuple[list, object]:
    """(the jobs of a run with Snakemake's own `arguments` that have values, the checked configuration)."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        RerunTrigger,
        ResourceSettings,
    )

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfile", nargs="+", default=[], type=Path)
    parser.add_argument("--config", nargs="+", default=[])
    given = parser.parse_args(arguments)
    keys = {key: yaml.safe_load(value) for key, _, value in (pair.partition("=") for pair in given.config)}
    logging.disable(logging.WARNING)
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config=keys, configfiles=given.configfile),
            snakefile=Path("Snakefile"),
        )
        triggers = {RerunTrigger[name] for name in ("MTIME", "PARAMS", "INPUT", "SOFTWARE_ENV")}
        dag = workflow.dag(dag_settings=DAGSettings(rerun_triggers=triggers))
        dag.execute_workflow(executor="dryrun")
        inner = workflow._workflow
        jobs = [job for job in inner.dag.needrun_jobs(exclude_finished=False) if "job" in job.params.keys()]
    jobs = [job for job in jobs if "shard" not in job.params.job["values"]]  # the job that they are shards of counts
    return sorted(jobs, key=lambda job: str(job.output[0])), inner.globals["CONFIG"]


def played(job, offline: bool = False) -> dict[str, dict]:
    """The doors of the job behind which there is a language model, or with `offline` the others."""
    from unlearning.config.doors import doors_in

    one = job.wildcards.get("role", "judge")
    doors = {role or one: door for role, door in doors_in(job.params.job["values"]).items()}
    return {role: door for role, door in doors.items() if (door["backend"]["kind"] == "offline") == offline}


def script_of(job) -> str:
    """The name of the job's function and of its module."""
    return Path(job.params.job["script"]).stem


def contents(argument: object) -> object:
    """What an argument says: of a file, the hash of what is in it."""
    from unlearning.tables.artifacts import sha256_file

    if isinstance(argument, list):
        return [contents(part) for part in argument]
    return sha256_file(argument) if isinstance(argument, str) and Path(argument).is_file() else argument


class Inputs:
    """The files that jobs read: as they are, or below `folder` where others of `jobs` have yet to make them."""

    def __init__(self, jobs: Iterable, folder: Path):
        self._makers = {str(path): job for job in jobs for path in job.output}
        self._folder, self._made = folder, set()

    def there(self, job) -> bool:
        """Whether everything that the job reads is there and stays as it is."""
        return all(Path(path).exists() and str(path) not in self._makers for path in job.input)

    def arguments(self, job, function: Callable) -> dict:
        """What `function` takes of the job's inputs, outputs (below the folder) and values."""
        inputs, outputs = dict(job.input.items()), dict(job.output.items())
        values = yaml.safe_load(yaml.safe_dump(job.params.job["values"]))

        def given(name: str) -> object:
            if name not in inputs and name not in outputs:
                return values[name]
            paths, place = (inputs[name], self._path) if name in inputs else (outputs[name], self._below)
            return place(paths) if isinstance(paths, str) else [place(path) for path in paths]

        there = {*inputs, *outputs, *values}
        return {name: given(name) for name in inspect.signature(function).parameters if name in there}

    def _path(self, path: str) -> str:
        maker = self._makers.get(str(path))
        if maker is None:
            return str(path)
        if maker not in self._made:
            self._made.add(maker)
            name = script_of(maker)
            stand_in = STAND_INS.get(name)
            function = getattr(import_module("unlearning.llm.foreseen" if stand_in else name), stand_in or name)
            with contextlib.redirect_stdout(io.StringIO()):
                function(**self.arguments(maker, function))
        return self._below(path)

    def _below(self, path: str) -> str:
        return str(self._folder / str(path))


def count(job, folder: Path, found: collections.Counter) -> dict[str, int] | None:
    """role -> replies that the job finds missing first, {} where all are stored; `found` counts the stored ones.

    None where the job stops with an error, which is printed: then it is not known what it asks.
    """
    from unlearning.config.doors import doors_in
    from unlearning.llm.estimate import Counted

    values = yaml.safe_load(yaml.safe_dump(job.params.job["values"]))
    for door in doors_in(values).values():
        door["count"] = found
    if values.get("back_translator"):
        values["back_translator"]["count"] = found
    inputs = {name: value if isinstance(value, str) else list(value) for name, value in job.input.items()}
    outputs = {name: str(folder / str(value)) for name, value in job.output.items()}
    name = script_of(job)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            getattr(import_module(name), name)(**inputs, **outputs, **values)
    except Counted as counted:
        return counted.missing
    except ValueError as error:
        print(f"{job.rule.name} for {job.output[0]} would stop: {error}", file=sys.stderr)
        return None
    return {}


class Foreseen:
    """What all jobs take, added up: estimates of one round and of the most, and texts for a translation service.

    `stored`: by role, replies that the jobs read and that are in the store.
    """

    def __init__(self):
        self.one, self.most, self.texts, self.waiting = [], [], collections.Counter(), collections.Counter()
        self.stored: collections.Counter[str] = collections.Counter()
        self._sizes: dict[str, list] = {}  # jobs that ask the same: models whose answers are foreseen alike

    def add(self, job, inputs: Inputs, folder: Path) -> None:
        """Add what `job` takes, less what is stored."""
        from unlearning.llm.estimate import at_most, one_round
        from unlearning.llm.foreseen import sent_back

        sizes = self._sized(job, inputs)
        there, found = inputs.there(job), collections.Counter()
        missing = count(job, folder, found) if all(Path(path).exists() for path in job.input) else None
        known = found if missing is not None else {}
        self.stored.update(known)
        self.waiting[job.rule.name] += not there
        for size in sizes:
            door = played(job).get(size.role)
            if door and missing != {}:
                self.one.append(one_round(size, door, known.get(size.role, 0), (missing or {}).get(size.role, 0)))
            if door and (missing != {} or not there):
                self.most.append(at_most(size, door, known.get(size.role, 0) if there else 0))
        if n := sent_back(script_of(job), sizes, job.params.job["values"].get("back_translator")):
            service = job.params.job["values"]["back_translator"]["service"]
            self.texts[service, "one"] += n if missing != {} else 0
            self.texts[service, "most"] += n * sizes[0].rounds if missing != {} or not there else 0

    def _sized(self, job, inputs: Inputs) -> list:
        from unlearning.llm import foreseen
        from unlearning.llm.estimate import sized

        function = getattr(foreseen, script_of(job))
        arguments = inputs.arguments(job, function)
        key = repr((script_of(job), {name: contents(argument) for name, argument in arguments.items()}))
        if key not in self._sizes:
            self._sizes[key] = [sized(asked) for asked in function(**arguments)]
        return self._sizes[key]


def told(seen: Foreseen, asking: bool) -> str:
    """The estimate in words and tables."""
    from unlearning.llm.estimate import HEAD_MOST, described, summed, total

    one, most = summed(seen.one), summed(seen.most)
    if not most:
        why = f"{from_store(seen)} from the store" if asking else "no job that would run asks a language model"
        return f"Nothing would be asked: {why}."
    lines = ["If every reply can be used at once, and what is built already comes out as it is:"]
    if one:
        besides = seen.stored.total()
        lines += [described(one), *([f"Besides, {besides:,} replies come from the store."] if besides else []), ""]
    else:
        lines += [f"Nothing would be asked: {from_store(seen)} from the store.", ""]
    lines += ["At most: every round, every reply asked for again and as long as it may be, every byte a token:"]
    lines += [described(most, HEAD_MOST), ""]
    free = ", ".join(sorted({str(row.model) for row in most if row.backend == "openai" and row.cost is None}))
    if any(row.cost is not None for row in most):
        besides = f", and what {free} costs, for which prices has no entry" if free else ""
        lines.append(f"About {total(one):,.4f} USD, at most {total(most):,.4f} USD by `prices`{besides}.")
    elif free:
        lines.append(f"What it costs cannot be said: prices has no entry for {free}.")
    for (service, what), n in seen.texts.items():
        if what == "most" and n:
            texts = f"{seen.texts[service, 'one']:,} texts, at most {n:,}"
            lines.append(f"Not counted: what back_translator.service {service} takes: {texts}.")
    lines.append("Not counted: calls that are billed though no reply comes, as after a timeout (the cap counts them).")
    if waiting := {rule: n for rule, n in seen.waiting.items() if n}:
        jobs = ", ".join(f"{n} {rule}" for rule, n in waiting.items())
        lines.append(
            f"Foreseen, as their inputs are yet to be made: {jobs}. A text that is not written yet counts as long as "
            "the English one it stands for, an answer as asking.max_new_tokens of four characters."
        )
    return "\n".join(lines)


def from_store(seen: Foreseen) -> str:
    """Where nothing is missing: how many replies there are, in words."""
    n = seen.stored.total()
    return f"all {n:,} replies come" if n > 1 else "every reply comes"


def spending(cap: float | None, most: float) -> str:
    """What is spent so far, the cap, and whether it may stop the run."""
    from unlearning.llm.budget import Budget

    spent = 0.0
    if SPENDING.exists():
        with contextlib.closing(Budget(SPENDING, None, {"input": 0.0, "output": 0.0})) as budget:
            spent = budget.spent()
    if cap is None:
        return f"Spent so far: {spent:,.4f} USD. There is no cap (llm.spending_cap)."
    left = max(cap - spent, 0.0)
    stops = " It may stop the run before its end; what came is kept." if most > left else ""
    return f"Cap (llm.spending_cap): {cap:,.4f} USD; spent or reserved so far: {spent:,.4f}; left: {left:,.4f}.{stops}"


def main(arguments: list[str]) -> int:
    """Print the estimate; exit status 1 with the problem where the run itself could not start."""
    from tqdm import tqdm

    from unlearning.config.doors import unset_keys
    from unlearning.llm.estimate import total

    try:
        jobs, config = planned(arguments)
    except Exception as error:  # Snakemake's own, and those of the configuration, which say it in full
        print(error, file=sys.stderr)
        return 1
    asking, seen = [job for job in jobs if played(job)], Foreseen()
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(jobs, Path(folder) / "inputs")
        for job in tqdm(asking, unit="job", disable=None):  # none where nobody watches
            seen.add(job, inputs, Path(folder) / "outputs")
    print(told(seen, bool(asking)))
    if offline := sorted({role for job in jobs for role in played(job, offline=True)}):
        print(f"Played by no language model, as roles names none for them: {', '.join(offline)}.")
    for line in unset_keys(job.params.job["values"] for job in asking):
        print(f"warning: {line}")
    if seen.most or config.llm.spending_cap is not None or SPENDING.exists():
        print(spending(config.llm.spending_cap, total(seen.most)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
