"""profiles/slurm: what jobs ask for and where they go. `make test-slurm` holds it against a SLURM that runs."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from configurations import changed
from unlearning.config import cluster
from unlearning.config.load import load
from unlearning.config.problems import ConfigError

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "heavy"))

import slurm_cluster  # noqa: E402

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text(encoding="utf-8"))
RULES = "\n\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "rules").glob("*.smk")))
BLOCKS = dict(re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)[^\n]*:\n((?:    .*\n|\n(?=    ))*)", RULES, re.MULTILINE))


def pretrained(**keys):
    """The default with a pretrained model beside the small one, and further sections."""
    entry = {"name": "owner/model", "target": {"epochs": 1, "lr": 1e-4}}
    model = changed("base_models/big", entry | {k: keys.pop(k) for k in ("billions",) if k in keys})
    return load(model | keys)


def test_the_parameters_of_an_architecture_by_hand():
    shape = {"hidden": 32, "layers": 3, "heads": 2, "intermediate": 64, "vocab_size": 500}
    for tied, embeddings in ((True, 16_000), (False, 32_000)):
        entry = {"architecture": shape | {"tied": tied}, "target": {"epochs": 1, "lr": 1e-3}}
        counted = cluster.billions(load(changed("base_models/tiny", entry)).base_models["tiny"])
        # 500 · 32, twice untied; of each layer 4 · 32² + 3 · 32 · 64 + 2 · 32 = 10,304; 32 at the end
        assert counted * 1e9 == pytest.approx(embeddings + 3 * 10_304 + 32)


def test_memory_and_minutes_by_hand():
    on_cpu = pretrained(billions=1.5, device="cpu", gpus={"train": 1, "answer": 1})
    # 2,000 + 1.5 · 24 · 1,000; twice by the second attempt, four times by the third
    assert [cluster.memory(on_cpu, "train", "big", n) for n in (1, 2, 3)] == [38_000, 76_000, 152_000]
    assert cluster.memory(on_cpu, "answer", "big", 1) == 2_000 + 1.5 * 8 * 1_000
    no_gpus = pretrained(billions=1.5)
    assert cluster.memory(no_gpus, "adjust", "big", 1) == 38_000
    scale = {"processes": 4}
    on_gpus = pretrained(billions=1.5, gpus={"train": 4, "answer": 1}, scale=scale)
    assert cluster.memory(on_gpus, "train", "big", 1) == 2_000 + 4 * 1.5 * 8 * 1_000
    assert cluster.memory(on_gpus, "adjust", "big", 1) == 2_000 + 1.5 * 8 * 1_000
    # 60 + 1.5 · 60 and 60 + 1.5 · 30; two times, three times
    assert [cluster.minutes(on_gpus, "train", "big", n) for n in (1, 2, 3)] == [150, 300, 450]
    assert cluster.minutes(on_gpus, "answer", "big", 1) == 105
    # putting shards of answers together takes no model
    gather = [
        (cluster.memory(on_gpus, "gather", "big", n), cluster.minutes(on_gpus, "gather", "big", n)) for n in (1, 2)
    ]
    assert gather == [(2_000, 60), (4_000, 120)]
    assert cluster.memory(on_gpus, "train", "small", 1) < 2_100 and cluster.minutes(on_gpus, "train", "small", 1) == 60


def test_a_pretrained_model_that_does_not_say_its_size_counts_as_eight_billion():
    assert cluster.billions(pretrained().base_models["big"]) == 8
    with pytest.raises(ConfigError, match=r"base_models.small.billions: an architecture's parameters are counted"):
        load(changed("base_models/small/billions", 7))


def test_a_job_that_asks_a_language_model_takes_time_and_memory_where_the_model_is_in_it():
    backends = {"far": {"kind": "openai", "model": "m"}, "near": {"kind": "transformers", "model": "m"}}
    config = pretrained(backends=backends, roles={"judge": "far", "rater_1": "near"})
    asked = {"offline": ["translator"], "far": ["judge"], "near": ["judge", "rater_1"], "nobody": []}
    assert {name: cluster.llm_memory(config, roles, 1) for name, roles in asked.items()} == {
        "offline": 2_000, "far": 2_000, "near": 32_000, "nobody": 2_000
    }  # fmt: skip
    assert {name: cluster.llm_minutes(config, roles, 1) for name, roles in asked.items()} == {
        "offline": 60, "far": 720, "near": 720, "nobody": 60
    }  # fmt: skip
    assert (cluster.llm_memory(config, ["rater_1"], 2), cluster.llm_minutes(config, ["judge"], 2)) == (64_000, 1_440)


def score_of(partition, gpus, **asked):
    """How well a job fits, as the executor counts: None where it does not, else the sum of its shares of the limits,
    one less for a job without GPUs where there are some (snakemake-executor-plugin-slurm 2.8.0, partitions.py)."""
    limits = {"max_gpu": 0} | partition
    if gpus > limits["max_gpu"]:
        return None
    shares = [asked[name] / limits[f"max_{name}"] for name in asked if f"max_{name}" in limits]
    if any(share > 1 for share in shares):
        return None
    return sum(shares) + (gpus / limits["max_gpu"] if gpus else -(limits["max_gpu"] > 0))


@pytest.mark.parametrize(("gpus", "there"), [(0, "cpu"), (1, "gpu"), (8, "gpu")])
def test_a_job_goes_to_the_gpu_partition_when_it_asks_for_gpus_and_only_then(gpus, there):
    partitions = yaml.safe_load((ROOT / PROFILE["slurm-partition-config"]).read_text(encoding="utf-8"))["partitions"]
    for mem_mb, runtime in ((2000, 60), (500_000, 10_000)):
        scores = {n: score_of(limits, gpus, mem_mb=mem_mb, runtime=runtime) for n, limits in partitions.items()}
        fitting = {name: score for name, score in scores.items() if score is not None}
        assert max(fitting, key=fitting.get) == there


def test_the_rules_with_a_model_ask_for_gpus_memory_and_time_and_those_of_the_groups_for_no_gpu():
    gpu = {name for name, block in BLOCKS.items() if re.search(r"gpu=.*CONFIG\.gpus", block)}
    gpu |= {new for old, new in re.findall(r"^use rule (\w+) as (\w+) with:", RULES, re.MULTILINE) if old in gpu}
    assert gpu == slurm_cluster.GPU_RULES
    for name, block in BLOCKS.items():
        if "gpu=" in block and name != "embed":  # which has an encoder of its own, and takes what the profile gives
            assert "mem_mb=" in block and "runtime=" in block, name
    assert set(PROFILE["groups"]) <= set(BLOCKS)
    assert not any("gpu=" in BLOCKS[name] for name in PROFILE["groups"])


def test_the_profile_keeps_what_decides_about_reruns_as_the_default_has_it():
    local = yaml.safe_load((ROOT / "profiles/default/profile.yaml").read_text(encoding="utf-8"))
    for key in ("rerun-triggers", "max-checksum-file-size", "rerun-incomplete"):
        assert PROFILE[key] == local[key]
    # what rules say about memory and time binds a cluster only
    assert not {"resources", "default-resources", "set-resources"} & set(local)


def test_a_record_of_slurm_is_read():
    line = (
        "JobId=12 JobName=x JobState=COMPLETED Partition=gpu TRES=cpu=2,mem=4000M,node=1,billing=2 JOB_GRES=gpu:1 "
        "Nodes=gpu01 Comment=rule_answer_wildcards_mu2_ga_s0 TresPerJob=gres:gpu:1"
    )
    record = slurm_cluster.parsed(line)
    assert record == (12, "answer", "gpu", "COMPLETED", 1, "4000M", "mu2_ga_s0")
    bare = slurm_cluster.parsed("JobId=3 JobState=PENDING Partition=cpu TRES=cpu=1 JOB_GRES=(null) Comment=score_score")
    assert (bare.rule, bare.gpus, bare.mem) == ("score_score", 0, None)
