"""The four training scripts, one after the other, as the workflow runs them."""

import gc
import json

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import GenerationMixin

import training
from learning import METHODS
from unlearning.answer.likelihood import likelihoods
from unlearning.attacks import relearn
from unlearning.models.load import load_model, load_tokenizer
from unlearning.models.small import small_model
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.loop import TermTrainer
from unlearning.train.rows import encode_rows

torch.set_num_threads(1)


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


@pytest.mark.parametrize("name", ["npo_gd", "idk_kl", "dpo_ap", "me_gd"])
def test_unlearning_through_the_scripts_is_repeatable_to_the_byte(scripts, data, target, tmp_path, name):
    reference = {"split": "p2", "languages": ["en", "de"], "device": "cpu", "dtype": "float32"}
    if name == "dpo_ap":
        reference |= {"refusals": str(data["folder"] / "refusals.yaml"), "seed": 0, "epochs": 1}
    known = str(tmp_path / "ref.parquet")
    scripts("reference")(
        model=target, examples=data["examples"], splits=data["splits"], ref_logprobs=known, **reference
    )
    assert len(read_table(known, "ref_logprobs")) == (16 if name == "dpo_ap" else 8)
    for turn in ("one", "two"):
        scripts("unlearn")(
            target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path / turn),
            ref_logprobs=known, refusals=str(data["folder"] / "refusals.yaml"),
            method={**METHODS[name], "lr": 1e-3, "epochs": 1, "batch_size": 4}, split="p2", languages=["en", "de"],
            **RUNNING, e1=str(tmp_path / turn / "e1/model.json"), e1_weights=str(tmp_path / turn / "e1/weights"),
            work=tmp_path / "work" if turn == "two" else None,
        )  # fmt: skip
        assert (tmp_path / turn / "e1/model.json").read_bytes() == (tmp_path / turn / "model.json").read_bytes()
        assert training.same_weights(*(load_model(tmp_path / turn / f"{e}model.json") for e in ("", "e1/")))
    assert (tmp_path / "one" / "model.json").read_bytes() == (tmp_path / "two" / "model.json").read_bytes()
    assert not training.same_weights(load_model(tmp_path / "one" / "model.json"), load_model(target))
    assert len(read_table(tmp_path / "one" / "train_log.parquet", "train_log")) == 2


NO_REFERENCE = {
    "npo_gd": {"forget": "npo", "retain": "gd"},
    "dpo_gd": {"forget": "dpo", "retain": "gd"},
    "idk_ap": {"forget": "idk", "retain": "ap"},
    "simnpo_ap": {"forget": "simnpo", "retain": "ap"},
}
KL = {"forget": "npo", "retain": "kl"}


def models_alive():
    """The causal language models that something still holds, by identity."""
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if issubclass(type(thing), GenerationMixin)}


@pytest.fixture(scope="module")
def known(scripts, data, target):
    """The reference log-probabilities of the forget set and its refusals."""
    path, refusals = str(data["folder"] / "known.parquet"), str(data["folder"] / "refusals.yaml")
    scripts("reference")(
        model=target, examples=data["examples"], splits=data["splits"], ref_logprobs=path, split="p2",
        languages=["en", "de"], refusals=refusals, epochs=1, **RUNNING,
    )  # fmt: skip
    return path


@pytest.mark.parametrize(("method", "alive"), [(m, 1) for m in NO_REFERENCE.values()] + [(KL, 2)], ids=str)
def test_only_a_term_that_reads_the_reference_holds_one(
    scripts, data, target, known, tmp_path, monkeypatch, method, alive
):
    before, seen, whole_step = models_alive(), [], TermTrainer.training_step

    def step(self, *args, **kwargs):
        seen.append(len(models_alive() - before))
        return whole_step(self, *args, **kwargs)

    monkeypatch.setattr(TermTrainer, "training_step", step)
    scripts("unlearn")(
        target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path), ref_logprobs=known,
        refusals=str(data["folder"] / "refusals.yaml"), split="p2", languages=["en", "de"], **RUNNING,
        method={**method, "lr": 1e-3, "epochs": 1, "batch_size": 8},
    )  # fmt: skip
    assert seen == [alive]


