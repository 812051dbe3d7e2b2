"""Runs with terms on a model's inside: which weights train, how the loop prepares models and rows."""

import pytest
import torch

import training
from learning import forget
from unlearning.models.layers import LayerError

torch.set_num_threads(1)
RMU = {"forget": "rmu", "retain": "mse_hidden", "retain_weight": 2.0, "params": {"layer": 2, "c": 3.0}, "lr": 5e-3}
PALU = {"forget": "palu", "retain": "gd", "params": {"top_k": 8}}
SHIFT = {"forget": "attention_shift", "retain": "attention_shift", "params": {"spans": "pos", "first_layer": 1}}
# One run for two terms each.
MIXED = {
    "rmu_mse_hidden": RMU,
    "palu_attention_shift": {"forget": "palu", "retain": "attention_shift", "params": {"spans": "pos", "top_k": 8}},
}


def run(method, **more):
    return forget(training.deep(), {**method, **more}, reference=training.deep())


def changed(before, after):
    return {key for key, value in before.state_dict().items() if not torch.equal(value, after.state_dict()[key])}


def weights_of(layers):
    return {key for key in training.deep().state_dict() if key.startswith(tuple(f"model.layers.{i}." for i in layers))}


def test_rmu_trains_its_three_layers_and_the_optimiser_holds_no_other(monkeypatch):
    from unlearning.train.loop import TermTrainer

    held, step = [], TermTrainer.training_step

    def spy(self, *args, **kwargs):
        held.append(sum(p.numel() for group in self.optimizer.param_groups for p in group["params"]))
        return step(self, *args, **kwargs)

    monkeypatch.setattr(TermTrainer, "training_step", spy)
    trained = run(RMU, batch_size=8, epochs=6)
    assert changed(training.deep(), trained.model) == weights_of([0, 1, 2])
    state = training.deep().state_dict()
    assert set(held) == {sum(state[key].numel() for key in weights_of([0, 1, 2]))}
    log = trained.log
    assert log[-1]["forget_loss"] < 0.9 * log[0]["forget_loss"]
    assert log[0]["retain_loss"] == pytest.approx(0, abs=1e-9) and log[-1]["retain_loss"] > 0
    assert trained.model.state_dict().keys() == state.keys()


def test_a_retain_loss_in_activations_is_not_watched_for_collapse():
    # the hidden states drift by far more than 1.01 times the 0.1 nats that a start counts as at least
    drifts = run(RMU, retain_weight=0.0, lr=0.05, batch_size=8, epochs=7, collapse_factor=1.01)
    assert drifts.log[-1]["retain_loss"] > 1 and not drifts.facts["collapsed"] and drifts.facts["steps"] == 7


def test_palu_lowers_the_likeliest_logits_at_the_value():
    log = run(PALU, batch_size=8, epochs=8, lr=5e-3).log
    assert log[-1]["forget_loss"] < 0.7 * log[0]["forget_loss"]


def test_attention_shifts_in_the_chosen_layers():
    trained = run(SHIFT, epochs=6, batch_size=8, lr=5e-3, params={"first_layer": 1, "last_layer": 2})
    assert changed(training.deep(), trained.model) == weights_of([1, 2])
    log = trained.log
    assert log[-1]["forget_loss"] < 0.95 * log[0]["forget_loss"] and log[0]["retain_loss"] > 0
    assert trained.model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("method", [RMU, SHIFT], ids=["rmu", "attention_shift"])
def test_an_adapter_trains_in_the_same_layers_only(method):
    trained = run(method, lora={"r": 2, "alpha": 4, "targets": ["q_proj", "v_proj"]}, batch_size=8)
    layers = [0, 1, 2] if method is RMU else [1, 2, 3]
    wanted = {f"model.layers.{i}.self_attn.{name}_proj.weight" for i in layers for name in "qv"}
    # the last layer's values stand behind every attention map
    assert changed(training.deep(), trained.model) == wanted - {"model.layers.3.self_attn.v_proj.weight"}
    assert trained.model.config._attn_implementation == "sdpa"


def test_an_adapter_outside_the_layers_is_refused():
    with pytest.raises(LayerError, match=r"nothing is left to train in layers \[0, 1, 2\].*lora.targets"):
        run(RMU, lora={"r": 2, "targets": ["lm_head"]})


@pytest.mark.parametrize("name", MIXED)
def test_micro_batches_and_checkpointing_of_gradients_change_nothing(name):
    method = {**MIXED[name], "epochs": 1}
    whole, cut = run(method), run(method, micro_batch_size=2, gradient_checkpointing=True)
    for row, other in zip(whole.log, cut.log, strict=True):
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-4)
        assert row["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-4)


def test_a_resumed_run_ends_where_an_undisturbed_one_does(tmp_path, monkeypatch):
    method = {"forget": "rmu", "retain": "attention_shift", "params": {"layer": 2}, "epochs": 1, "batch_size": 2}
    whole, method = run(method), {**method, "checkpoint_steps": 2}

    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr("unlearning.train.watch.Watch.on_step_begin", die)
        with pytest.raises(InterruptedError):
            forget(training.deep(), method, reference=training.deep(), work=tmp_path)
    resumed = forget(training.deep(), method, reference=training.deep(), work=tmp_path)
    assert training.same_weights(resumed.model, whole.model)
    # of the layers that both terms name, here all of attention shifting's, those that train
    assert changed(training.deep(), whole.model) == weights_of([0, 1, 2])
    assert [row["loss"] for row in resumed.log] == [row["loss"] for row in whole.log]


def test_another_seed_gives_rmu_another_direction():
    method = {"forget": "rmu", "epochs": 1, "batch_size": 8}
    one, other = (forget(training.deep(), method, seed=seed).log[0]["forget_loss"] for seed in (0, 1))
    assert abs(one - other) > 1e-3
