"""LingTea: epochs of gradient ascent and epochs of distillation from the memorised model take turns."""

import numpy as np
import pandas as pd
import torch

from unlearning.forget import ga
from unlearning.models.encode import pad_id
from unlearning.models.forward import token_logprobs
from unlearning.seeds import seed_for
from unlearning.train.data import Schedule
from unlearning.train.loop import Side, Trained, train
from unlearning.train.nll import divergence, log_softmax, nll
from unlearning.train.rows import encode_rows
from unlearning.train.terms import Term, term_of
from unlearning.train.unlearn import Given

PARAMS = {"forget_epochs_per_retain": 1, "temperature": 1.0, "reduction": "token_mean"}
LIMITS = {
    "forget_epochs_per_retain": {"ge": 1},
    "temperature": {"gt": 0},
    "reduction": ("token_mean", "sequence_sum"),
}
NEEDS = ("reference_model",)
COST = {"forward": 1, "reference": 1}

INPUTS = ("logits_BTV", "logprobs_BT", "ref_logits_BTV", "labels_BT", "mask_BT")


def unlearn(given: Given) -> Trained:
    """Epochs take turns: `forget_epochs_per_retain` of −ℓ on F, then one of `retain_loss` on R (Choi et al. 2024).

    `epochs` counts both kinds. An epoch shows every fact of F once, or as many of R, drawn without replacement until
    they are used up (our reading; the public code passes over a retain set of three times the size). The language in
    which a fact is shown is drawn uniformly, for each epoch anew, from those in which it was taught. What counts as the
    start for collapse_factor is the first retain loss, hence after the first forget epochs.
    """
    plan, tokenizer, own = given.plan, given.tokenizer, given.plan.own()
    forget, retain = facts(given.forget), facts(given.retain)
    schedule = Schedule(len(forget), plan.batch_size, plan.epochs, given.seed, len(retain))
    per_epoch, seed = schedule.steps_per_epoch, given.seed

    def draw(step: int) -> list[np.ndarray]:
        epoch = step // per_epoch
        turn = retain_turn(epoch, own["forget_epochs_per_retain"])
        if turn is None:
            return [in_a_language(forget, schedule.leading(step), seed, epoch), np.empty(0, dtype=np.int64)]
        chosen = schedule.following(turn * per_epoch + step % per_epoch)
        return [np.empty(0, dtype=np.int64), in_a_language(retain, chosen, seed, epoch)]

    params = {key: own[key] for key in ("temperature", "reduction")}
    terms = {
        "forget": term_of(ga, own),
        "retain": Term("methods.lingtea", retain_loss, params, INPUTS, "reference", NEEDS),
    }
    rows = {name: encode_rows(tokenizer, getattr(given, name), plan.max_length) for name in terms}
    weights = {"forget": plan.forget_weight, "retain": plan.retain_weight}
    sides = [Side(name, terms[name], weights[name], rows[name]) for name in terms]
    return train(given.model, sides, draw, per_epoch, plan, seed, pad_id(tokenizer), **given.running)


def retain_loss(
    logits_BTV: torch.Tensor,
    logprobs_BT: torch.Tensor,
    ref_logits_BTV: torch.Tensor,
    labels_BT: torch.Tensor,
    mask_BT: torch.Tensor,
    temperature: float,
    reduction: str,
) -> torch.Tensor:
    """Σ or mean over an example's answer tokens of w_t·τ²·KL(p_T ‖ p_θ) + (1 − w_t)·CE_t, nats, ≥ 0.

    T is the frozen memorised model, both distributions of the KL are softened by τ (`temperature`), and w_t = p_T(y_t):
    where the teacher knows the token it is followed, else the text is. Formula of the public code, which pairs w_t with
    the token before and sums the KL over tokens; we pair it with y_t and reduce both parts alike (our reading).
    """
    weight_BT = token_logprobs(ref_logits_BTV, labels_BT, mask_BT).exp()
    soft_BT = divergence(log_softmax(ref_logits_BTV / temperature), log_softmax(logits_BTV / temperature))
    loss_BT = weight_BT * temperature**2 * soft_BT - (1 - weight_BT) * logprobs_BT
    return nll(-loss_BT, mask_BT, reduction)


def retain_turn(epoch: int, forget_epochs: int) -> int | None:
    """Which retain epoch (from 0) `epoch` (from 0) is; None if it is a forget epoch."""
    turn, place = divmod(epoch, forget_epochs + 1)
    return turn if place == forget_epochs else None


def facts(examples: pd.DataFrame) -> list[tuple[str, list[int]]]:
    """Name and rows of each fact: a knowledge_id's n-th example in every language says the same."""
    nth = examples.groupby(["knowledge_id", "language"]).cumcount()
    names = examples["knowledge_id"].astype(str) + "/" + nth.astype(str)
    ordered = pd.DataFrame({"name": names.to_numpy(), "language": examples["language"].to_numpy()})
    groups = ordered.sort_values("language", kind="stable").groupby("name", sort=False).groups
    return [(name, groups[name].tolist()) for name in dict.fromkeys(names)]


def in_a_language(facts: list[tuple[str, list[int]]], chosen: np.ndarray, seed: int, epoch: int) -> np.ndarray:
    """For each of the `chosen` facts the row of one of its languages: hash(seed, epoch, fact) modulo their number."""
    named = (facts[i] for i in chosen)
    picked = [rows[seed_for(seed, "language", f"{epoch}/{name}") % len(rows)] for name, rows in named]
    return np.array(picked, dtype=np.int64)
