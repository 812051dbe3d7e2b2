"""The task vector: subtracting on tensors and on files, without either model in memory; when training stops."""

import json
import weakref

import pytest
import torch
from safetensors.torch import load_file, save_file

import training
from learning import forget
from unlearning.methods import tv
from unlearning.models.load import ModelError, load_model, save_model

torch.set_num_threads(1)


def test_subtraction_by_hand():
    learnt, over = torch.tensor([1.0, 2.0]), torch.tensor([1.5, 1.0])
    # 1 − 4·0.5 = −1; 2 − 4·(−1) = 6
    assert tv.subtracted(learnt, over, 4.0).tolist() == [-1.0, 6.0]


def test_alpha_zero_is_the_target_to_the_last_bit_and_minus_one_the_overfit_model():
    generator = torch.Generator().manual_seed(0)
    learnt, over = (torch.randn(1000, generator=generator) for _ in range(2))
    assert torch.equal(tv.subtracted(learnt, over, 0.0), learnt)
    torch.testing.assert_close(tv.subtracted(learnt, over, -1.0), over)
    exact = learnt.double() - 0.3 * (over.double() - learnt.double())
    torch.testing.assert_close(tv.subtracted(learnt, over, 0.3).double(), exact, rtol=0, atol=1e-6)


def test_half_precision_is_computed_in_float32():
    # in bfloat16, 1 − 3·(1.0078125 − 1) would be taken from rounded steps; float32 gives 0.9765625, rounded once
    learnt, over = (torch.tensor([x], dtype=torch.bfloat16) for x in (1.0, 1.0078125))
    got = tv.subtracted(learnt, over, 3.0)
    assert got.dtype == torch.bfloat16 and got.item() == 0.9765625
    # a target stored in bfloat16 and trained in float32
    assert tv.subtracted(learnt, torch.tensor([1.5]), 1.0).tolist() == [0.5]


def record(folder, files):
    """A target of these safetensors files, in a `weights` folder that its record lists."""
    from unlearning.tables.artifacts import sha256_file

    (folder / "weights").mkdir(parents=True)
    for name, tensors in files.items():
        save_file(tensors, folder / "weights" / name)
    listed = {name: sha256_file(folder / "weights" / name) for name in files}
    (folder / "model.json").write_text(json.dumps({"kind": "weights", "folder": "weights", "files": listed}))
    return folder / "model.json"


def test_files_are_merged_tensor_by_tensor_whatever_their_shards(tmp_path):
    generator = torch.Generator().manual_seed(1)
    learnt = {name: torch.randn(3, 2, generator=generator) for name in "abc"}
    learnt |= {"steps": torch.tensor(7), "scale": torch.tensor(0.5)}
    over = {name: tensor + torch.ones_like(tensor) for name, tensor in learnt.items()}
    target = record(tmp_path / "target", {"1.safetensors": {n: learnt[n] for n in ("a", "steps")},
                                          "2.safetensors": {n: learnt[n] for n in ("b", "c", "scale")}})  # fmt: skip
    (tmp_path / "over").mkdir()
    save_file({n: over[n] for n in ("a", "b", "steps", "scale")}, tmp_path / "over/x.safetensors", {"format": "pt"})
    save_file({"c": over["c"]}, tmp_path / "over/y.safetensors")
    tv.subtract(target, tmp_path / "over", alpha=2.0)
    merged = load_file(tmp_path / "over/x.safetensors") | load_file(tmp_path / "over/y.safetensors")
    assert merged.keys() == learnt.keys() and merged["steps"].item() == 7  # a counter is the target's
    assert merged["scale"].item() == pytest.approx(0.5 - 2)
    for name in "abc":
        torch.testing.assert_close(merged[name], learnt[name] - 2)
    assert sorted(p.name for p in (tmp_path / "over").iterdir()) == ["x.safetensors", "y.safetensors"]


