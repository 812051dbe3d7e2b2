"""Two processes on CPUs, joined by gloo as torchrun starts them, train as one does: plainly, and with shards."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import ranks
import training
from learning import learn
from unlearning.models.small import small_model
from unlearning.train import loop
from unlearning.train.plan import make_plan

sys.path.append(str(Path(__file__).parents[1] / "workflow/scripts"))

import job
import spread as spreading

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What each of two processes found, and the error that ended them."""
    folder = tmp_path_factory.mktemp("two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ":".join([str(Path(__file__).parent), "workflow"]))
        with pytest.raises(ValueError) as error:
            spreading.spread(ranks.together, "ranks.py", {"folder": str(folder), "device": "cpu"}, 2)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in (0, 1)], str(error.value)


@pytest.fixture(scope="module")
def one():
    """What one process finds, case by case, each computed once."""
    found = {}
    return lambda case: found.setdefault(case, ranks.made(case)) if case not in found else found[case]


@pytest.mark.parametrize("case, sharding", ranks.SPREAD + ranks.SHARDED)
def test_two_processes_give_the_losses_and_weights_of_one(two, one, case, sharding):
    (first, second), alone = (results[case, sharding] for results in two[0]), one(case)
    assert first["kinds"] == second["kinds"] == {"DTensor" if sharding == "full" else "Parameter"}
    # float64 shows that nothing but rounding differs; unit gradients fit a parabola to differences of losses
    rounding = 1e-6 if "float32" in case else 1e-9
    for name in ("loss", "forget_loss", "retain_loss", "grad_norm", "learning_rate", "tokens"):
        wanted = [row[name] for row in alone["log"]]
        assert [row[name] for row in first["log"]] == pytest.approx(wanted, rel=rounding)
        assert [row[name] for row in second["log"]] == [row[name] for row in first["log"]]
    assert first["facts"] == alone["facts"] and not second["handed"]
    for kind in ("weights", "handed"):
        assert first[kind].keys() == alone[kind].keys()
        for name, wanted in alone[kind].items():
            torch.testing.assert_close(first[kind][name], wanted, rtol=0, atol=1e-5 if "32" in case else 1e-9)


def test_a_resumed_training_of_two_processes_ends_where_an_undisturbed_one_does(two):
    whole, resumed = two[0][0]["interrupted"]
    assert whole.keys() == resumed.keys() and all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_what_one_process_says_before_it_fails_is_the_error_of_the_job(two):
    assert two[1] == "enough: process 1 ends here"


def test_a_job_hands_its_function_to_as_many_processes_as_are_asked_for_whatever_its_values(tmp_path, monkeypatch):
    seen, scale = {}, {"processes": 3, "sharding": "none", "gradient_checkpointing": True, "checkpoint_steps": 5}

    def spread(function, script, arguments, processes):
        seen.update(arguments, processes=processes, threads=os.environ["OMP_NUM_THREADS"])
        assert (function, script) == (learn, "memorize.py") and Path(arguments["work"]).is_dir()
        Path(arguments["model"]).write_text("{}")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(job, "spread", spread)
    monkeypatch.setattr(job, "_check_code", lambda spec: None)
    spec = {"script": "memorize.py", "modules": [], "values": {"seed": 1}, "code": "c"}
    rule = {"log": [], "input": {}, "output": {"model": "model.json"}, "rule": "target", "wildcards": {}}
    made = {"params": SimpleNamespace(job=spec), "threads": 6, "resources": {"scale": json.dumps(scale)}}
    job.run(SimpleNamespace(**rule, **made), learn)
    assert seen["scale"] == {key: value for key, value in scale.items() if key != "processes"}
    assert (seen["seed"], seen["processes"], seen["threads"]) == (1, 3, "2")
    assert not Path(seen["work"]).exists()


def test_fewer_gpus_than_processes_are_told_before_any_is_started(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,7")
    assert spreading._gpus(2) == ["4", "5"] and spreading._gpus(3) == ["4", "5", "7"]
    with pytest.raises(ValueError, match="4 processes need a GPU each, and this job sees 3; .*gpus.train"):
        spreading._gpus(4)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert spreading._gpus(4) == []


def test_a_checkpoint_that_was_not_written_to_its_end_is_passed_over(tmp_path):
    assert loop._last_checkpoint(tmp_path) is None
    for step, state in {2: "{}", 10: '{"global_st', 12: None}.items():
        (tmp_path / f"checkpoint-{step}").mkdir()
        if state is not None:
            (tmp_path / f"checkpoint-{step}/trainer_state.json").write_text(state)
    assert loop._last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-2")


def test_the_8_bit_optimiser_keeps_a_byte_per_moment_and_learns_alike(monkeypatch):
    """Without the compilation of its step, which takes longer than all other tests here."""
    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    optimisers, step = [], loop.TermTrainer.training_step
    monkeypatch.setattr(
        loop.TermTrainer, "training_step", lambda self, *args: optimisers.append(self.optimizer) or step(self, *args)
    )
    shape = {"hidden": 64, "layers": 1, "heads": 2, "intermediate": 128}
    plain, small = (
        learn(small_model(shape, training.tokenizer(), 0), lr=1e-2, optimizer=name) for name in ("adamw", "adamw_8bit")
    )
    moments = [state["exp_avg"] for state in optimisers[-1].optimizer.state.values()]
    large = [moment for moment in moments if moment.numel() >= 4096]
    assert large and all(moment.codes.dtype == torch.uint8 for moment in large)
    losses = [[row["loss"] for row in trained.log] for trained in (plain, small)]
    assert losses[0] != losses[1] and losses[1] == pytest.approx(losses[0], rel=0.02)
    assert losses[1][-1] < 0.8 * losses[1][0]


def test_without_torchao_the_8_bit_optimiser_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchao.optim", None)
    with pytest.raises(ValueError, match="adamw_8bit needs the package torchao.*pip install torchao"):
        learn(training.model(), optimizer="adamw_8bit")


@pytest.mark.parametrize("keys", [{"retain": "attention_shift"}, {"checkpoint_steps": 2}])
def test_what_sharded_weights_do_not_serve_is_refused(keys):
    with pytest.raises(ValueError, match="sharding: none"):
        make_plan({"forget": "ga", "lr": 1e-3, "epochs": 1, "sharding": "full", **keys})
