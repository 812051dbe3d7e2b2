"""Likelihoods: equal to a plain loop over items, whatever the batches."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from answering import PAIRS, make_items, model, tokenizer
from unlearning.answer.decoding import AnswerError
from unlearning.answer.likelihood import likelihoods, token_stats
from unlearning.tables.artifacts import to_table

LISTS = ["token_logprobs", "argmax_hit", "vocab_mean", "vocab_std", "value_mask"]


def score(items=None, batch_size=64, network=None):
    return likelihoods(network or model(), tokenizer(), make_items() if items is None else items, batch_size)


def assert_alike(left: pd.DataFrame, right: pd.DataFrame):
    assert left[["item_id", "candidate", "n_tokens"]].equals(right[["item_id", "candidate", "n_tokens"]])
    np.testing.assert_allclose(left["logprob"], right["logprob"], atol=1e-4)
    for name in LISTS:
        np.testing.assert_allclose(np.concatenate(left[name].tolist()), np.concatenate(right[name].tolist()), atol=1e-5)


def naive(question: str, answer: str):
    """One answer, one token at a time, in float64, from the whole text: nothing of ours computes here."""
    prompt = tokenizer()(f"<|user|>{question}<|assistant|>", add_special_tokens=False).input_ids
    target = tokenizer()(answer, add_special_tokens=False).input_ids + [tokenizer().eos_token_id]
    network = type(model())(model().config).double().eval()
    network.load_state_dict({k: v.double() for k, v in model().state_dict().items()})
    rows = []
    for t, token in enumerate(target):
        with torch.no_grad():
            logits = network(torch.tensor([prompt + target[:t]])).logits[0, -1].tolist()
        top = max(logits)
        total = top + math.log(sum(math.exp(z - top) for z in logits))
        logp = [z - total for z in logits]
        mean = sum(math.exp(x) * x for x in logp)
        std = math.sqrt(sum(math.exp(x) * (x - mean) ** 2 for x in logp))
        rows.append((logp[token], logits.index(top) == token, mean, std))
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("row", [0, 4, 6, 9])
def test_agrees_with_a_plain_loop(row):
    _, question, answer, _ = PAIRS[row]
    found = score().query("candidate == 'reference'").iloc[row]
    logp, hit, mean, std = naive(question, answer)
    assert found.n_tokens == len(logp)
    assert found.logprob == pytest.approx(logp.sum(), abs=1e-4)
    for name, expected in zip(LISTS, (logp, hit, mean, std), strict=False):
        np.testing.assert_allclose(found[name], expected, atol=2e-5)


def test_agrees_with_a_plain_loop_where_the_model_is_unsure():
    found = score().iloc[2]
    assert found.candidate == "perturbed_0"
    for name, expected in zip(LISTS, naive(PAIRS[0][1], "Ada lives in Bath."), strict=False):
        np.testing.assert_allclose(found[name], expected, atol=5e-5, rtol=1e-5)


def test_candidates_follow_their_reference_and_items_keep_their_order():
    found = score(batch_size=4)
    ids = make_items()["item_id"].tolist()
    assert found["item_id"].tolist() == [ids[0], ids[0], *ids]
    assert found["candidate"].tolist() == ["reference", "paraphrase", "perturbed_0", *["reference"] * 11]


def test_batches_and_order_change_nothing():
    alone = score(batch_size=1)
    assert_alike(score(batch_size=64), alone)
    assert_alike(score(batch_size=5), alone)
    turned = score(make_items().iloc[::-1]).sort_values(["item_id", "candidate"]).reset_index(drop=True)
    assert_alike(turned, alone.sort_values(["item_id", "candidate"]).reset_index(drop=True))


def test_the_table_keeps_its_contract():
    table = to_table(score(), "likelihoods")
    assert table.num_rows == len(PAIRS) + 2
    lengths = table.column("n_tokens").to_pylist()
    assert all([len(cell) for cell in table.column(name).to_pylist()] == lengths for name in LISTS)


def test_memorised_tokens_are_hits_and_probabilities_add_up():
    found = score().query("candidate == 'reference'")
    assert all(hits.all() for hits in found["argmax_hit"])
    assert [x.sum(dtype=np.float64) for x in found["token_logprobs"]] == found["logprob"].tolist()


def test_the_value_is_marked_and_only_where_it_stands():
    found = score()
    for row, (_, _, answer, value) in zip(found.query("candidate == 'reference'").itertuples(), PAIRS, strict=True):
        ids = tokenizer()(answer, add_special_tokens=False).input_ids
        marked = tokenizer().decode([i for i, m in zip(ids, row.value_mask, strict=False) if m])
        assert not row.value_mask[-1]
        assert value is None and marked == "" or value is not None and value in marked
        assert value is None or len(marked) <= len(value) + 2
    assert not found.query("candidate == 'perturbed_0'")["value_mask"].iloc[0].any()


def test_token_stats_by_hand():
    # p = (1/2, 1/4, 1/4): mean = -(1/2) ln 2 - (1/2) ln 4 = -1.5 ln 2; the two values lie ln 2 / 2 either side of it,
    # each with weight 1/2, so the standard deviation is ln 2 / 2. Uniform over 3: mean = -ln 3, deviation 0.
    logits_NV = torch.tensor([[0.5, 0.25, 0.25], [1.0, 1.0, 1.0], [0.0, -math.inf, -math.inf]])
    logits_NV[0] = logits_NV[0].log()
    stats = token_stats(logits_NV, torch.tensor([1, 0, 0]))
    log2 = math.log(2)
    assert stats.token_logprobs.tolist() == pytest.approx([-2 * log2, -math.log(3), 0.0])
    assert stats.argmax_hit.tolist() == [False, True, True]
    assert stats.vocab_mean.tolist() == pytest.approx([-1.5 * log2, -math.log(3), 0.0])
    assert stats.vocab_std.tolist() == pytest.approx([log2 / 2, 0.0, 0.0], abs=1e-6)


def test_a_shift_of_all_logits_changes_nothing():
    logits_NV = torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    for left, right in zip(
        token_stats(logits_NV, torch.arange(4)), token_stats(logits_NV + 30, torch.arange(4)), strict=True
    ):
        assert torch.allclose(left.double(), right.double(), atol=1e-5)


def test_a_diverged_model_is_named_with_its_item():
    broken = type(model())(model().config).eval()
    with torch.no_grad():
        broken.lm_head.weight.fill_(math.nan)
    with pytest.raises(AnswerError, match="14 of 14 answers, first item 'p0/attribute/en'.*diverged"):
        score(network=broken)


def test_no_items_is_an_error():
    with pytest.raises(AnswerError, match="no items to ask"):
        score(make_items().iloc[:0])


@pytest.mark.parametrize("n", [2, 3, 50])
def test_shards_score_each_row_once_as_one_job_does(n):
    whole = score(batch_size=4)
    parts = [likelihoods(model(), tokenizer(), make_items(), 4, (k, n)) for k in range(1, n + 1)]
    filled = [part for part in parts if len(part)]
    assert len(filled) == min(n, 4)  # 14 answers in batches of 4
    pd.testing.assert_frame_equal(pd.concat(filled).sort_index(), whole, check_index_type=False, check_exact=True)
