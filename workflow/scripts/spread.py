"""A training job in several processes: torchrun starts them, each calls the job's function, number 0 writes."""

import ctypes
import datetime
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from unlearning.cache import ledger

WAIT = datetime.timedelta(hours=2)  # the others wait while number 0 writes a model


class ProcessError(RuntimeError):
    """One of the processes failed by no mistake that we know; the message says which and how."""


def spread(function: Callable, script: str, arguments: dict, processes: int) -> None:
    """Call `function` of `script` (a file of this folder) with `arguments` in that many processes of this machine.

    Each gets a GPU of its own unless `device` is cpu or there is none. ValueError or ProcessError with what the first
    process that failed said, tracebacks are on stderr; ValueError where there are fewer GPUs than processes.
    """
    with tempfile.TemporaryDirectory() as folder:
        task = {"module": Path(script).stem, "function": function.__name__, "arguments": arguments}
        task["gpus"] = [] if arguments.get("device") == "cpu" else _gpus(processes)
        Path(folder, "task.json").write_text(json.dumps(task), encoding="utf-8")
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        done = subprocess.run([*torchrun, __file__, folder], preexec_fn=_end_with_parent)
        if done.returncode:
            raise _failure(Path(folder), processes)


def _gpus(processes: int) -> list[str]:
    """What CUDA_VISIBLE_DEVICES is to be in each process; empty where there is no GPU."""
    import torch

    count = torch.cuda.device_count()
    if 0 < count < processes:
        raise ValueError(
            f"scale.processes: {processes} processes need a GPU each, and this job sees {count}; ask for as many "
            "(gpus.train on a cluster), or lower scale.processes"
        )
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (seen.split(",") if seen else [str(i) for i in range(count)])[: processes if count else 0]


def _end_with_parent() -> None:
    """Ask Linux to end this process when its parent ends, were it by SIGKILL: no orphan goes on writing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _failure(folder: Path, processes: int) -> Exception:
    said = sorted(folder.glob("failed-*.json"), key=lambda path: path.stat().st_mtime_ns)
    if not said:
        return ProcessError(
            f"one of the {processes} processes was ended before it could say why, perhaps for want of memory (the log "
            "may tell): lower micro_batch_size, or set scale.sharding: full"
        )
    first = json.loads(said[0].read_text(encoding="utf-8"))
    if first["ours"]:
        return ValueError(first["message"])
    return ProcessError(f"process {first['rank']} of {processes}, from 0: {first['message']}")


def join(backend: str) -> None:
    """Make this process, which torchrun started, one of the group; to transformers' Trainer it then looks alone."""
    import torch.distributed as dist

    logging.getLogger("transformers.training_args").setLevel(logging.ERROR)  # it would advise to let Trainer do it
    dist.init_process_group(backend, timeout=WAIT)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        del os.environ[name]


def _take_part(folder: Path) -> None:
    """One process: its GPU, the group, the job's function. What goes wrong is told to the job by a file."""
    rank, task = int(os.environ["RANK"]), json.loads((folder / "task.json").read_text(encoding="utf-8"))
    try:
        if task["gpus"]:
            os.environ["CUDA_VISIBLE_DEVICES"] = task["gpus"][rank]
        join("nccl" if task["gpus"] else "gloo")
        getattr(importlib.import_module(task["module"]), task["function"])(**task["arguments"])
    except Exception as error:
        traceback.print_exc()
        said = {"rank": rank, "message": ledger.message(error), "ours": isinstance(error, ValueError)}
        (folder / f"failed-{rank}.json").write_text(json.dumps(said), encoding="utf-8")
        sys.exit(1)
    import torch.distributed as dist

    dist.destroy_process_group()


if __name__ == "__main__":
    _end_with_parent()
    _take_part(Path(sys.argv[1]))
