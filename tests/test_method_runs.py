"""What every run of a method with its own schedule keeps to: micro-batches, resuming, adapters, exact reruns."""

import numpy as np
import pytest
import torch

import training
from learning import REFUSALS, forget, keeping
from unlearning.cache import code
from unlearning.config import method_docs
from unlearning.registry import ROOT, available
from unlearning.train.loop import Side, TermTrainer, train
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows
from unlearning.train.terms import load_term

torch.set_num_threads(1)
LINGTEA = {"method": "lingtea", "batch_size": 4, "epochs": 4}
NGDIFF = {"method": "ngdiff", "params": {"eta": "auto"}, "warmup": 0, "batch_size": 4}


@pytest.mark.parametrize("method", [LINGTEA, {"method": "mp_me", "epochs": 1}, NGDIFF], ids=lambda m: m["method"])
def test_micro_batches_equal_the_whole_batch(method):
    whole, cut = (
        forget(training.llama(), {**method, "micro_batch_size": size}, reference=training.model(9).double())
        for size in (None, 2)
    )
    for row, other in zip(whole.log, cut.log, strict=True):
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-6)
        assert row["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-6)
    for got, wanted in zip(cut.model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", [LINGTEA, NGDIFF], ids=lambda m: m["method"])
def test_a_resumed_run_ends_where_an_undisturbed_one_does(tmp_path, monkeypatch, method):
    method = {**method, "checkpoint_steps": 2}
    whole = forget(training.model(), {**method, "checkpoint_steps": 0}, reference=training.model(9))

    class Killed(Exception):
        pass

    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("unlearning.train.watch.Watch.on_step_begin", die)
        with pytest.raises(Killed):
            forget(training.model(), method, reference=training.model(9), work=tmp_path)
    assert (tmp_path / "checkpoint-2").is_dir()
    resumed = forget(training.model(), method, reference=training.model(9), work=tmp_path)
    assert training.same_weights(resumed.model, whole.model)
    kept = ("step", "loss", "learning_rate")
    assert [[row[key] for key in kept] for row in resumed.log] == [[row[key] for key in kept] for row in whole.log]


@pytest.mark.parametrize("name", [name for name in available("methods") if name != "pair"])
def test_every_method_hands_its_model_out_after_an_epoch(name):
    after, handed = keeping(1, 2)
    method = {"method": name, "epochs": 2, "batch_size": 8}
    run = forget(training.model(), method, reference=training.model(9), after=after)
    assert training.same_weights(handed[2][0], run.model) and not training.same_weights(handed[1][0], run.model)


def test_adapters_alone_are_trained_and_normalised():
    lora = {"r": 2, "targets": ["q_proj"]}
    network = training.model()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    run = forget(network, {"method": "ngdiff", "params": {"step": "plain"}, "lora": lora, "lr": 1.0})
    changed = {n for n, tensor in run.model.state_dict().items() if not torch.equal(tensor, before[n])}
    assert changed == {"model.layers.0.self_attn.q_proj.weight"}
    assert all(0 < row["grad_norm"] <= 2 for row in run.log)


def test_a_methods_module_is_in_the_code_of_its_runs_and_of_no_others():
    script = ROOT / "scripts/unlearn.py"
    files = {f"unlearning/methods/{name}.py" for name in available("methods")}
    assert available("methods") == ["lingtea", "mp_idk", "mp_me", "ngdiff", "pair", "tv"]
    for name in available("methods"):
        assert files & set(code.closure(script, [f"unlearning.methods.{name}"])) == {f"unlearning/methods/{name}.py"}
    always = set(code.closure(script, ["unlearning.methods.ngdiff"]))
    assert {"unlearning/forget/ga.py", "unlearning/retain/gd.py"} <= always
    assert "unlearning/train/mixed.py" not in always


class Texts:
    """How many texts run through the model that trains (backward: with a gradient) and through the reference."""

    def __init__(self, network, reference):
        self.seen = {"forward": 0, "backward": 0, "reference": 0}
        self.reference = reference
        for model in (network, reference):
            model.register_forward_pre_hook(self.see, with_kwargs=True)

    def see(self, module, args, kwargs):
        n = len(kwargs["input_ids"])
        self.seen["reference" if module is self.reference else "forward"] += n
        if module is not self.reference and torch.is_grad_enabled():
            self.seen["backward"] += n

    def during(self, monkeypatch, method):
        """What passes during each call of TermTrainer's `method`, with the arguments of that call."""
        calls, original = [], getattr(TermTrainer, method)

        def run(*args, **kwargs):
            before = dict(self.seen)
            result = original(*args, **kwargs)
            calls.append((args, {key: n - before[key] for key, n in self.seen.items()}))
            return result

        monkeypatch.setattr(TermTrainer, method, run)
        return calls


def test_a_term_costs_what_the_page_of_methods_says(monkeypatch):
    network, reference, table = training.model(), training.model(9), training.table()
    known = reference_logprobs(network, training.tokenizer(), table, refusals=REFUSALS, epochs=1)
    rows = encode_rows(training.tokenizer(), table, None, known, REFUSALS, questions=True, spans="value")
    every = [(folder, name) for folder in ("forget", "retain") for name in available(folder) if name != "none"]
    sides = [Side(folder, load_term(folder, name), 1.0, rows) for folder, name in every]
    calls = Texts(network, reference).during(monkeypatch, "compute_loss")
    plan = make_plan({"lr": 1e-3, "epochs": 1})
    train(network, sides, lambda step: [np.arange(4)] * len(sides), 1, plan, 0, 0, reference=reference)
    for (folder, name), (args, texts) in zip(every, calls, strict=True):
        assert args[2].side.term.name == f"{folder}.{name}"
        wanted = method_docs.cost(folder, name)
        assert {key: n / 4 for key, n in texts.items()} == {**wanted, "backward": wanted["forward"]}, (folder, name)
        assert bool(wanted["reference"]) == (method_docs.models(folder, name) == 2)


@pytest.mark.parametrize("name", method_docs.names("methods"))
def test_a_whole_method_costs_what_the_page_of_methods_says(monkeypatch, name):
    network, reference = training.model(), training.model(9)
    calls = Texts(network, reference).during(monkeypatch, "training_step")
    forget(network, {"method": name, "epochs": 2, "batch_size": 4}, reference=reference)
    wanted = method_docs.cost("methods", name)
    most = {key: max(texts[key] for _, texts in calls) / 4 for key in ("forward", "backward", "reference")}
    assert most == {**wanted, "backward": wanted["forward"]}
    assert bool(wanted["reference"]) == (method_docs.models("methods", name) == 2)
