"""What training learns and forgets: losses, schedules, terms, reference quantities."""

import copy
import math

import pandas as pd
import pytest
import torch
from torch.nn.functional import logsigmoid

import training
from learning import METHODS, REFUSALS, forget, learn, rows_of
from unlearning.models.small import small_model
from unlearning.train.data import Schedule
from unlearning.train.reference import reference_logprobs

torch.set_num_threads(1)


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


def test_a_run_of_one_step_is_not_all_warm_up():
    one = learn(training.model(), epochs=1, batch_size=100, warmup=0.1)
    assert [row["learning_rate"] for row in one.log] == [3e-3]
    assert not training.same_weights(one.model, training.model())


def test_learning_rate_warms_up_and_decays():
    log = learn(training.model(), schedule="linear", warmup=3, epochs=2).log
    # 6 steps, 3 to warm up: 0, 1/3, 2/3 of 3e-3, then 1, 2/3, 1/3
    assert [row["learning_rate"] for row in log] == pytest.approx([0, 1e-3, 2e-3, 3e-3, 2e-3, 1e-3])


def test_the_loop_agrees_with_a_naive_one():
    """NPO + gd by a bare loop in float32: same batches, AdamW, clipping, schedule."""
    from unlearning.models.encode import collate
    from unlearning.models.forward import answer_logits, token_logprobs

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


def logprob(network, prompt, answer):
    """log p of an answer's tokens by an ordinary forward pass."""
    with torch.no_grad():
        logp_SV = network.eval()(torch.tensor([prompt + answer])).logits[0].log_softmax(-1)
    return sum(logp_SV[len(prompt) - 1 + t, token].item() for t, token in enumerate(answer))


def test_dpo_and_ap_meet_each_epochs_own_refusals():
    """With a learning rate of 0 the model stays the reference: DPO is c ln 2 if its table holds what is drawn."""
    network = training.model()
    log = forget(network, {**METHODS["dpo_ap"], "lr": 0.0}).log
    assert [row["forget_loss"] for row in log] == pytest.approx([10 * math.log(2)] * 6, rel=1e-5)
    rows = rows_of(training.table().iloc[8:], refusals=REFUSALS)
    schedule = Schedule(8, 3, 2, 0, len(rows))
    for step, row in enumerate(log):
        ap = []
        for i in schedule.following(step):
            prompt, answer = rows.encoded[i].prompt_ids, rows.encoded[i].answer_ids
            refusal = rows.refusals[rows.languages[i]][rows.drawn(i, 0, schedule.epoch(step))]
            margin = logprob(network, prompt, refusal) - logprob(network, prompt, answer)
            ap.append(10 * math.log(1 + math.exp(0.1 * margin)))
        assert row["retain_loss"] == pytest.approx(sum(ap) / len(ap), rel=1e-4)


def test_dpo_comes_to_prefer_the_refusals():
    log = forget(training.model(), {"forget": "dpo", "epochs": 5, "lr": 5e-3}).log
    assert log[-1]["forget_loss"] < 0.5 * log[0]["forget_loss"]


def test_me_flattens_the_predictions_of_questions_and_answers():
    log = forget(training.model(), {"forget": "me", "epochs": 5, "lr": 1e-2}).log
    assert 0 < log[-1]["forget_loss"] < 0.5 * log[0]["forget_loss"] < 0.5 * math.log(len(training.tokenizer()))


def test_the_reference_table_holds_each_drawn_refusal_once():
    table, tokenizer, network = training.table(), training.tokenizer(), training.model()
    alone = reference_logprobs(network, tokenizer, table)
    both = reference_logprobs(network, tokenizer, table, refusals=REFUSALS, seed=4, epochs=5)
    answers, refusals = both[both["refusal"].isna()], both[both["refusal"].notna()]
    assert alone["refusal"].isna().all() and answers["logprob"].tolist() == pytest.approx(alone["logprob"].tolist())
    rows = rows_of(table, refusals=REFUSALS)
    drawn = {(rows.ids[i], rows.drawn(i, 4, epoch)) for i in range(len(rows)) for epoch in range(5)}
    assert set(zip(refusals["example_id"], refusals["refusal"], strict=True)) == drawn and len(refusals) == len(drawn)
    # in German there is only one
    answer, german = rows.refusals["de"][0], refusals[refusals["example_id"] == rows.ids[1]]
    wanted = logprob(network, rows.encoded[1].prompt_ids, answer)
    assert german["logprob"].tolist() == pytest.approx([wanted], abs=1e-4) and german["refusal"].tolist() == [0]
    assert german["n_tokens"].tolist() == [len(answer)]


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
