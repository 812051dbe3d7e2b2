"""How a training runs: micro-batches, resuming, collapse, replay, adapters, precision, reloading."""

import pytest
import torch
from transformers import AutoModelForCausalLM

import training
from learning import MEMORISE, METHODS, forget, keeping, learn, rows_of
from room import no_file_above
from unlearning.models.load import load_model, load_tokenizer, save_model, save_pretrained_record
from unlearning.tables.artifacts import NoRoom
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows

torch.set_num_threads(1)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_micro_batches_equal_the_whole_batch(method):
    whole, *cuts = (
        forget(training.llama(), {**method, "micro_batch_size": size}, reference=training.model(9).double())
        for size in (None, 1, 2)
    )
    for cut in cuts:
        for row, other in zip(whole.log, cut.log, strict=True):
            assert row["loss"] == pytest.approx(other["loss"], rel=1e-6)
            assert row["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-6)
        for got, wanted in zip(cut.model.parameters(), whole.model.parameters(), strict=True):
            torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)


def test_gradient_checkpointing_changes_nothing():
    plain, saving = (
        forget(training.model(), {**METHODS["npo_gd"], "gradient_checkpointing": f}) for f in (False, True)
    )
    assert [row["loss"] for row in plain.log] == pytest.approx([row["loss"] for row in saving.log], rel=1e-6)


def test_the_same_seed_gives_the_same_weights_and_another_does_not():
    torch.manual_seed(1)
    one = forget(training.model(), METHODS["npo_gd"], seed=3).model
    torch.manual_seed(2)
    same = forget(training.model(), METHODS["npo_gd"], seed=3).model
    other = forget(training.model(), METHODS["npo_gd"], seed=4).model
    assert training.same_weights(one, same) and not training.same_weights(one, other)


@pytest.mark.parametrize("lora", [None, {"r": 2, "dropout": 0.5, "targets": "all-linear"}], ids=["full", "lora"])
def test_a_resumed_run_ends_where_an_undisturbed_one_does(tmp_path, monkeypatch, lora):
    method = {"forget": "npo", "retain": "gd", "checkpoint_steps": 2, "lora": lora}
    whole = forget(training.model(), {**method, "checkpoint_steps": 0})

    class Killed(Exception):
        pass

    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("unlearning.train.watch.Watch.on_step_begin", die)
        with pytest.raises(Killed):
            forget(training.model(), method, work=tmp_path)
    assert (tmp_path / "checkpoint-2").is_dir()
    resumed = forget(training.model(), method, work=tmp_path)
    assert training.same_weights(resumed.model, whole.model)
    assert [(r["step"], r["loss"]) for r in resumed.log] == [(r["step"], r["loss"]) for r in whole.log]


def test_a_checkpoint_for_which_there_is_no_room_is_told_and_the_next_run_goes_on_from_the_one_before(tmp_path):
    method = {"forget": "npo", "retain": "gd", "checkpoint_steps": 1, "epochs": 1}
    forget(training.model(), method, work=tmp_path / "first")
    (checkpoint,) = (tmp_path / "first").glob("checkpoint-*")
    sizes = {path.name: path.stat().st_size for path in checkpoint.iterdir()}
    assert sizes["model.safetensors"] < sizes["optimizer.pt"]  # which torch writes
    for size in (sizes["model.safetensors"], sizes["optimizer.pt"]):
        told = rf"no room to write {tmp_path}/work: free disk space and run again"
        with pytest.raises(NoRoom, match=told), no_file_above(size - 1):
            forget(training.model(), method, work=tmp_path / "work")
    resumed = forget(training.model(), method, work=tmp_path / "work")
    assert training.same_weights(resumed.model, forget(training.model(), {**method, "checkpoint_steps": 0}).model)


@pytest.mark.parametrize("lora", [None, {"r": 2, "dropout": 0.5, "targets": "all-linear"}], ids=["full", "lora"])
def test_a_model_handed_out_after_an_epoch_is_that_of_a_shorter_run_and_training_goes_on_undisturbed(lora):
    method = {"forget": "npo", "retain": "gd", "epochs": 3, "schedule": "constant", "warmup": 0, "lora": lora}
    after, handed = keeping(1, 3)
    whole = forget(training.model(), method, after=after)
    assert training.same_weights(whole.model, forget(training.model(), method).model)
    assert training.same_weights(handed[1][0], forget(training.model(), {**method, "epochs": 1}).model)
    assert training.same_weights(handed[3][0], whole.model)
    assert not training.same_weights(handed[1][0], whole.model)
    assert handed[1][1] == {"steps": 3, "epochs": 1.0, "collapsed": False, "reason": None}
    assert all(network.config.use_cache for network, _ in handed.values())


def test_a_stopped_run_hands_out_the_model_it_stopped_with_for_the_epochs_it_does_not_reach():
    method = {"forget": "ga", "retain": "gd", "retain_weight": 0.0, "lr": 0.05, "epochs": 20, "collapse_factor": 1}
    after, handed = keeping(1, 19, 20)
    stopped = forget(training.model(), method, after=after)
    assert stopped.facts["collapsed"] and not handed[1][1]["collapsed"]
    assert not training.same_weights(handed[1][0], stopped.model)
    for epoch in (19, 20):
        assert handed[epoch][1] == stopped.facts and training.same_weights(handed[epoch][0], stopped.model)


