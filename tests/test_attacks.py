"""Attacks: what they do to weights and decoding, how they compose, and the scripts that carry them out."""

import copy
import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from answering import PAIRS, make_items, model, tokenizer
from unlearning.answer.decoding import Decoding
from unlearning.answer.generate import generate
from unlearning.answer.likelihood import likelihoods
from unlearning.attacks import focus_on_key, probab, quantize
from unlearning.config.compose import Parts, compose
from unlearning.config.methods import Attack
from unlearning.models.load import ModelError, load_model, save_model
from unlearning.tables.artifacts import read_table, write_table

SCRIPTS = Path(__file__).parents[1] / "workflow" / "scripts"


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"script_{name}", SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def linear_weights(network) -> dict[str, np.ndarray]:
    return {
        name: module.weight.detach().numpy()
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Linear) and name != "lm_head"
    }


@pytest.fixture
def quantized():
    return quantize.quantize(copy.deepcopy(model()), **quantize.PARAMS)


def test_quantised_weights_have_at_most_sixteen_evenly_spaced_levels_a_group(quantized):
    before, after = linear_weights(model()), linear_weights(quantized)
    assert len(before) == 14  # 2 layers of q, k, v, o, gate, up, down
    for name, weight in after.items():
        groups, original = weight.reshape(-1, 32), before[name].reshape(-1, 32)
        scale = np.abs(original).max(1, keepdims=True) / 7.5  # INT4: 15 steps between −max and max
        steps = groups / scale
        np.testing.assert_allclose(steps, steps.round(), atol=1e-4)
        assert steps.round().min() >= -8 and steps.round().max() <= 7
        assert max(len(np.unique(group)) for group in groups) <= 16
        assert (np.abs(groups - original) <= scale * 0.5001).all()


def test_quantising_changes_the_logits_and_leaves_embeddings(quantized):
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        gap = (quantized(ids).logits - model()(ids).logits).abs().max()
    assert 1e-3 < gap < 50
    assert torch.equal(quantized.get_input_embeddings().weight, model().get_input_embeddings().weight)
    assert quantized.get_output_embeddings().weight is quantized.get_input_embeddings().weight


def test_eight_bits_change_less_than_four():
    def gap(bits):
        after = linear_weights(quantize.quantize(copy.deepcopy(model()), bits, 32))
        return sum(np.abs(after[name] - weight).sum() for name, weight in linear_weights(model()).items())

    assert 0 < gap(8) < gap(4) / 10


@pytest.mark.parametrize(("bits", "group", "message"), [(1, 32, "from 2 to 8"), (4, 24, "24 does not divide the 32")])
def test_impossible_quantisation_is_refused(bits, group, message):
    with pytest.raises(quantize.QuantizeError, match=message):
        quantize.quantize(copy.deepcopy(model()), bits, group)


def test_probab_is_the_papers_decoding():
    assert probab.decoding(**probab.PARAMS) == Decoding(temperature=0.8, top_p=0.95, samples=5)


NAMES = {name: name for name in ("probab", "quantize", "relearn", "focus_on_key", "few_shot")} | {"hot": "probab"}
ENTRIES = {name: Attack(attack=kind) for name, kind in NAMES.items()}


def test_compositions_go_from_weights_to_decoding():
    assert compose("none", ENTRIES).all == ()
    assert compose("quantize+probab", ENTRIES) == Parts(("quantize",), (), ("probab",))
    assert compose("quantize+focus_on_key", ENTRIES) == Parts(("quantize",), ("focus_on_key",), ())
    # within a kind they apply as they are written
    assert compose("relearn+quantize+few_shot+focus_on_key", ENTRIES).weights == ("relearn", "quantize")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("probab+quantize", "write it as 'quantize\\+probab'"),
        ("quantize+quantize", "each once"),
        ("hot+probab", "hot and probab both choose the decoding"),
    ],
)
def test_impossible_compositions_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        compose(name, ENTRIES)


@pytest.fixture
def saved(tmp_path):
    """A model on disk with its items and splits."""
    save_model(
        copy.deepcopy(model()), tokenizer(), tmp_path / "model.json", {"epochs": 3, "attack": {"relearn": {"steps": 1}}}
    )
    items = make_items().assign(
        benchmark="mu2",
        task="qa",
        language="en",
        aliases=[[]] * len(PAIRS),
        options=[[]] * len(PAIRS),
        parts=[[]] * len(PAIRS),
    )
    write_table(items, tmp_path / "items.parquet", "items")
    splits = pd.DataFrame(
        {"split": "f1", "knowledge_id": ["p1/attribute", "p2/attribute"], "group": ["forget", "retain"]}
    )
    write_table(splits, tmp_path / "splits.parquet", "splits")
    return tmp_path


