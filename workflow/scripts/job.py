"""The edge between Snakemake and the scripts' functions: logs, restoring, provenance, ledger."""

import contextlib
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from spread import spread
from unlearning.cache import code, ledger, locks, provenance, store
from unlearning.tables.artifacts import NoRoom, room_for

RESULTS = Path("results")
LEDGER = RESULTS / ".ledger"
STORE = RESULTS / ".store"
WORK = RESULTS / ".work"  # checkpoints of trainings that are not done
SCRIPTS = Path(__file__).resolve().parent


@contextlib.contextmanager
def _logged(path: str | None) -> Iterator[None]:
    """Send this process' stdout and stderr to the job's log (libraries' output too, so by file descriptor)."""
    if not path:
        yield
        return
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    with open(path, "w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        yield


def _named(part) -> dict:
    """Named inputs or outputs as plain strings or lists of strings."""
    return {k: v if isinstance(v, str) else list(v) for k, v in part.items()}


def _each(outputs: dict) -> dict[str, str]:
    """name -> path of every output; those of a list are name/0, name/1 …"""
    found = {}
    for name, paths in outputs.items():
        found |= {name: paths} if isinstance(paths, str) else {f"{name}/{i}": path for i, path in enumerate(paths)}
    return found


def _contents(inputs: dict) -> dict[str, list[str]]:
    paths = {k: [v] if isinstance(v, str) else v for k, v in inputs.items()}
    return {name: [store.content_of(Path(p)) for p in group] for name, group in paths.items()}


def _inside(inputs: dict, contents: dict) -> dict[str, str]:
    """path -> content of every input; of a file outside the workflow only its name, as paths tell of the machine."""
    found = {}
    for name, group in inputs.items():
        for path, content in zip([group] if isinstance(group, str) else group, contents[name], strict=True):
            found[Path(path).name if Path(path).is_absolute() else path] = content
    return found


def _check_code(job: dict) -> None:
    now = code.fingerprint(SCRIPTS / job["script"], job["modules"])
    if now != job["code"]:
        raise code.CodeChanged("the project's code changed while the workflow was running; run it again")


def run(snakemake, function: Callable, restore: bool = False) -> None:
    """Call `function` with the rule's inputs, outputs and values by name, or restore its outputs from the store.

    A function that returns False made its outputs as far as it could (a prompt was refused, say): they are not kept to
    be restored, so the next run of the job tries again. Arguments that the function does not take (a template that only
    has to be watched, say) are an error of the rule.
    What a killed run left at work on the same outputs is waited for. An exception's traceback goes to the log, its
    message to the ledger: from there the Snakefile shows it at the end. Where the disk is full, it is shown at once.
    """
    log = snakemake.log[0] if snakemake.log else None
    first = next(iter(_each(_named(snakemake.output)).values()))
    terminal = os.dup(2)
    try:
        with room_for(f"{RESULTS}/"), _logged(log), locks.one_at_a_time(RESULTS, first):
            locks.check_run(RESULTS)
            _run(snakemake, function, restore)
            sys.stdout.flush()
    except Exception as error:
        with contextlib.suppress(OSError):  # the log has no room either
            traceback.print_exc()
        try:
            ledger.record_failure(LEDGER, snakemake.rule, first, error, log)
        except NoRoom:
            with contextlib.suppress(OSError):
                os.write(terminal, f"{snakemake.rule}: {ledger.message(error)}\n".encode())
        sys.exit(1)


def _run(snakemake, function: Callable, restore: bool) -> None:
    started = time.perf_counter()
    scale = json.loads(snakemake.resources.get("scale", "{}"))
    processes = scale.pop("processes", 1)
    threads = max(snakemake.threads // processes, 1)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when torch is imported, in the script's function
    job = snakemake.params.job
    inputs, outputs = _named(snakemake.input), _named(snakemake.output)
    made = _each(outputs)
    _check_code(job)
    # what a job makes does not depend on how many shards it is put together from
    read = {name: paths for name, paths in inputs.items() if name != "shards"}
    contents = _contents(read)
    key = store.job_key(job["code"], job["values"], contents)
    restored = restore and store.restore(STORE, key, made)
    if "shard" in job["values"] and restore and not restored:  # a whole table that is kept serves as a shard
        unsplit = {name: value for name, value in job["values"].items() if name != "shard"}
        restored = store.restore(STORE, store.job_key(job["code"], unsplit, contents), made)
    if not restored:
        # Snakemake prepares folders only; values come as JSON would give them, whatever the wildcards were
        values = json.loads(json.dumps(job["values"])) | ({"scale": scale} if scale else {})
        if scale.get("checkpoint_steps"):
            # of this job alone: one that keeps its model after other epochs too has not got them from this one
            work = WORK / store.job_key(job["code"], job["values"] | {"outputs": sorted(made)}, contents)
            work.mkdir(parents=True, exist_ok=True)
            values["work"] = str(work)
        if processes > 1:
            whole = spread(function, job["script"], {**inputs, **outputs, **values}, processes)
        else:
            whole = function(**inputs, **outputs, **values)
        _check_code(job)
        if restore and whole is not False:
            store.save(STORE, key, made)
        if "work" in values:
            shutil.rmtree(values["work"])
    seconds = time.perf_counter() - started
    action = "restored" if restored else "computed"
    facts = {
        "rule": snakemake.rule, "wildcards": dict(snakemake.wildcards), "code": job["code"], "params": job["values"],
        "inputs": _inside(read, contents),
        "key": key, "action": action, "seconds": round(seconds, 3), "versions": provenance.versions(),
    }  # fmt: skip
    for path in made.values() if "shard" not in job["values"] else ():
        if Path(path).suffix in (".parquet", ".json"):
            provenance.write(path, facts)
    first = next(iter(made.values()))
    ledger.record(LEDGER, snakemake.rule, first, action, seconds)
