import json

import pytest
import torch
from transformers import AutoModelForCausalLM

import training
from room import no_file_above
from unlearning.config import cluster
from unlearning.config.models import Architecture, BaseModelEntry
from unlearning.models.load import (
    ModelError,
    find_device,
    load_model,
    load_tokenizer,
    read_model_json,
    save_model,
    save_pretrained_record,
)
from unlearning.models.small import small_model
from unlearning.tables.artifacts import NoRoom

IDS = torch.arange(12).reshape(2, 6)


@pytest.fixture
def saved(tmp_path):
    network = training.model()
    save_model(network, training.tokenizer(), tmp_path / "model.json", {"steps": 3, "collapsed": False})
    return network, tmp_path / "model.json"


@pytest.mark.parametrize("tied", [True, False])
def test_the_parameters_by_which_a_cluster_is_asked_are_those_of_the_model(tied):
    shape = training.SHAPE | {"layers": 3, "tied": tied}
    network = small_model(shape, training.tokenizer(), 0)
    shape["vocab_size"] = len(training.tokenizer())
    entry = BaseModelEntry(architecture=Architecture(**shape), target={"epochs": 1, "lr": 1e-3})
    assert round(cluster.billions(entry) * 1e9) == sum(p.numel() for p in network.parameters())


def test_a_saved_model_comes_back_with_equal_logits(saved):
    network, record = saved
    again = load_model(record)
    assert torch.equal(again(IDS).logits, network(IDS).logits)
    assert load_tokenizer(record).get_vocab() == training.tokenizer().get_vocab()
    assert torch.equal(AutoModelForCausalLM.from_pretrained(record.parent / "weights")(IDS).logits, network(IDS).logits)


def test_the_record_lists_every_file_and_only_safetensors_hold_weights(saved):
    network, record = saved
    facts = read_model_json(record)
    files = {str(p.relative_to(record.parent / "weights")) for p in (record.parent / "weights").rglob("*")}
    assert set(facts["files"]) == files and "model.safetensors" in files
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pkl"))]
    assert facts["architecture"] == "LlamaForCausalLM"
    # tied embeddings V·16, 4 attention matrices 16·16, 3 feed-forward 16·32, 3 norms of 16
    assert facts["parameters"] == len(training.tokenizer()) * 16 + 4 * 256 + 3 * 512 + 3 * 16
    assert facts["trained"] == {"steps": 3, "collapsed": False}
    assert sorted(p.name for p in record.parent.iterdir()) == ["model.json", "weights"]


def test_saving_again_replaces_the_model(saved):
    _, record = saved
    other = training.model(seed=5)
    save_model(other, training.tokenizer(), record, {})
    assert torch.equal(load_model(record)(IDS).logits, other(IDS).logits)


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "model.json"])
def test_where_the_disk_is_full_the_earlier_model_stays_whole(saved, monkeypatch, file):
    """safetensors and tokenizers raise errors of their own, without a number."""
    network, record = saved
    before = {p: p.read_bytes() for p in record.parent.rglob("*") if p.is_file()}
    if file == "tokenizer.json":
        monkeypatch.setattr(network, "save_pretrained", lambda folder: None)
    written = record if file == "model.json" else record.parent / "weights" / file
    told = rf"no room to write .*{'model.json' if file == 'model.json' else 'weights'}: free disk space and run again"
    with pytest.raises(NoRoom, match=told), no_file_above(written.stat().st_size - 1):
        if file == "model.json":
            save_pretrained_record("x" * 10_000, None, record)
        else:
            save_model(network, training.tokenizer(), record, {})
    assert {p: p.read_bytes() for p in record.parent.rglob("*") if p.is_file()} == before
    assert sorted(p.name for p in record.parent.iterdir()) == ["model.json", "weights"]


def test_changed_weights_are_refused(saved):
    _, record = saved
    file = record.parent / "weights" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.safetensors is not the file .* .*sha256 differs.* run again"):
        load_model(record)


def test_a_missing_file_is_named(saved):
    _, record = saved
    (record.parent / "weights" / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json is missing"):
        load_tokenizer(record)


def test_a_broken_record_is_named(tmp_path):
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(ModelError, match=r"model\.json is not a readable model record"):
        load_model(tmp_path / "model.json")
    (tmp_path / "model.json").write_text(json.dumps({"kind": "pickle"}))
    with pytest.raises(ModelError, match="should be weights or pretrained"):
        load_model(tmp_path / "model.json")


def test_a_pretrained_model_is_loaded_by_path(saved, tmp_path):
    network, record = saved
    save_pretrained_record(str(record.parent / "weights"), None, tmp_path / "hub" / "model.json")
    assert torch.equal(load_model(tmp_path / "hub" / "model.json")(IDS).logits, network(IDS).logits)


def test_a_model_that_is_not_there_is_explained(tmp_path):
    save_pretrained_record(str(tmp_path / "nowhere"), None, tmp_path / "model.json")
    with pytest.raises(ModelError, match="cannot load .*nowhere"):
        load_model(tmp_path / "model.json")


def test_pickled_weights_are_refused(saved, tmp_path):
    network, record = saved
    folder = record.parent / "weights"
    torch.save(network.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    save_pretrained_record(str(folder), None, tmp_path / "pickled.json")
    with pytest.raises(ModelError, match="cannot load"):
        load_model(tmp_path / "pickled.json")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_promised_gpu_that_is_missing_is_an_error(saved):
    with pytest.raises(ModelError, match="finds no GPU here.*device: cpu"):
        load_model(saved[1], device="cuda")
    assert find_device("auto") == "cpu"


def test_dtype_is_what_was_asked_for(saved):
    assert load_model(saved[1], dtype="bfloat16").dtype == torch.bfloat16
    with pytest.raises(ModelError, match="int8.*float32"):
        load_model(saved[1], dtype="int8")


def test_initial_weights_follow_the_seed_and_leave_the_global_state():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, same = (small_model(training.SHAPE, training.tokenizer(), 7) for _ in range(2))
    other = small_model(training.SHAPE, training.tokenizer(), 8)
    assert torch.equal(torch.get_rng_state(), before)
    assert training.same_weights(one, same) and not training.same_weights(one, other)


def test_a_wrong_architecture_is_refused():
    with pytest.raises(ValueError, match=r"unknown keys \['width'\]; allowed: hidden, layers"):
        small_model({"width": 3}, training.tokenizer(), 0)
    with pytest.raises(ValueError, match="architecture.hidden: 10 should be a multiple of 2 x heads = 8; nearest: 8"):
        small_model({"hidden": 10}, training.tokenizer(), 0)
