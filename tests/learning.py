"""What the tests of training runs share: memorising and forgetting the tiny table."""

import training
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.reference import reference_logprobs
from unlearning.train.rows import encode_rows
from unlearning.train.unlearn import unlearn

MEMORISE = {"lr": 3e-3, "epochs": 3, "batch_size": 8, "schedule": "cosine"}
METHODS = {
    "ga": {"forget": "ga"},
    "npo_gd": {"forget": "npo", "retain": "gd"},
    "idk_kl": {"forget": "idk", "retain": "kl"},
    "ga_sum": {"forget": "ga", "retain": "gd", "reduction": "sequence_sum"},
}


def rows_of(frame, **options):
    return encode_rows(training.tokenizer(), frame, **options)


def learn(network, seed=0, work=None, rows=None, replay=None, share=0.0, **keys):
    plan = make_plan({**MEMORISE, **keys})
    return memorise(network, rows or training.rows(), plan, seed, 0, replay=replay, replay_share=share, work=work)


def forget(network, method, seed=0, reference=None, work=None, after=None):
    """Two people forgotten, four kept; the reference quantities are those of the model as it comes."""
    table, gone = training.table(), training.table()["person_id"].isin(["memorised0", "memorised1"])
    known = reference_logprobs(network, training.tokenizer(), table)
    refusals = {"en": ["I do not know.", "No idea."]}
    out, kept = rows_of(table[gone], ref_logprobs=known, refusals=refusals), rows_of(table[~gone])
    plan = make_plan({"lr": 1e-3, "epochs": 2, "batch_size": 3, **method})
    return unlearn(network, out, kept, plan, seed, 0, reference=reference, work=work, after=after)