def run_answer(folder: Path, source: str = "model.json", **changes) -> pd.DataFrame:
    arguments = {
        "model": str(folder / source), "questions": str(folder / "items.parquet"), "decoding": {},
        "answers": str(folder / "answers.parquet"), "likelihoods": str(folder / "likelihoods.parquet"),
        "max_new_tokens": 48, "batch_size": 8, "seed": 1, "device": "cpu", **changes,
    }  # fmt: skip
    script("answer")(**arguments)
    return read_table(folder / "answers.parquet", "answers")


def test_answer_and_judge_scripts_write_their_tables(saved):
    found = run_answer(saved)
    assert found["text"].tolist() == [answer for _, _, answer, _ in PAIRS]
    scored = read_table(saved / "likelihoods.parquet", "likelihoods")
    expected = likelihoods(model(), tokenizer(), make_items(), 8)
    np.testing.assert_allclose(scored["logprob"], expected["logprob"], atol=1e-5)
    files = [str(saved / f"{name}.parquet") for name in ("answers", "items", "verdicts")]
    script("judge")(*files, judge="rule")
    assert read_table(files[-1], "verdicts")["correct"].all()
    with pytest.raises(ValueError, match="judge 'rulle' is unknown; judges are .*rule"):
        script("judge")(*files, judge="rulle")


def test_equal_answers_are_equal_files(saved):
    tables = ("answers.parquet", "likelihoods.parquet")
    run_answer(saved)
    first = [(saved / name).read_bytes() for name in tables]
    run_answer(saved)
    assert [(saved / name).read_bytes() for name in tables] == first


def test_an_attack_can_be_asked_on_forgotten_knowledge_only(saved):
    found = run_answer(
        saved, decoding={"probab": probab.PARAMS}, splits=str(saved / "splits.parquet"), split="f1", only="forget"
    )
    assert found["item_id"].tolist() == ["p1/attribute/en"] * 5


def test_an_attack_on_prompts_changes_what_is_asked_and_nothing_else(saved):
    """Asked in the split's way: the question is the attack's, the identity the item's, the decoding greedy."""
    attack = {"attack": "focus_on_key", "params": {"times": 2, "spans": "pos", "pipeline": "none"}}
    found = run_answer(saved, prompts=[attack])
    asked = make_items().assign(language="en")
    asked = focus_on_key.prompts(asked, **attack["params"])
    assert asked["messages"][0][0]["content"] == "Where does Ada Ada live live?"
    expected = generate(model(), tokenizer(), asked, Decoding(), 1, 8, 48)
    assert found["text"].tolist() == expected["text"].tolist()
    assert found["text"].tolist() != [answer for _, _, answer, _ in PAIRS]  # this model knows its questions by heart
    scored = read_table(saved / "likelihoods.parquet", "likelihoods")
    np.testing.assert_allclose(scored["logprob"], likelihoods(model(), tokenizer(), asked, 8)["logprob"], atol=1e-4)


def test_solved_examples_are_shown_by_the_script_from_the_splits_retain_set(saved):
    attack = {"attack": "few_shot", "params": {"shots": 1, "group": "retain"}}
    found = run_answer(saved, prompts=[attack], splits=str(saved / "splits.parquet"), split="f1", only="forget")
    assert found["item_id"].tolist() == ["p1/attribute/en"]


def test_quantize_script_saves_a_model_that_answers(saved):
    attacked = saved / "attacked"
    script("attack_weights")(
        str(saved / "model.json"),
        str(attacked / "model.json"),
        str(attacked / "weights"),
        "quantize",
        quantize.PARAMS,
        device="cpu",
    )
    record = json.loads((attacked / "model.json").read_text())
    attacks = {"relearn": {"steps": 1}, "quantize": {"bits": 4, "group_size": 32}}  # the earlier one is kept
    assert record["trained"] == {"epochs": 3, "attack": attacks}
    weights = linear_weights(load_model(attacked / "model.json"))
    assert all(len(np.unique(group)) <= 16 for w in weights.values() for group in w.reshape(-1, 32))
    assert set(record["files"]) == set(json.loads((saved / "model.json").read_text())["files"])
    assert len(run_answer(saved, "attacked/model.json")) == len(PAIRS)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_promised_gpu_that_is_absent_is_an_error(saved):
    with pytest.raises(ModelError, match="finds no GPU here"):
        run_answer(saved, device="cuda")
