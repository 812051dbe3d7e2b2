"""Losses weighted by modality: UMU-Bench's α·L_multimodal + β·L_text, here on two languages in the place of two."""

import pytest
import torch

import training
from learning import rows_of
from unlearning.train.plan import make_plan
from unlearning.train.unlearn import Modality, unlearn, unlearn_modalities

torch.set_num_threads(1)
GONE = ["memorised0", "memorised1"]
GA_GD = make_plan({"forget": "ga", "retain": "gd", "retain_weight": 0.5, "lr": 1e-3, "epochs": 1, "batch_size": 3})


def rows(language, forgotten=GONE):
    table = training.table()
    table = table[table["language"] == language]
    return [
        rows_of(table[table["person_id"].isin(people)]) for people in (forgotten, set(table["person_id"]) - {*GONE})
    ]


def run(*modalities, plan=GA_GD):
    return unlearn_modalities(training.llama(), [Modality(*m) for m in modalities], plan, 0, 0)


def test_a_weight_of_zero_leaves_the_other_modality_alone():
    alone = unlearn(training.llama(), *rows("en"), GA_GD, 0, 0)
    weighted = run((1.0, *rows("en")), (0.0, *rows("de")))
    assert training.same_weights(alone.model, weighted.model)
    assert [row["tokens"] for row in alone.log] == [row["tokens"] for row in weighted.log]
    with pytest.raises(ValueError, match="every modality has weight 0"):
        run((0.0, *rows("en")), (0.0, *rows("de")))


def test_losses_add_up_by_their_weights():
    en, de = (run((1.0, *rows(language))).log[0] for language in ("en", "de"))
    both = run((2.0, *rows("en")), (0.25, *rows("de"))).log
    for name in ("forget_loss", "retain_loss", "loss"):
        assert both[0][name] == pytest.approx(2 * en[name] + 0.25 * de[name], rel=1e-9)
    assert both[0]["loss"] == pytest.approx(both[0]["forget_loss"] + 0.5 * both[0]["retain_loss"], rel=1e-9)
    assert both[0]["tokens"] == en["tokens"] + de["tokens"]


def test_an_epoch_is_one_pass_over_each_modality_however_long():
    en, de = rows("en"), rows("de", GONE[:1])  # 4 and 2 forget rows, 3 a step of the longer: two steps an epoch
    both = run((1.0, *en), (1.0, *de), plan=make_plan({"forget": "ga", "lr": 1e-3, "epochs": 3, "batch_size": 3}))
    lengths = sum(len(e.prompt_ids) + len(e.answer_ids) for part in (en, de) for e in part[0].encoded)
    assert len(both.log) == 6 and sum(row["tokens"] for row in both.log) == 3 * lengths
