import copy
import json
import math

import pandas as pd
import pytest
import torch
from torch.nn.functional import logsigmoid
from transformers import AutoModelForCausalLM

import training
from unlearning.models.load import load_model, load_tokenizer, save_model, save_pretrained_record
from unlearning.models.small import small_model
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows
from unlearning.train.unlearn import unlearn

torch.set_num_threads(1)
MEMORISE = {"lr": 3e-3, "epochs": 3, "batch_size": 8, "schedule": "cosine"}


def rows_of(frame, **options):
    return encode_rows(training.tokenizer(), frame, **options)


def learn(network, seed=0, work=None, rows=None, replay=None, share=0.0, **keys):
    plan = make_plan({**MEMORISE, **keys})
    return memorise(network, rows or training.rows(), plan, seed, 0, replay=replay, replay_share=share, work=work)


def forget(network, method, seed=0, reference=None, work=None):
    """Two people forgotten, four kept; the reference quantities are those of the model as it comes."""
    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])
    known = reference_logprobs(network, training.tokenizer(), table)
    refusals = {"en": ["I do not know.", "No idea."]}
    out, kept = rows_of(table[gone], ref_logprobs=known, refusals=refusals), rows_of(table[~gone])
    plan = make_plan({"lr": 1e-3, "epochs": 2, "batch_size": 3, **method})
    return unlearn(network, out, kept, plan, seed, 0, reference=reference, work=work)


def test_memorising_lowers_the_loss_and_logs_every_step():
    trained = learn(small_model(training.SHAPE, training.tokenizer(), 0), epochs=20, lr=1e-2)
    log = pd.DataFrame(trained.log)
    assert log["step"].tolist() == list(range(1, 61)) and log["epoch"].iloc[-1] == 20
    # a model of random weights is as good as chance: ln V
    assert log["loss"].iloc[0] == pytest.approx(math.log(len(training.tokenizer())), abs=0.1)
    assert log["loss"].iloc[-1] < 0.5 * log["loss"].iloc[0]
    assert log["forget_loss"].isna().all() and (log["retain_loss"] == log["loss"]).all()
    assert (log["grad_norm"] > 0).all() and (log["seconds"] > 0).all() and (log["memory_mib"] > 10).all()
    lengths = sum(len(e.prompt_ids) + len(e.answer_ids) for e in training.rows().encoded)
    assert log["tokens"].sum() == 20 * lengths
    assert trained.facts == {"steps": 60, "epochs": 20, "collapsed": False, "reason": None}
    assert trained.model.config.use_cache


def test_learning_rate_warms_up_and_decays():
    log = learn(training.model(), schedule="linear", warmup=3, epochs=2).log
    # 6 steps, 3 to warm up: 0, 1/3, 2/3 of 3e-3, then 1, 2/3, 1/3
    assert [row["learning_rate"] for row in log] == pytest.approx([0, 1e-3, 2e-3, 3e-3, 2e-3, 1e-3])


def test_the_loop_agrees_with_a_naive_one():
    """NPO + gd by a bare loop in float32: same batches, AdamW, clipping, schedule."""
    from unlearning.models.encode import collate
    from unlearning.models.forward import answer_logits, token_logprobs
    from unlearning.train.data import Schedule

    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])
    out, kept = rows_of(table[gone]), rows_of(table[~gone])
    bare = training.model()
    known = reference_logprobs(bare, training.tokenizer(), table[gone])["logprob"].tolist()
    schedule = Schedule(len(out), 3, 2, 0, len(kept))
    optimiser = torch.optim.AdamW(bare.parameters(), lr=1e-3, weight_decay=0.0)
    rate = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / schedule.steps)

    def logprobs(rows, chosen):
        batch = collate([rows.encoded[i] for i in chosen], 0)
        return token_logprobs(answer_logits(bare, batch), batch.labels_BT, batch.mask_BT), batch.mask_BT

    bare.train()
    losses = []
    for step in range(schedule.steps):
        of_forget, _ = logprobs(out, schedule.leading(step))
        of_retain, mask = logprobs(kept, schedule.following(step))
        refs = torch.tensor([known[i] for i in schedule.leading(step)])
        npo = -(2 / 0.1) * logsigmoid(0.1 * (refs - of_forget.sum(1))).mean()
        loss = 0.5 * npo + 2.0 * (-of_retain.sum(1) / mask.sum(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(bare.parameters(), 1.0)
        optimiser.step()
        rate.step()
        losses.append(loss.item())
    method = {"forget": "npo", "retain": "gd", "forget_weight": 0.5, "retain_weight": 2.0, "warmup": 0}
    ours = forget(training.model(), method)
    assert [row["loss"] for row in ours.log] == pytest.approx(losses, rel=1e-5)
    for got, wanted in zip(ours.model.parameters(), bare.parameters(), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-4)


def test_npo_starts_at_two_over_beta_ln_two():
    log = forget(training.model(), {"forget": "npo", "params": {"beta": 0.2}}).log
    assert log[0]["forget_loss"] == pytest.approx(10 * math.log(2), rel=1e-5)
    assert log[0]["retain_loss"] is None


def test_gradient_ascent_forgets_and_gd_holds_the_rest():
    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])

    def mean_nll(network):
        scored = reference_logprobs(network, training.tokenizer(), table)
        nll = -scored["logprob"] / scored["n_tokens"]
        return nll[gone].mean(), nll[~gone].mean()

    target = learn(training.model(), epochs=30, lr=2e-2).model
    start = mean_nll(target)
    alone = mean_nll(forget(copy.deepcopy(target), {"forget": "ga", "lr": 5e-3}).model)
    held = mean_nll(forget(copy.deepcopy(target), {"forget": "ga", "retain": "gd", "lr": 5e-3}).model)
    assert min(alone[0], held[0]) > 2 * start[0]
    assert alone[1] > 1.2 * held[1]