def test_never_more_than_a_few_tensors_are_in_memory(tmp_path, monkeypatch):
    n, size = 20, 1000
    learnt = {f"t{i}": torch.full((size,), float(i)) for i in range(n)}
    target = record(tmp_path / "target", {"m.safetensors": learnt})
    (tmp_path / "over").mkdir()
    save_file({name: tensor + 1 for name, tensor in learnt.items()}, tmp_path / "over/m.safetensors")
    met, most, subtracted = [], [], tv.subtracted

    def counted(learnt, over, alpha):
        result = subtracted(learnt, over, alpha)
        met.extend(weakref.ref(tensor) for tensor in (learnt, over, result))
        most.append(sum(tensor.nbytes for ref in met if (tensor := ref()) is not None))
        return result

    monkeypatch.setattr(tv, "subtracted", counted)
    tv.subtract(target, tmp_path / "over", alpha=1.0)
    # of 3 × 20 tensors of 4 bytes a number: the two read, the one to be written, and the one written last
    assert len(most) == n and max(most) <= 4 * 4 * size


def test_the_target_may_be_a_folder_of_a_published_model(tmp_path):
    record(tmp_path, {"m.safetensors": {"a": torch.ones(2)}})
    (tmp_path / "model.json").write_text(json.dumps({"kind": "pretrained", "name": str(tmp_path / "weights")}))
    (tmp_path / "over").mkdir()
    save_file({"a": torch.zeros(2)}, tmp_path / "over/m.safetensors")
    tv.subtract(tmp_path / "model.json", tmp_path / "over", alpha=1.0)
    assert load_file(tmp_path / "over/m.safetensors")["a"].tolist() == [2.0, 2.0]


def test_a_target_without_a_tensor_is_refused(tmp_path):
    target = record(tmp_path / "target", {"m.safetensors": {"a": torch.ones(2)}})
    (tmp_path / "over").mkdir()
    save_file({"a": torch.ones(2), "b": torch.ones(2)}, tmp_path / "over/m.safetensors")
    with pytest.raises(ModelError, match="model.json has no tensor 'b', .* a target that this workflow trained"):
        tv.subtract(target, tmp_path / "over", alpha=1.0)


@pytest.mark.parametrize("make", [training.model, training.qwen3], ids=["tied", "untied"])
def test_a_saved_run_is_the_target_minus_what_was_learnt(tmp_path, make):
    network, tokenizer = make(), training.tokenizer()
    save_model(network, tokenizer, tmp_path / "target/model.json")
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    method = {"method": "tv", "params": {"alpha": 5.0}, "lr": 1e-2}
    run = forget(network, method, target=tmp_path / "target/model.json")
    save_model(run.model, tokenizer, tmp_path / "run/model.json", run.facts, run.finish)
    merged = load_model(tmp_path / "run/model.json").state_dict()  # its files are those that model.json lists
    assert any(not torch.equal(tensor, before[name]) for name, tensor in run.model.state_dict().items())
    for name, over in run.model.state_dict().items():
        torch.testing.assert_close(merged[name], before[name] - 5 * (over - before[name]), rtol=0, atol=1e-5)


def test_a_model_kept_after_an_epoch_is_subtracted_too(tmp_path):
    def save(name):
        return lambda network, facts, finish=None: save_model(network, tokenizer, tmp_path / name, facts, finish)

    tokenizer, target = training.tokenizer(), tmp_path / "target/model.json"
    save_model(training.model(), tokenizer, target)
    method = {"method": "tv", "params": {"alpha": 5.0}, "lr": 1e-2, "schedule": "constant", "warmup": 0}
    forget(training.model(), method, target=target, after={1: save("e1/model.json")})
    short = forget(training.model(), {**method, "epochs": 1}, target=target)
    save("short/model.json")(short.model, short.facts, short.finish)
    assert training.same_weights(load_model(tmp_path / "e1/model.json"), load_model(tmp_path / "short/model.json"))


def test_training_stops_when_an_epoch_is_overfit_and_at_the_latest_after_all():
    method = {"method": "tv", "epochs": 30, "lr": 3e-2, "schedule": "constant", "params": {"overfit_nll": 4.0}}
    run = forget(training.model(), method)
    # 8 rows, 3 a step: three steps an epoch
    epochs = [sum(row["forget_loss"] for row in run.log[i : i + 3]) / 3 for i in range(0, len(run.log), 3)]
    assert len(run.log) % 3 == 0 and 1 < len(epochs) < 30
    assert epochs[-1] <= 4.0 and min(epochs[:-1]) > 4.0
    assert run.facts["epochs"] == len(epochs) and not run.facts["collapsed"]
    assert len(forget(training.model(), {**method, "epochs": 2}).log) == 6
