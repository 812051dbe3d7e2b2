"""Two processes on CPUs, joined by gloo as torchrun starts them, train as one does: plainly, and with shards."""

import sys
from pathlib import Path

import pytest
import torch

import ranks

sys.path.append(str(Path(__file__).parents[1] / "workflow/scripts"))

from spread import spread

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What each of two processes found, and the error that ended them."""
    folder = tmp_path_factory.mktemp("two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ":".join([str(Path(__file__).parent), "workflow"]))
        with pytest.raises(ValueError) as error:
            spread(ranks.together, "ranks.py", {"folder": str(folder), "device": "cpu"}, 2)
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