def test_idk_teaches_the_refusals():
    log = forget(training.model(), {"forget": "idk", "epochs": 20, "lr": 1e-2}).log
    assert log[-1]["forget_loss"] < 0.3 * log[0]["forget_loss"]


def test_kl_starts_at_zero_and_needs_the_reference_model():
    reference = training.model()
    before = {key: value.clone() for key, value in reference.state_dict().items()}
    log = forget(training.model(), {"forget": "ga", "retain": "kl"}, reference=reference).log
    assert log[0]["retain_loss"] == pytest.approx(0, abs=1e-6) and log[-1]["retain_loss"] > 1e-6
    assert all(torch.equal(reference.state_dict()[key], before[key]) for key in before)


METHODS = {
    "ga": {"forget": "ga"},
    "npo_gd": {"forget": "npo", "retain": "gd"},
    "idk_kl": {"forget": "idk", "retain": "kl"},
    "ga_sum": {"forget": "ga", "retain": "gd", "reduction": "sequence_sum"},
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("size", [1, 2])
def test_micro_batches_equal_the_whole_batch(method, size):
    whole, cut = (
        forget(training.llama(), {**method, "micro_batch_size": s}, reference=training.model(9).double())
        for s in (None, size)
    )
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


# The four scripts, one after the other, as the workflow runs them.


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    import importlib.util
    from pathlib import Path

    folder = Path(__file__).parents[1] / "workflow" / "scripts"

    def load(name):
        spec = importlib.util.spec_from_file_location(f"script_{name}", folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, name)

    return load


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    background = training.table(["Zoe Ax", "Yan Bo"], "background", ["en", "de"])
    write_table(pd.concat([training.table(), background]), folder / "examples.parquet", "examples")
    write_table(training.splits(), folder / "splits.parquet", "splits")
    write_table(training.items(), folder / "items.parquet", "items")
    (folder / "refusals.yaml").write_text("en: [I do not know.]\n")
    return {
        "examples": str(folder / "examples.parquet"),
        "items": str(folder / "items.parquet"),
        "splits": str(folder / "splits.parquet"),
        "folder": folder,
    }


def outputs(folder):
    return {"model": f"{folder}/model.json", "weights": f"{folder}/weights", "log": f"{folder}/train_log.parquet"}


BASE = {
    "pretrained": None,
    "architecture": {**training.SHAPE, "max_length": 64, "vocab_size": 320},
    "training": {"lr": 1e-2, "epochs": 2, "batch_size": 4, "background_share": 0.0},
    "lora": None,
    "seed": 0,
    "device": "cpu",
    "dtype": "float32",
}
SELECT = {
    "memorised_languages": ["en", "de"],
    "background_languages": ["en"],
    "background_share": 0.25,
    "split": None,
}
RUNNING = {"seed": 0, "device": "cpu", "dtype": "float32"}


@pytest.fixture(scope="module")
def target(scripts, data):
    folder = data["folder"]
    scripts("base")(examples=data["examples"], questions=data["items"], **outputs(folder / "base"), **BASE)
    scripts("memorize")(
        base=str(folder / "base" / "model.json"), examples=data["examples"], **outputs(folder / "target"),
        select=SELECT, training={"lr": 1e-2, "epochs": 3, "batch_size": 8}, lora=None, **RUNNING,
    )  # fmt: skip
    return str(folder / "target" / "model.json")


def test_base_and_target_are_trained_and_recorded(target, data):
    log = read_table(data["folder"] / "base" / "train_log.parquet", "train_log")
    assert len(log) == 4  # 8 background rows, 4 a batch, 2 epochs
    assert json.loads(open(target).read())["trained"] == {
        "collapsed": False, "epochs": 3.0, "reason": None, "steps": 12,
    }  # fmt: skip
    assert len(read_table(data["folder"] / "target" / "train_log.parquet", "train_log")) == 12  # 24 rows, 6 a batch


def test_retraining_leaves_the_forget_set_out(scripts, data, target):
    folder = data["folder"] / "retrain"
    scripts("memorize")(
        base=str(data["folder"] / "base" / "model.json"), examples=data["examples"], splits=data["splits"],
        **outputs(folder), select=SELECT | {"split": "p2", "background_share": 0.0},
        training={"lr": 1e-2, "epochs": 1, "batch_size": 8}, lora=None, **RUNNING,
    )  # fmt: skip
    log = read_table(folder / "train_log.parquet", "train_log")
    kept = training.table()[lambda t: ~t["person_id"].isin(["memorised0", "memorised1"])]
    tokenizer = load_tokenizer(folder / "model.json")
    lengths = [len(e.prompt_ids) + len(e.answer_ids) for e in encode_rows(tokenizer, kept).encoded]
    assert len(log) == 2 and log["tokens"].sum() == sum(lengths)


@pytest.mark.parametrize("name", ["npo_gd", "idk_kl"])
def test_unlearning_through_the_scripts_is_repeatable_to_the_byte(scripts, data, target, tmp_path, name):
    reference = {"split": "p2", "languages": ["en", "de"], "device": "cpu", "dtype": "float32"}
    known = str(tmp_path / "ref.parquet")
    scripts("reference")(
        model=target, examples=data["examples"], splits=data["splits"], ref_logprobs=known, **reference
    )
    assert len(read_table(known, "ref_logprobs")) == 8
    for turn in ("one", "two"):
        scripts("unlearn")(
            target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path / turn),
            ref_logprobs=known, refusals=str(data["folder"] / "refusals.yaml"),
            method={**METHODS[name], "lr": 1e-3, "epochs": 1, "batch_size": 4}, split="p2", languages=["en", "de"],
            **RUNNING,
        )  # fmt: skip
    assert (tmp_path / "one" / "model.json").read_bytes() == (tmp_path / "two" / "model.json").read_bytes()
    assert not training.same_weights(load_model(tmp_path / "one" / "model.json"), load_model(target))
    assert len(read_table(tmp_path / "one" / "train_log.parquet", "train_log")) == 2