def test_terms_on_spans_and_attention_find_what_they_need_through_the_script(scripts, data, target, tmp_path):
    scripts("unlearn")(
        target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path),
        method={"forget": "palu", "retain": "attention_shift", "lr": 1e-3, "epochs": 2, "batch_size": 8}, split="p2",
        languages=["en", "de"], **RUNNING,
    )  # fmt: skip
    log = read_table(tmp_path / "train_log.parquet", "train_log")
    assert (log["forget_loss"] > 0).all() and (log["retain_loss"] > 0).all()
    before, after = load_model(target).state_dict(), load_model(tmp_path / "model.json").state_dict()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    # attention shifting lets decoder layers train only, here the one there is
    assert changed == {key for key in before if key.startswith("model.layers.0.")}


@pytest.mark.parametrize("name", ["mp_idk", "tv"])
def test_methods_with_their_own_schedule_run_through_the_script(scripts, data, target, tmp_path, name):
    scripts("unlearn")(
        target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path),
        refusals=str(data["folder"] / "refusals.yaml"), split="p2", languages=["en", "de"], **RUNNING,
        method={"method": name, "lr": 1e-3, "epochs": 1, "batch_size": 4},
    )  # fmt: skip
    assert not training.same_weights(load_model(tmp_path / "model.json"), load_model(target))
    assert len(read_table(tmp_path / "train_log.parquet", "train_log")) == 2


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({"forget": "npo"}, "method npo × none needs ref_logprobs"),
        ({"method": "mp_idk"}, "method mp_idk needs refusals"),
    ],
)
def test_a_method_without_what_it_needs_is_refused(scripts, data, target, tmp_path, method, said):
    with pytest.raises(ValueError, match=said):
        scripts("unlearn")(
            target=target, examples=data["examples"], splits=data["splits"], **outputs(tmp_path),
            method={**method, "lr": 1e-3, "epochs": 1}, split="p2", languages=["en"], **RUNNING,
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


def test_relearning_trains_a_few_steps_on_part_of_the_forget_set(scripts, data, target, tmp_path):
    settings = {"source": "forget", "share": 0.5, "steps": 5, "batch_size": 3, "lr": 1e-2}
    given = {"split": "p2", "languages": ["en", "de"], **RUNNING, "device": "cpu"}
    for turn in ("one", "two"):
        scripts("attack_weights")(
            source=target, model=str(tmp_path / turn / "model.json"), weights=str(tmp_path / turn / "weights"),
            attack="relearn", settings=settings, examples=data["examples"], splits=data["splits"], **given,
        )  # fmt: skip
    records = [json.loads((tmp_path / turn / "model.json").read_text()) for turn in ("one", "two")]
    assert records[0] == records[1] and records[0]["trained"]["attack"] == {"relearn": settings}
    assert records[0]["trained"]["steps"] == 12  # of the model attacked: the attack's own are its settings
    before, after = load_model(target), load_model(tmp_path / "one" / "model.json")
    assert not training.same_weights(before, after)
    items = training.table()[lambda t: t["person_id"].isin(["memorised0", "memorised1"])]
    items = items.rename(columns={"answer": "reference"}).assign(item_id=items["example_id"], candidates=None)
    was, now = (likelihoods(m, load_tokenizer(target), items, 8)["logprob"].mean() for m in (before, after))
    assert now > was + 0.5  # nats an answer


def test_a_share_of_knowledge_is_the_same_whatever_its_order():
    names = np.array(["b", "a", "c", "d", "e"])
    assert relearn.chosen(names, 0.5, 0).tolist() == relearn.chosen(names[::-1], 0.5, 0).tolist()
    assert [len(relearn.chosen(names, share, 0)) for share in (0.01, 0.4, 1.0)] == [1, 2, 5]
