"""What the language models of a run would take: replies, tokens, USD. Nobody is asked. For `make estimate`.

Every job that would run, and whose inputs are there, is run up to its first question; its outputs go nowhere. Later
rounds, and jobs that wait for others, cannot be counted yet: they are named.
"""

import argparse
import collections
import contextlib
import io
import logging
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import yaml


def doors_in(values: dict) -> list[dict]:
    """The doors that a job's values hold."""
    return [*([values["door"]] if "door" in values else []), *values.get("doors", {}).values()]


def asking_jobs(arguments: list[str]) -> list:
    """The jobs of a run with Snakemake's own `arguments` that ask a language model, in the order of their names."""
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
        jobs = [
            job for job in workflow._workflow.dag.needrun_jobs(exclude_finished=False) if "job" in job.params.keys()
        ]
    return sorted(filter(_asks, jobs), key=lambda job: str(job.output[0]))


def _asks(job) -> bool:
    return any(door["backend"]["kind"] != "offline" for door in doors_in(job.params.job["values"]))


def count(job, folder: Path) -> list:
    """Estimates of what the job asks first; none where all its replies are stored. Its outputs go below `folder`."""
    from unlearning.llm.complete import NoReplies
    from unlearning.llm.estimate import Counted

    stem = Path(job.params.job["script"]).stem
    values = yaml.safe_load(yaml.safe_dump(job.params.job["values"]))
    for door in doors_in(values):
        door["count"] = True
    inputs = {name: value if isinstance(value, str) else list(value) for name, value in job.input.items()}
    outputs = {name: str(folder / str(value)) for name, value in job.output.items()}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            getattr(import_module(stem), stem)(**inputs, **outputs, **values)
    except Counted as counted:
        return counted.estimates
    except NoReplies:
        pass  # everything is stored, and none of it is of use: the job itself will say so
    return []


def main(arguments: list[str]) -> int:
    """Print the estimate; exit status 1 with the problem where the run itself could not start."""
    from unlearning.llm.estimate import described, summed

    found, waiting = [], collections.Counter()
    try:
        jobs = asking_jobs(arguments)
    except Exception as error:  # Snakemake's own, and those of the configuration, which say it in full
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for job in jobs:
            if all(Path(path).exists() for path in job.input):
                found += count(job, Path(folder))
            else:
                waiting[job.rule.name] += 1
    print(described(summed(found)) if found else "Nothing would be asked, as far as can be counted now.")
    print("Not counted: later rounds, and replies that have to be asked for again.")
    if waiting:
        print(f"Not counted, as inputs are not there yet: {', '.join(f'{n} {rule}' for rule, n in waiting.items())}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