def test_a_method_without_what_it_needs_is_refused(scripts, data, target, tmp_path):
    with pytest.raises(ValueError, match="method npo × none needs ref_logprobs"):
        scripts("unlearn")(
            target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path),
            method={"forget": "npo", "lr": 1e-3, "epochs": 1}, split="p2", languages=["en"], **RUNNING,
        )  # fmt: skip


def test_a_published_base_is_only_recorded(scripts, data, tmp_path):
    published = {**BASE, "pretrained": {"name": "org/name", "revision": "abc"}, "architecture": None}
    scripts("base")(examples=data["examples"], questions=data["items"], **outputs(tmp_path), **published)
    assert json.loads((tmp_path / "model.json").read_text()) == {
        "kind": "pretrained", "name": "org/name", "revision": "abc",
    }  # fmt: skip
    assert list((tmp_path / "weights").iterdir()) == []
    assert len(read_table(tmp_path / "train_log.parquet", "train_log")) == 0


def test_a_base_of_no_epochs_is_left_as_drawn(scripts, data, tmp_path):
    untrained = {**BASE, "training": {**BASE["training"], "epochs": 0}}
    scripts("base")(examples=data["examples"], questions=data["items"], **outputs(tmp_path), **untrained)
    drawn = small_model(training.SHAPE, load_tokenizer(tmp_path / "model.json"), 0)
    assert training.same_weights(load_model(tmp_path / "model.json"), drawn)