def test_a_run_whose_retain_loss_explodes_is_stopped_and_marked():
    target = learn(training.model(), epochs=20, lr=1e-2).model
    method = {"forget": "ga", "retain": "gd", "retain_weight": 0.0, "lr": 0.05, "epochs": 20, "collapse_factor": 3}
    run = forget(target, method)
    assert (
        run.facts["collapsed"] and "retain loss" in run.facts["reason"] and "3 times its start" in run.facts["reason"]
    )
    assert 5 <= run.facts["steps"] == len(run.log) < 60


def test_without_a_retain_term_nothing_collapses():
    run = forget(training.model(), {"forget": "ga", "lr": 0.05, "epochs": 4, "collapse_factor": 1})
    assert not run.facts["collapsed"] and run.facts["steps"] == 12


def test_a_loss_that_is_not_finite_stops_before_the_step_and_keeps_the_weights(monkeypatch, tmp_path):
    from unlearning.forget import ga

    calls, finite = [], ga.loss

    def breaks(*args, **params):
        calls.append(1)
        return finite(*args, **params) * (float("nan") if len(calls) == 3 else 1)

    monkeypatch.setattr(ga, "loss", breaks)
    broken = forget(training.model(), {"forget": "ga", "checkpoint_steps": 2}, work=tmp_path)
    assert broken.facts["collapsed"] and "not finite at step 3" in broken.facts["reason"]
    assert broken.log[-1]["loss"] is None and broken.log[-1]["step"] == broken.facts["steps"] == 3
    two_steps = AutoModelForCausalLM.from_pretrained(tmp_path / "checkpoint-2")
    assert training.same_weights(broken.model, two_steps)
    assert not training.same_weights(broken.model, training.model())


def test_replay_takes_its_share_of_every_batch():
    background = rows_of(training.table(["Zoe Ax", "Yan Bo"], "background"))
    trained = learn(training.model(), replay=background, share=0.5, batch_size=8)
    # 24 memorised rows, 4 a batch: 6 steps an epoch
    assert trained.facts["steps"] == 18
    lengths = sum(len(e.prompt_ids) + len(e.answer_ids) for e in training.rows().encoded)
    others = sum(len(e.prompt_ids) + len(e.answer_ids) for e in background.encoded)
    # three passes over the memorised rows, 72 background draws = nine passes over 8 rows
    assert sum(row["tokens"] for row in trained.log) == 3 * lengths + 9 * others
    with pytest.raises(ValueError, match="background_share 1.0"):
        learn(training.model(), replay=background, share=1.0)


def test_lora_trains_adapters_only_and_is_merged():
    before = training.model()
    run = learn(training.model(), lora={"r": 4, "alpha": 8, "targets": ["q_proj", "v_proj"]}, lr=1e-2)
    assert type(run.model) is type(before)
    after = run.model.state_dict()
    changed = {key for key, value in before.state_dict().items() if not torch.equal(value, after[key])}
    assert changed == {f"model.layers.0.self_attn.{name}_proj.weight" for name in "qv"}
    assert run.log[-1]["loss"] < run.log[0]["loss"]


def test_bfloat16_computes_in_it_and_keeps_float32_weights():
    run = learn(training.model(), dtype="bfloat16")
    assert run.model.dtype == torch.float32 and run.log[-1]["loss"] < run.log[0]["loss"]


def test_reference_logprobs_do_not_depend_on_the_batch():
    network, tokenizer, table = training.llama(), training.tokenizer(), training.table()
    together, alone = (reference_logprobs(network, tokenizer, table, batch_size=size) for size in (64, 1))
    assert together["logprob"].tolist() == pytest.approx(alone["logprob"].tolist(), abs=1e-9)
    assert together["example_id"].tolist() == table["example_id"].tolist() and (together["logprob"] < 0).all()


def test_a_pretrained_qwen3_memorises_and_reloads(tmp_path):
    network, tokenizer = training.qwen3(), training.tokenizer()
    network.save_pretrained(tmp_path / "hub")
    tokenizer.save_pretrained(tmp_path / "hub")
    save_pretrained_record(str(tmp_path / "hub"), None, tmp_path / "base.json")
    loaded, again = load_model(tmp_path / "base.json"), load_tokenizer(tmp_path / "base.json")
    plan = make_plan({**MEMORISE, "epochs": 10, "lr": 1e-2})
    trained = memorise(loaded, encode_rows(again, training.table()), plan, 0, 0)
    assert trained.log[-1]["loss"] < 0.8 * trained.log[0]["loss"]
    save_model(trained.model, again, tmp_path / "run" / "model.json", trained.facts)
    ids = torch.arange(20).reshape(2, 10)
    reloaded = AutoModelForCausalLM.from_pretrained(tmp_path / "run" / "weights")
    assert torch.equal(reloaded(ids).logits, trained.model(ids).logits)
