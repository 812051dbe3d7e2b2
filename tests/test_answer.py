"""Answers: right, and independent of how they were batched."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from answering import PAIRS, make_items, model, tokenizer
from unlearning.answer.batches import by_length, explain_memory
from unlearning.answer.decoding import AnswerError, Decoding
from unlearning.answer.generate import generate, nucleus, stop_ids
from unlearning.answer.select import select
from unlearning.models.encode import encode_prompt
from unlearning.models.load import save_model
from unlearning.tables.artifacts import to_table, write_table
from unlearning.tables.shards import shard_file

GREEDY = Decoding()
SAMPLED = Decoding(temperature=2.0, top_p=0.95, samples=5)
UNSEEN = [
    ("en", f"{word} Ada{'?' * (i % 5)}", "", None) for i, word in enumerate("Who When Ben Why 约克 ชา trinkt".split())
]


def ask(items=None, decoding=GREEDY, seed=1, batch_size=64, max_new_tokens=48):
    items = make_items() if items is None else items
    return generate(model(), tokenizer(), items, decoding, seed, batch_size, max_new_tokens)


def test_memorised_answers_come_back_whole_in_every_script_and_in_order():
    found = ask(batch_size=5)
    assert found["text"].tolist() == [answer for _, _, answer, _ in PAIRS]
    assert found["item_id"].tolist() == make_items()["item_id"].tolist()
    assert set(found["finish_reason"]) == {"stop"}


def test_the_table_keeps_its_contract():
    assert to_table(ask(), "answers").num_rows == len(PAIRS)


def test_tokens_count_the_end_of_text():
    found = ask()
    lengths = [len(tokenizer()(answer, add_special_tokens=False).input_ids) + 1 for _, _, answer, _ in PAIRS]
    assert found["n_tokens"].tolist() == lengths


def test_greedy_does_not_depend_on_batches_or_order():
    items = pd.concat([make_items(), make_items(UNSEEN).assign(item_id=[f"u{i}" for i in range(len(UNSEEN))])])
    alone = ask(items, batch_size=1)
    pd.testing.assert_frame_equal(ask(items, batch_size=64), alone)
    pd.testing.assert_frame_equal(ask(items, batch_size=7), alone)
    turned = ask(items.iloc[::-1], batch_size=3).iloc[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(turned, alone)


def test_greedy_agrees_with_transformers():
    items = make_items(PAIRS + UNSEEN)
    found = ask(items, max_new_tokens=20)
    for messages, text, n in zip(items["messages"], found["text"], found["n_tokens"], strict=True):
        ids = torch.tensor([encode_prompt(tokenizer(), messages)])
        out = model().generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=20, pad_token_id=0
        )
        written = out[0, ids.shape[1] :]
        assert n == len(written)
        assert text == tokenizer().decode(written, skip_special_tokens=True).rstrip("\ufffd")


def other_model(kind: str):
    """Random weights, wide enough apart that answers vary: absolute positions (GPT-2), a sliding window (Gemma 3)."""
    vocab, eos = len(tokenizer()), tokenizer().eos_token_id
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if kind == "gpt2":
            from transformers import GPT2Config, GPT2LMHeadModel

            config = GPT2Config(
                vocab_size=vocab, n_embd=32, n_layer=2, n_head=2, initializer_range=0.4, tie_word_embeddings=False
            )
            network = GPT2LMHeadModel(config)
        else:
            from transformers import Gemma3ForCausalLM, Gemma3TextConfig

            config = Gemma3TextConfig(
                vocab_size=vocab, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                num_key_value_heads=1, head_dim=16, sliding_window=8, initializer_range=0.4, tie_word_embeddings=False,
                layer_types=["sliding_attention", "full_attention"],
            )  # fmt: skip
            network = Gemma3ForCausalLM(config)
    # a tenth of all tokens ends an answer, so that rows leave their batch at different steps
    network.generation_config.eos_token_id = [eos, *range(10, vocab, 10)]
    return network.eval()


@pytest.mark.parametrize("kind", ["gpt2", "gemma3"])
def test_other_architectures_agree_with_transformers_in_any_batch(kind):
    network, items = other_model(kind), make_items(PAIRS + UNSEEN)
    found = generate(network, tokenizer(), items, GREEDY, 1, 64, 16)
    assert found["n_tokens"].nunique() > 3
    for messages, n, text in zip(items["messages"], found["n_tokens"], found["text"], strict=True):
        ids = torch.tensor([encode_prompt(tokenizer(), messages)])
        written = network.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=16, pad_token_id=0
        )[0, ids.shape[1] :]
        assert n == len(written)
        stopped = written[-1].item() in stop_ids(network, tokenizer())
        expected = tokenizer().decode(written[: n - stopped], skip_special_tokens=True)
        assert text == (expected if stopped else expected.rstrip("\ufffd"))


def test_settings_shipped_with_a_model_do_not_bend_greedy_decoding():
    expected = ask()["text"].tolist()
    model().generation_config.repetition_penalty = 5.0
    try:
        assert ask()["text"].tolist() == expected
    finally:
        model().generation_config.repetition_penalty = None


def test_further_end_tokens_of_the_model_stop_an_answer():
    full_stop = tokenizer()(".", add_special_tokens=False).input_ids[-1]
    own = model().generation_config.eos_token_id
    model().generation_config.eos_token_id = [tokenizer().eos_token_id, full_stop]
    try:
        assert stop_ids(model(), tokenizer()) == {tokenizer().eos_token_id, full_stop}
        assert ask()["text"][1] == "Tea"
    finally:
        model().generation_config.eos_token_id = own


def test_an_answer_cut_short_says_so_and_shows_no_broken_character():
    whole, short = ask(), ask(max_new_tokens=2)
    cut = whole["n_tokens"] > 2
    assert cut.sum() > 6
    assert (short["finish_reason"] == np.where(cut, "length", "stop")).all()
    assert (short["n_tokens"] == whole["n_tokens"].clip(upper=2)).all()
    assert all(full.startswith(part) for full, part in zip(whole["text"], short["text"], strict=True))


def test_sampling_does_not_depend_on_batches_order_or_length_limit():
    alone = ask(decoding=SAMPLED, batch_size=1)
    pd.testing.assert_frame_equal(ask(decoding=SAMPLED, batch_size=17), alone)
    turned = ask(make_items().iloc[::-1], SAMPLED, batch_size=64).sort_values(["item_id", "sample"])
    pd.testing.assert_frame_equal(
        turned.reset_index(drop=True), alone.sort_values(["item_id", "sample"]).reset_index(drop=True)
    )
    longer = ask(decoding=SAMPLED, max_new_tokens=60)
    ended = alone["finish_reason"] == "stop"
    assert ended.any() and (longer["text"][ended] == alone["text"][ended]).all()


def test_trials_and_seeds_differ():
    hot = Decoding(temperature=3.0, samples=5)
    first, again, other = ask(decoding=hot, seed=1), ask(decoding=hot, seed=1), ask(decoding=hot, seed=2)
    assert first["sample"].tolist() == [0, 1, 2, 3, 4] * len(PAIRS)
    assert first.groupby("item_id")["text"].nunique().min() >= 4
    assert (first["text"] == again["text"]).all()
    assert (first["text"] != other["text"]).mean() > 0.9


def test_a_low_temperature_is_greedy():
    cold = ask(decoding=Decoding(temperature=1e-4, top_p=0.9, samples=2))
    assert cold["text"].tolist() == [answer for _, _, answer, _ in PAIRS for _ in range(2)]


def test_nucleus_takes_the_token_whose_share_contains_the_number():
    # p = .15 .5 .05 .3; from the most likely down .5 (1), .3 (3), .15 (0), .05 (2). top_p .75 keeps .5 + .3 = .8:
    # u = .62 -> .496 < .5 -> token 1; u = .63 -> .504 -> token 3; u = .999 -> .7992 -> token 3.
    # top_p 1: u = .97 lies beyond .95 -> token 2. top_p .01: only token 1 is left.
    logits_BV = torch.tensor([[0.15, 0.5, 0.05, 0.3]]).log().repeat(3, 1)
    uniform_B = torch.tensor([0.62, 0.63, 0.999], dtype=torch.float64)
    assert nucleus(logits_BV, uniform_B, 1.0, 0.75).tolist() == [1, 3, 3]
    assert nucleus(logits_BV[:1], torch.tensor([0.97]), 1.0, 1.0).tolist() == [2]
    assert nucleus(logits_BV, uniform_B, 1.0, 0.01).tolist() == [1, 1, 1]


def test_nucleus_draws_the_tempered_distribution():
    # T = 2: p^(1/2) normalised: sqrt(.64) .8, sqrt(.36) .6 -> 4/7, 3/7
    uniform_B = torch.from_numpy((np.arange(7000) + 0.5) / 7000)
    drawn = nucleus(torch.tensor([[0.64, 0.36]]).log().repeat(7000, 1), uniform_B, 2.0, 1.0)
    assert (drawn == 0).sum().item() == pytest.approx(4000, abs=1)


def test_a_nucleus_wider_than_the_usual_is_still_whole():
    # 200 equally likely tokens after one of probability 1/2; top_p .899 keeps the first and 160 of them: mass .9.
    # u = .5 -> .45 -> the first; the last of them starts at .5 + 159/400 = .8975, u = .9975 -> .89775 lies in it.
    probs_V = torch.full((201,), 0.5 / 200, dtype=torch.float64)
    probs_V[7] = 0.5
    uniform_B = torch.tensor([0.5, 0.9975], dtype=torch.float64)
    drawn = nucleus(probs_V.log().repeat(2, 1), uniform_B, 1.0, 0.899)
    assert drawn[0] == 7
    assert drawn[1] == 160  # token 7 stands first, so the 160th of the others is token 160


def test_no_items_pictures_and_impossible_numbers_are_refused():
    with pytest.raises(AnswerError, match="no items to ask"):
        ask(make_items().iloc[:0])
    with pytest.raises(AnswerError, match="12 items.*p0/attribute/en.*have a picture in column image"):
        ask(make_items().assign(modality="image"))
    with pytest.raises(AnswerError, match="max_new_tokens 0"):
        ask(max_new_tokens=0)
    with pytest.raises(AnswerError, match="batch_size 0"):
        ask(batch_size=0)


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.1}, {"temperature": 1, "samples": 0}, {"samples": 5}]
)
def test_impossible_decodings_are_refused(wrong):
    with pytest.raises(AnswerError, match="|".join(wrong)):
        Decoding(**wrong)


def test_batches_hold_each_row_once_longest_first():
    lengths = [3, 9, 1, 9, 4]
    assert [batch.tolist() for batch in by_length(lengths, 2)] == [[1, 3], [4, 0], [2]]


def test_out_of_memory_names_the_batch_size_to_try():
    with pytest.raises(AnswerError, match="with batch_size 64: try batch_size 32"), explain_memory(64):
        torch.empty(2**52)
    with pytest.raises(AnswerError, match="batch_size 1: use a larger device"), explain_memory(1):
        raise torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), explain_memory(64):
        torch.ones(2, 3) @ torch.ones(2, 3)


def test_select_keeps_groups_and_what_a_split_forgets():
    items = make_items()
    splits = pd.DataFrame(
        [("a", "p1/attribute", "forget"), ("a", "p3/attribute", "retain"), ("b", "p3/attribute", "forget")],
        columns=["split", "knowledge_id", "group"],
    )
    assert len(select(items)) == 12
    assert select(items, ["retain"])["knowledge_id"].tolist() == [f"p{i}/attribute" for i in range(1, 12, 2)]
    assert select(items, None, splits, "b", "forget")["knowledge_id"].tolist() == ["p3/attribute"]
    for arguments, message in [
        ((["retan"],), "retan.*nonmember, retain"),
        ((None, splits, "c", "forget"), "unknown split 'c'; the splits are a, b"),
        ((None, None, None, "forget"), "needs the table of splits"),
        ((None, None, None, "some"), "all or forget"),
        ((["nonmember"], splits, "a", "forget"), "no items left"),
    ]:
        with pytest.raises(AnswerError, match=message):
            select(items, *arguments)


def test_decodings_and_compositions_load_no_torch():
    code = (
        "import sys; import unlearning.answer.decoding, unlearning.config.compose, unlearning.attacks.probab, "
        "unlearning.attacks.quantize; assert not {'torch', 'transformers', 'torchao'} & set(sys.modules)"
    )
    workflow = str(Path(__file__).parents[1] / "workflow")
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": workflow})


@pytest.mark.parametrize("n", [2, 3, 50])
@pytest.mark.parametrize("decoding", [GREEDY, SAMPLED])
def test_shards_answer_each_row_once_as_one_job_does(decoding, n):
    whole = ask(decoding=decoding, batch_size=4, max_new_tokens=8)
    args = (model(), tokenizer(), make_items(), decoding, 1, 4, 8)
    parts = [generate(*args, shard=(k, n)) for k in range(1, n + 1)]
    filled = [part for part in parts if len(part)]
    assert len(filled) == min(n, -(-len(whole) // 4))
    pd.testing.assert_frame_equal(pd.concat(filled).sort_index(), whole, check_index_type=False)


def whole_items(path):
    """Table items of `make_items`, with a mixed prompt and a document, which asks nothing."""
    items = make_items().assign(benchmark="b", task="qa", language="en")
    items["parts"] = items["aliases"] = items["options"] = [[] for _ in range(len(items))]
    ids = items["item_id"]
    mixed = items.iloc[1:2].assign(item_id="mixed", parts=[[{"item_id": i, "group": "retain"} for i in ids[:2]]])
    document = items.iloc[2:3].assign(item_id="document", messages=[[]])
    write_table(pd.concat([mixed, items, document]), path, "items")
    return str(path)


@pytest.mark.parametrize("attacked", [False, True])
def test_the_script_writes_equal_files_whatever_the_number_of_shards(tmp_path, monkeypatch, attacked):
    """Two models in one job, as where a run is scored after several epochs; mixed prompts, documents, attacks."""
    root = Path(__file__).resolve().parents[1]
    monkeypatch.syspath_prepend(str(root / "workflow/scripts"))
    from answer import answer

    models = [str(tmp_path / f"{name}/model.json") for name in "ab"]
    for path, network in zip(models, (model(), other_model("gpt2")), strict=True):
        save_model(network, tokenizer(), Path(path), {"steps": 0, "collapsed": False})
    values = {"batch_size": 4, "max_new_tokens": 12, "seed": 3, "device": "cpu"}
    values |= {"model": models, "questions": whole_items(tmp_path / "items.parquet")}
    if attacked:
        values["decoding"] = {"probab": {"temperature": 2.0, "top_p": 0.95, "samples": 3}}
        values["prompts"] = [{"attack": "jailbreak_prefix", "params": {"place": "prefix"}}]
        values["phrases"] = [str(root / "resources/attacks/jailbreak_prefix.yaml")]
    paths = {name: [str(tmp_path / f"e{i}/{name}.parquet") for i in (1, 2)] for name in ("answers", "likelihoods")}
    answer(**paths, **values)
    first = {path: Path(path).read_bytes() for path in sum(paths.values(), [])}
    for n in (2, 9):  # 9: more than there are batches of likelihoods
        shards = []
        for k in range(1, n + 1):
            own = {name: [shard_file(path, k, n) for path in table] for name, table in paths.items()}
            answer(**own, **values, shard=[k, n])
            shards += sum(own.values(), [])
        for path in first:
            Path(path).unlink()
        monkeypatch.setattr("unlearning.models.load.load_model", None)
        answer(**paths, **values, shards=shards)
        monkeypatch.undo()
        assert {path: Path(path).read_bytes() for path in first} == first
