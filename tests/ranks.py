"""Trainings that are run by one process and by several: what `unlearning.train.processes` promises is the same."""

import copy
from pathlib import Path

from unlearning.models.optional import leave_out_unused

leave_out_unused()

import torch  # noqa: E402

import training  # noqa: E402
from learning import METHODS, forget  # noqa: E402
from unlearning.train import loop, processes  # noqa: E402

torch.set_num_threads(1)

UNEVEN = {"forget": "npo", "retain": "gd", "batch_size": 7, "micro_batch_size": 2}
DROPOUT = {"r": 2, "dropout": 0.5, "targets": "all-linear"}
# name -> model, whether there is a reference model, method
CASES = {
    # 8 rows: steps of 7 and 1, by two processes 4 + 3 and 1 + 0, in micro-batches of 2
    "uneven, float32": (training.model, False, UNEVEN),
    "recomputed, with a reference model": (
        lambda: training.qwen3().double(),
        True,
        {**UNEVEN, **METHODS["idk_kl"], "gradient_checkpointing": True},
    ),
    # the last pass of a step is through some layers only
    "some layers, and a reference model": (
        lambda: training.deep().double(),
        True,
        {"forget": "npo", "retain": "mse_hidden", "batch_size": 3, "micro_batch_size": 1, "weight_decay": 0.1},
    ),
    "unit gradients": (training.llama, False, {"method": "ngdiff", "params": {"step": "plain", "eta": "auto"}}),
    "adapters": (training.llama, False, {**UNEVEN, "lora": {"r": 2, "targets": "all-linear"}, "batch_size": 3}),
}
SPREAD = [(case, "none") for case in ("uneven, float32", "some layers, and a reference model", "unit gradients")]
SHARDED = [(case, "full") for case in ("recomputed, with a reference model", "unit gradients", "adapters")]


def made(case: str, **keys):
    """The training of a case, and the weights that it hands out after its first epoch."""
    network, needs_reference, method = CASES[case]
    first, handed = network(), {}
    reference = copy.deepcopy(first) if needs_reference else None
    if reference is not None:
        with torch.no_grad():
            reference.get_input_embeddings().weight.mul_(1.1)
    after = {1: lambda model, facts, finish=None: handed.update(copy.deepcopy(model.state_dict()))}
    trained = forget(first, {**method, **keys}, reference=reference, after=after)
    return {"log": trained.log, "facts": trained.facts, "weights": trained.model.state_dict(), "handed": handed}


def interrupted(folder: Path) -> list[dict]:
    """The weights of an undisturbed training with dropout, and of one that died at step 4 and was taken up again."""
    method = {**METHODS["npo_gd"], "lora": DROPOUT}
    whole = forget(training.model(), method)
    begin = loop.Watch.on_step_begin

    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise KeyboardInterrupt

    loop.Watch.on_step_begin = die
    try:
        forget(training.model(), {**method, "checkpoint_steps": 2}, work=folder)
    except KeyboardInterrupt:
        loop.Watch.on_step_begin = begin
    resumed = forget(training.model(), {**method, "checkpoint_steps": 2}, work=folder)
    return [trained.model.state_dict() for trained in (whole, resumed)]


def together(folder: str, device: str) -> None:
    """Everything, by each of several processes, into `folder`; then number 1 fails while the others wait for it."""
    kinds, step = set(), loop.TermTrainer.training_step

    def noted(self, model, *args, **kwargs):
        kinds.update(type(parameter).__name__ for parameter in model.parameters())
        return step(self, model, *args, **kwargs)

    loop.TermTrainer.training_step = noted
    results = {}
    for case, sharding in SPREAD + SHARDED:
        kinds.clear()
        found = made(case, sharding=sharding)
        kept = found if processes.rank() == 0 else {"log": found["log"], "handed": found["handed"]}
        results[case, sharding] = {**kept, "kinds": set(kinds)}
    results["interrupted"] = interrupted(Path(folder, "work"))
    torch.save(results, Path(folder, f"{processes.rank()}.pt"))
    if processes.rank() == 1:
        raise ValueError("enough: process 1 ends here")
    processes.summed(torch.zeros(1))
