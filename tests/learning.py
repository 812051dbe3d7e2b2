"""What the tests of training runs share: memorising and forgetting the tiny table."""

import copy
import importlib

import training
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows
from unlearning.train.unlearn import Given

MEMORISE = {"lr": 3e-3, "epochs": 3, "batch_size": 8, "schedule": "cosine"}
METHODS = {
    "ga": {"forget": "ga"},
    "npo_gd": {"forget": "npo", "retain": "gd"},
    "idk_kl": {"forget": "idk", "retain": "kl"},
    "dpo_ap": {"forget": "dpo", "retain": "ap"},
    "me_gd": {"forget": "me", "retain": "gd"},
    "ga_sum": {"forget": "ga", "retain": "gd", "reduction": "sequence_sum"},
}
REFUSALS = {"en": ["I do not know.", "No idea.", "Who?"], "de": ["Keine Ahnung."]}


def rows_of(frame, **options):
    return encode_rows(training.tokenizer(), frame, **options)


def learn(network, seed=0, work=None, rows=None, replay=None, share=0.0, **keys):
    plan = make_plan({**MEMORISE, **keys})
    return memorise(network, rows or training.rows(), plan, seed, 0, replay=replay, replay_share=share, work=work)


def forget(network, method, seed=0, reference=None, work=None, target=None, after=None):
    """Two people forgotten, four kept; the reference's log-probabilities are those of the model as it comes."""
    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])
    plan = make_plan({"lr": 1e-3, "epochs": 2, "batch_size": 3, **method})
    known, needs = None, plan.needs()
    if "ref_logprobs" in needs:
        drawn = {"seed": seed, "epochs": plan.epochs if "refusal_ref_logprobs" in needs else 0}
        known = reference_logprobs(network, training.tokenizer(), table[gone], refusals=REFUSALS, **drawn)
    tables = {"refusals": REFUSALS, "ref_logprobs": known}
    running = {"reference": reference, "work": work, "target": target, "after": after}
    given = Given(network, training.tokenizer(), table[gone], table[~gone], plan, seed, **tables, **running)
    return importlib.import_module(f"unlearning.methods.{plan.method}").unlearn(given)


def keeping(*epochs):
    """What training calls after `epochs`, and where the models and facts that it is handed lie: epoch -> both."""
    handed = {}

    def after(epoch):
        return lambda network, facts, finish=None: handed.update({epoch: (copy.deepcopy(network), facts)})

    return {epoch: after(epoch) for epoch in epochs}, handed
