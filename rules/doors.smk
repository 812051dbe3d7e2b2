# Needs: common.smk. Makes: for each role, the settings of its backend, its modules, and what of a cluster a job
# that asks it needs.
from unlearning.config.doors import door_code, door_gpus, door_settings, sampling_settings
from unlearning.config.llm import ROLES


def door_of(role):
    """Who answers for a role: what `open_door` takes."""
    return door_settings(CONFIG, role)


def sampling_of(role):
    """How a role's replies are drawn: what `Sampling` takes."""
    return sampling_settings(CONFIG, role)


def door_modules(role):
    """The code that answers for a role, for the fingerprint of the job that asks."""
    return door_code(CONFIG, role)


def complete_gpus(role):
    """GPUs of a job that asks this role."""
    return door_gpus(CONFIG, role)


def complete_shards(w):
    """Input function: the shards of a bulk LLM job; none where one job asks, as it does where engines of ours answer."""
    n = 1 if door_of(w.role)["backend"]["kind"] == "offline" else CONFIG.shards.complete
    return [
        path.format(**dict(w.items()))
        for path in shard_files(n, f"{BULK}/completions.parquet", f"{BULK}/usage.parquet")
    ]


def named(roles, wildcards):
    return roles(wildcards) if callable(roles) else roles


def llm_memory(roles):
    """Resource function: MB of a job that asks `roles`, a list or a function of the wildcards."""
    return lambda wildcards, attempt: cluster.llm_memory(CONFIG, named(roles, wildcards), attempt)


def llm_minutes(roles):
    """Resource function: minutes of a job that asks `roles`, as in llm_memory."""
    return lambda wildcards, attempt: cluster.llm_minutes(CONFIG, named(roles, wildcards), attempt)
