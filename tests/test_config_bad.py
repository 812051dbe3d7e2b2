"""Mistakes in a configuration: each is refused, with the key, what is allowed and the fix."""

import types
import typing

import pytest
from pydantic import ValidationError

from configurations import DEFAULT, changed, parse
from unlearning.config import benchmarks, every_benchmark, fields, llm, methods, models, schema
from unlearning.config.problems import ConfigError

GA = {"forget": "ga", "lr": 1, "epochs": 1}
TV = {"method": "tv", "lr": 1, "epochs": 1}
SEARCH = {**GA, "select": "mu2_retain_ps"}
A_NAME = "a name of lower-case letters, digits and _ that starts with a letter or digit"
BAD = [
    ("benchmarks/leak/facts", "texts", "benchmarks.leak.documents: facts texts take the texts' files, .*a.txt: forget"),
    (
        "benchmarks/leak/facts",
        "texts",
        "benchmarks.leak.facts: role extractor has no offline engine; give it a backend",
    ),
    ("benchmarks/leak/documents", {"a.txt": "forget"}, "benchmarks.leak.documents: not read by facts invented"),
    ("benchmarks/leak/route", "llm", "benchmarks.leak.route: role decomposer has no offline engine; give it a backend"),
    ("benchmarks/leak/facts", "mquake", "benchmarks.leak.source: facts mquake take the key of `sources`"),
    ("benchmarks/leak/source", "mquake", "benchmarks.leak.source: 'mquake' is not read by facts invented"),
    ("benchmarks/leak/forget_share", 1, "benchmarks.leak.forget_share: 1.* should be above 0 and below 1"),
    ("benchmarks/leak/candidates", 2, "benchmarks.leak.candidates: .*at least 3"),
    ("benchmarks/leak/metrics", ["ps", "kps"], "kps needs at least two languages .a leak benchmark has none."),
    (
        "benchmarks/leak/practice",
        0,
        "base_models.leak_small.*background rows, of which benchmark leak .* has none",
    ),
    ("experiments/leak_small/splits", ["p20"], "no split 'p20'. .*There are: forget"),
    ("methods/npo_gd/params", {"beta": "hot"}, "methods.npo_gd.params.beta: 'hot' should be a number"),
    ("base_models/small/methods", {"npo": {"params": {"bta": 1}}}, "base_models.small.methods.npo.params: no hyper"),
    ("benchmarks/mu2/metrics", ["ps", "ps"], "benchmarks.mu2.metrics: a metric is listed twice"),
    ("scale", {"sharding": "full"}, "scale.sharding: full spreads weights over several .*processes to 2 or more"),
    ("scale", {"sharding": "full", "processes": 2, "checkpoint_steps": 9}, "scale.checkpoint_steps: .*set it to 0, or"),
    ("metods", {}, "unknown key metods. Did you mean 'methods'?"),
    ("methods/npo_gd/bta", 0.1, "unknown key methods.npo_gd.bta"),
    ("methods/npo_gd/learning_rate", 0.1, "Known keys here: .*lr"),
    ("benchmarks/mu2/heldout_shar", 0.1, "unknown key benchmarks.mu2.heldout_shar. Did you mean 'heldout_share'?"),
    ("benchmarks/mu2/cut/memorized", 3, "unknown key benchmarks.mu2.cut.memorized. Did you mean 'memorised'?"),
    (
        "benchmarks/mu2/kind",
        "mu_2",
        "benchmarks.mu2.kind: no kind 'mu_2'. Did you mean 'mu2'.* There are: files, leak, lume, mu2",
    ),
    ("methods/npo_gd/lr", ..., "key methods.npo_gd.lr is missing"),
    ("methods/npo_gd/lr", "fast", "key methods.npo_gd.lr: .*number.*'fast'"),
    ("methods/npo_gd/lr", -1e-4, "key methods.npo_gd.lr: .*greater than 0"),
    ("methods/npo_gd/epochs", 1.5, "key methods.npo_gd.epochs: should be a whole number; it is 1.5"),
    ("methods/npo_gd/forget", "npoo", "no forget term 'npoo'. Did you mean 'npo'"),
    ("methods/npo_gd/retain", "gdd", "no retain term 'gdd'"),
    ("methods/npo_gd/params", {"betta": 1}, "methods.npo_gd.params: no hyper-parameter 'betta'. Did you mean 'beta'"),
    ("methods/npo_gd/forget", ..., "key methods.npo_gd.forget is missing; add it. There are: .*ga.* brings .*lingtea"),
    ("methods/npo_gd/method", "lingtee", "npo_gd.method: no method 'lingtee'. Did you mean 'lingtea'"),
    ("methods/npo_gd/method", "tv", "methods.npo_gd: method tv brings its own terms; remove forget and retain, or"),
    ("methods/x", TV | {"retain": "gd"}, "methods.x: method tv brings its own terms; remove forget and retain, or"),
    ("methods/x", TV | {"params": {"beta": 1}}, "methods.x.params: no hyper-parameter 'beta'.* There are: alpha"),
    ("methods/x", TV | {"params": {"alpha": -1}}, "methods.x.params.alpha: -1 should be at least 0"),
    ("base_models/small/methods", {"npo": {"method": "tv"}}, "small.methods.npo: method tv brings its own terms"),
    (
        "methods/target",
        {"forget": "ga", "lr": 1, "epochs": 1},
        "methods.target: the names base, target, retrain are reserved",
    ),
    ("benchmarks/mu2/forget", {"p20": 20}, "forget.p20: 20 people to forget leave none of the 20 memorised"),
    ("benchmarks/mu2/forget", {"p20": 0}, "forget.p20: .*greater than 0"),
    ("benchmarks/mu2/settings/s1/holdout", ["es", "de"], "settings.s1: de both in train and in holdout"),
    ("benchmarks/mu2/settings/s1/train", [], "settings.s1.train"),
    ("benchmarks/mu2/settings/s1/train", ["en", "en"], "settings.s1.train: a language is listed twice"),
    ("benchmarks/mu2/metrics", ["ps", "kps2"], "no metric 'kps2'. Did you mean 'kps'"),
    ("benchmarks/mu2/judge", "oracle", "no judge 'oracle'"),
    ("benchmarks/mu2/heldout_share", 1.5, "heldout_share: should be less than 1; it is 1.5"),
    ("base_models/small/architecture", None, "base_models.small: give either architecture .* or name"),
    ("base_models/small/methods", {"npo_gd": {"rate": 1}}, "base_models.small.methods.npo_gd: no key 'rate'"),
    (
        "base_models/small/methods",
        {"npo": {"lr": "quick"}},
        "small.methods.npo.lr: should be a number; it is 'quick'",
    ),
    ("attacks/probab/attack", "probabb", "attacks.probab.attack: no attack 'probabb'. Did you mean 'probab'"),
    ("attacks/probab/params", {"temp": 1}, "attacks.probab.params: no parameter 'temp'"),
    ("attacks/none", {"attack": "probab"}, "attacks.none: this name is reserved"),
    ("experiments/mu2_small/benchmark", "mu", "experiments.mu2_small.benchmark: no benchmark 'mu'. Did you mean 'mu2'"),
    ("experiments/mu2_small/base_models", ["smal"], "no base model 'smal'. Did you mean 'small'"),
    ("experiments/mu2_small/settings", ["s9"], "no setting 's9'"),
    ("experiments/mu2_small/splits", ["p1"], "no split 'p1'. .*There are: p20"),
    ("experiments/mu2_small/methods", ["npo_gdr"], "no method 'npo_gdr'. Did you mean 'npo_gd'"),
    ("experiments/mu2_small/attacks", {"int4": "all"}, "no attack 'int4'"),
    ("experiments/mu2_small/attacks", {"probab": ["rmu"]}, "attacks.probab: no method of this experiment 'rmu'"),
    ("experiments", {"mu2_small": DEFAULT["experiments"]["mu2_small"] | {"enabled": False}}, "none is enabled"),
    ("only", "tofu", "only: no enabled experiment measures 'tofu'; enabled ones measure: leak, mu2"),
    ("gpus", {"training": 1}, "unknown key gpus.training. Did you mean 'train'"),
    ("device", "gpu", "key device: should be auto, cpu or cuda; it is 'gpu'"),
    # values of parameters
    ("methods/npo_gd/params", {"beta": 0}, "methods.npo_gd.params.beta: 0 should be above 0"),
    ("methods/npo_gd/params", {"beta": True}, "methods.npo_gd.params.beta: True should be a number"),
    ("methods/npo_gd/params", {"beta": None}, "methods.npo_gd.params.beta: None should be a number"),
    ("methods/x", {**GA, "forget": "rmu", "params": {"layer": 1.5}}, "methods.x.params.layer: 1.5 should be a whole"),
    ("methods/x", {**GA, "forget": "rmu", "params": {"layer": -1}}, "methods.x.params.layer: -1 should be at least 0"),
    (
        "methods/ga",
        {**GA, "forget": "rmu", "retain": "mse_hidden", "params": {"layer": 2}},
        "mu2_small.methods: method ga on base model small: layer 2 is too large, at most 1",
    ),
    (
        "methods/ga",
        {**SEARCH, "forget": "rmu", "candidates": {"params.layer": [1, 2]}},
        "mu2_small.methods: method ga~2 on base model small: layer 2 is too large, at most 1",
    ),
    (
        "methods/x",
        {**GA, "forget": "palu", "params": {"spans": "vlue"}},
        "params.spans: no choice 'vlue'. Did you mean",
    ),
    (
        "methods/npo_gd/params",
        {"reduction": "sequence_sum"},
        "npo_gd.params.reduction: this is a key of the method itself; write it as methods.npo_gd.reduction",
    ),
    ("methods/npo_gd/params", {"beta": float("inf")}, "npo_gd.params.beta: inf should be a number, and not infinite"),
    ("methods/npo_gd/betas", [0.9, 1.0], "npo_gd.betas.*less than 1"),
    ("methods/npo_gd/lr", 100, "npo_gd.lr: should be at most 1; it is 100"),
    ("methods/npo_gd/micro_batch_size", 32, "npo_gd.micro_batch_size: 32 examples a forward pass are more than the 16"),
    ("base_models/small/base/micro_batch_size", 64, "small.base.micro_batch_size: 64 examples .* more than the 32 of"),
    ("methods/x", TV | {"forget_weight": 2}, "methods.x: method tv has no terms to weigh; remove"),
    ("methods/npo_gd/forget_weight", -1, "npo_gd.forget_weight: should be at least 0"),
    ("methods/x", {**GA, "forget_weight": 0}, "methods.x: with these weights there is no loss"),
    (
        "methods/x",
        {"forget": "dpo", "params": {"scale": "one_over_bta", "delta": 1}, "lr": 1e-4, "epochs": 1},
        "methods.x.params.scale: .*Did you mean 'one_over_beta'.*two_over_beta(.|\n)*methods.x.params: .*'delta'",
    ),
    ("methods/x", {"forget": "wga", "params": {"beta": -1}, "lr": 1e-4, "epochs": 1}, "beta: -1 should be at least 0"),
    (
        "methods/ga_kl/params",
        {"direction": "ref_teta"},
        "ga_kl.params.direction: .*Did you mean 'ref_theta'.*theta",
    ),
    (
        "base_models/small/methods",
        {"npo": {"params": {"beta": -1}}},
        "npo.params.beta: -1 should be above 0",
    ),
    ("base_models/small/methods", {"ga": {"retain": "kll"}}, "small.methods.ga.retain: .*Did you mean 'kl'"),
    ("attacks/probab/params", {"samples": 0}, "attacks.probab.params.samples: 0 should be at least 1"),
    ("attacks/probab/params", {"samples": 2.5}, "attacks.probab.params.samples: 2.5 should be a whole number"),
    ("attacks/probab/params", {"top_p": 1.5}, "attacks.probab.params.top_p: 1.5 should be above 0 and at most 1"),
    ("attacks/probab/params", {"temperature": 0}, "attacks.probab.params.temperature: 0 should be above 0"),
    ("attacks/quantize/params", {"bits": 9}, "attacks.quantize.params.bits: 9 should be at least 2 and at most 8"),
    ("attacks/quantize/params", {"group_size": 0}, "attacks.quantize.params.group_size: 0 should be at least 1"),
    (
        "attacks/quantize/params",
        {"group_size": 48},
        "experiments.mu2_small.attacks: attack quantize on base model small: group_size 48 does not divide hidden 128",
    ),
    # searches and epochs
    ("methods/npo/candidates", {"lr": [1e-4]}, "methods.npo.select: say by what criterion .*mu2_retain_ps"),
    ("methods/npo/select", "mu2_retain_ps", "methods.npo.candidates: there are none to select from"),
    ("methods/npo", {**GA, "select": "mu2", "candidates": {"lr": [1]}}, "methods.npo.select: no criterion 'mu2'"),
    ("methods/npo", {**SEARCH, "candidates": {"lrr": [1]}}, "methods.npo.candidates: no key 'lrr'. Did you mean 'lr'"),
    ("methods/npo", {**SEARCH, "candidates": {"select": ["a"]}}, "methods.npo.candidates: no key 'select'"),
    ("methods/npo", {**SEARCH, "candidates": {"lr": []}}, "methods.npo.candidates.lr: .*at least one"),
    ("methods/npo", {**SEARCH, "candidates": {"lr": ["fast"]}}, "npo.candidates.lr: should be a number; it is 'fast'"),
    ("methods/npo", {**SEARCH, "candidates": {"lr": [1e-4, "1e-4"]}}, "npo.candidates.lr: 0.0001 stands there twice"),
    ("methods/npo", {**SEARCH, "candidates": {"lr.x": [1]}}, "npo.candidates.lr.x: lr is no map; .* lora, params"),
    (
        "methods/npo",
        {**SEARCH, "candidates": {"params.beta": [-1, 2]}},
        "methods.npo.candidates.params: no hyper-parameter 'beta'",
    ),
    (
        "methods/npo",
        {**SEARCH, "forget": "npo", "candidates": {"params.beta": [-1, 2]}},
        "methods.npo.candidates.params.beta: -1 should be above 0",
    ),
    ("methods/npo", {**SEARCH, "candidates": {"retain": ["gd", "gdd"]}}, "candidates.retain: no retain term 'gdd'"),
    (
        "base_models/small/methods",
        {"npo": {"select": "mu2_retain_ps"}},
        "small.methods.npo.select: the criterion is the same for every base model; set it in methods.npo",
    ),
    ("base_models/small/methods", {"npo": {"candidates": {"lr": [1]}}}, "small.methods.npo.select: say by what"),
    (
        "experiments/mu2_small/score_epochs",
        [2, 7, 9],
        "mu2_small.score_epochs: 7, 9 asked for, but method ga_gd trains 8 .*small; give at most 8|ga trains 3",
    ),
    ("experiments/mu2_small/score_epochs", "last", "mu2_small.score_epochs: should be a list or the word all"),
    ("experiments/mu2_small/score_epochs", [-1], "mu2_small.score_epochs.0: .*at least 0"),
    # models that cannot be
    ("base_models/small/architecture/hidden", 130, "small.architecture.hidden: 130 .*multiple of 2 x heads = 8; .*128"),
    ("base_models/small/architecture/heads", 128, "small.architecture.hidden: 128 .*multiple of 2 x heads = 256"),
    ("base_models/small/architecture/vocab_size", 260, "small.architecture.vocab_size: 260 .*at least 261"),
    (
        "base_models/small/target/background_share",
        1.0,
        "small.target.background_share: .*less than 1; it is 1.0",
    ),
    ("base_models/small/revision", "<commit>", "base_models.small.revision: '<commit>' is a placeholder"),
    # metrics that do not fit
    (
        "benchmarks/mu2/metrics",
        ["forget_quality"],
        "mu2.metrics: forget_quality needs wrong answers.*fit.*: accuracy, answer",
    ),
    ("benchmarks/mu2/heldout_share", 0, "general_knowledge needs general questions .it takes .*heldout_share above 0"),
    ("benchmarks/mu2/cut/nonmember", 0, "privleak needs people never seen .it takes cut.nonmember above 0"),
    ("benchmarks/mu2/heldout_share", 0.2, "mu2.heldout_share: 0.2 is too much for the 8 languages .* at most 1/8"),
    # attributes and languages
    ("benchmarks/mu2/cut/attributes", ["hoby"], "mu2.cut.attributes: no attribute 'hoby'. Did you mean 'hobby'"),
    ("benchmarks/mu2/cut/attributes", ["hobby", "hobby"], "mu2.cut.attributes: listed twice: hobby"),
    ("benchmarks/mu2/cut/attributes", "[hobby]", "attributes: should be a list or the word all; .*without quotes"),
    ("benchmarks/mu2/cut/attributes", [], "mu2.cut.attributes: the list is empty; name at least one of"),
    ("benchmarks/mu2/cut/attributes", ["hobby"], "mu2.cut: 90 people .* hobby have [0-9]+ combinations"),
    ("benchmarks/mu2/settings/s1/train", ["en", "aff"], "settings.s1.train: no language .*'aff'. Did you mean 'af'"),
    ("benchmarks/mu2/settings/s1/train", ["en", "de"], "settings.s1: the train languages are not balanced"),
    (
        "benchmarks/mu2/settings/s1/train",
        ["en", False],
        "s1.train.1: .*text; it is False .*quote the word: 'no'",
    ),
    ("benchmarks/mu2/settings/s1/train", ["en", 5], "s1.train.1: should be text; it is 5 .*quote it: '5'"),
    # attacks on prompts
    ("attacks/focus_on_key/params", {"times": 1}, "attacks.focus_on_key.params.times: 1 should be at least 2"),
    ("attacks/focus_on_key/params", {"spans": "value"}, "params.spans: no choice 'value'.* There are: entities, pos"),
    ("attacks/jailbreak_prefix/params", {"place": "prefil"}, "params.place: .*Did you mean 'prefill'"),
    ("attacks/few_shot/params", {"shots": 0}, "attacks.few_shot.params.shots: 0 should be at least 1"),
    ("attacks/few_shot/params", {"shot": 1}, "attacks.few_shot.params: no parameter 'shot'. Did you mean 'shots'"),
    ("attacks/few_shot/params", {"group": "forget"}, "params.group: no choice 'forget'.*retain"),
    ("attacks/relearn/params", {"share": 0}, "attacks.relearn.params.share: 0 should be above 0 and at most 1"),
    ("attacks/relearn/params", {"source": "retian"}, "params.source: .*Did you mean 'retain'"),
    # attacks composed wrongly
    (
        "experiments/mu2_small/attacks",
        {"probab+quantize": "all"},
        "experiments.mu2_small.attacks: attack 'probab.quantize': write it as 'quantize.probab'",
    ),
    (
        "experiments/mu2_small/attacks",
        {"quantize+prob": "all"},
        "mu2_small.attacks: no attack 'prob'. Did you mean",
    ),
    # plain words
    ("methods/Npo", GA, f"key methods: 'Npo' cannot be a name here; give {A_NAME}"),
    ("methods/npo_gd/forget", "NPO", f"key methods.npo_gd.forget: should be {A_NAME}; it is 'NPO'"),
    ("methods", {False: GA}, "key methods: False cannot be a name here; .*quote the word: 'no'"),
    ("methods/x", None, "key methods.x: should be a map with the keys epochs and lr; it is empty"),
    ("methods/npo_gd/params", {"beta": [1]}, "params.beta: should be a number or text or true or false; it is a list"),
    ("methods/npo_gd/betas", [0.9, 0.99, 0.999], "key methods.npo_gd.betas: should be a list of two numbers"),
    (
        "methods/npo_gd/schedule",
        "linaer",
        "should be cosine, linear or constant; it is 'linaer'. .*'linear'",
    ),
    ("benchmarks/mu2/kind", ..., "key benchmarks.mu2.kind is missing; add it. There are: files, leak, lume, mu2"),
    ("benchmarks/mu2", 3, "key benchmarks.mu2: should be a map with the keys metrics and kind; it is 3"),
    ("benchmarks/mu2/card", "mit", "mu2.card: should be a map of keys and values .license, title.; it is 'mit'"),
    # cards
    ("benchmarks/mu2/card", {"license": "CC-BY-4.0"}, "card.license: .*Hub writes it .the SPDX.*mean 'cc-by-4.0'"),
    ("benchmarks/mu2/card", {"license": 4.0}, "card.license: .*Hub writes it .*such as mit, .*; it is 4.0"),
    ("benchmarks/mu2/card", {"title": " "}, "key benchmarks.mu2.card.title: should be text that is not empty"),
    ("experiments/mu2_small/methods", "ga", "mu2_small.methods: should be a list; it is the text 'ga': write .ga."),
    (
        "experiments/mu2_small/attacks",
        {"probab": "ALL"},
        "attacks.probab: .*a list or the word all; .*mean 'all'",
    ),
    ("experiments/mu2_small/attacks", {"probab": ["Ga"]}, f"attacks.probab.0: should be {A_NAME}; it is 'Ga'"),
    ("experiments/mu2_small/seeds", [], "key experiments.mu2_small.seeds: should be at least one; it is empty"),
    # language models
    ("roles", {"jugde": "offline"}, "roles: no role 'jugde'. Did you mean 'judge'.* There are: backtranslator"),
    ("roles", {"refiner": "servd"}, "roles.refiner: no backend 'servd'. There are: offline"),
    ("roles", {"refiner": {"temprature": 1}}, "unknown key roles.refiner.temprature. Did you mean 'temperature'"),
    ("roles", {"refiner": {"temperature": 3}}, "roles.refiner.temperature: should be at most 2; it is 3"),
    ("roles", {"refiner": 5}, "roles.refiner: should be the name of a backend, or a map with the key backend; it is 5"),
    ("roles", {"judge": {"max_tokens": 64}}, "key roles.judge.backend is missing; add it"),
    ("roles", "served", "key roles: should be a map of names, each with a map with the key backend; it is 'served'"),
    ("roles", {"judge": "gpt-4o"}, "roles.judge: no backend 'gpt-4o'. .*Add it: backends: {gpt-4o: {kind: openai"),
    ("benchmarks/mu2/judge", "gpt-4o", "mu2.judge: no judge 'gpt-4o'. There are: llm, rule. .*roles.judge says"),
    (
        "roles",
        {"rater_1": "offline"},
        "role rater_1 has no offline engine; give it a.*: equivalence, .*refiner",
    ),
    ("backends", {"offline": {"kind": "vllm", "model": "m"}}, "backends.offline: this name is reserved"),
    ("backends", {"a": {"kind": "vlm", "model": "m"}}, "backends.a.kind: no kind 'vlm'. Did you mean 'vllm'.*: openai"),
    ("backends", {"a": {"kind": "OpenAI", "model": "m"}}, "backends.a.kind: no kind 'OpenAI'. Did you mean 'openai'"),
    ("backends", {"a": {"kind": None, "model": "m"}}, "key backends.a.kind is missing; add it. There are: openai"),
    ("backends", {"a": {"kind": "vllm"}}, "key backends.a.model is missing; add it"),
    ("backends", {"a": "gpt-4o"}, "key backends.a: should be a map with the keys kind and model; it is 'gpt-4o'"),
    ("backends", [], "backends: should be a map of names, each with a map with the keys kind and model; it is empty"),
    ("backends", {"model": "m"}, "backends.model: .*kind and model; model is one of its keys, so write a name above"),
    ("backends", {"a": {"kind": "openai", "model": " "}}, "backends.a.model: should be text that is not empty"),
    ("backends", {"a": {"kind": "vllm", "model": "<model>"}}, "backends.a.model: '<model>' is a placeholder; put the"),
    (
        "backends",
        {"a": {"kind": "vllm", "model": "m", "revision": "<commit>"}},
        "backends.a.revision: '<commit>' is a placeholder",
    ),
    (
        "backends",
        {"a": {"kind": "openai", "model": "m", "base_url": "http://h/v1/chat/completions"}},
        "backends.a.base_url: ends with the path of a call, .*give what stands before it",
    ),
    *(
        (
            "backends",
            {"a": {"kind": "openai", "model": "m", "base_url": f"http://h:{port}/v1"}},
            "backends.a.base_url: its port, after the host's colon, should be a number from 1 to 65535",
        )
        for port in (65536, 0, -1, "eighty")
    ),
    (
        "backends",
        {"a": {"kind": "openai", "model": "m", "base_url": "http://[::1/v1"}},
        "backends.a.base_url: should be an address that starts with http",
    ),
    (
        "backends",
        {"a": {"kind": "vllm", "model": "m", "memory_share": 2}},
        "memory_share: should be at most 1; it is 2",
    ),
    ("backends", {"a": {"kind": "openai", "model": "m", "structured": "yaml"}}, "structured: .*json_schema.*'yaml'"),
    ("backends", {"a": {"kind": "openai", "model": "m", "api_key": "s"}}, "unknown key backends.a.api_key"),
    ("prices", {"m": {"input": 1}}, "key prices.m.output is missing"),
    ("prices", {"gpt": 3}, "key prices.gpt: should be a map with the keys input and output; it is 3"),
    ("prices", {"input": 1, "output": 2}, "prices.input: .*input is one of its keys, so write a name above it"),
    ("prices", {4: {"input": 1, "output": 2}}, "key prices: 4 cannot be a name here; give text .*quote it: '4'"),
    ("llm", {"spending_cap": -1}, "key llm.spending_cap: should be at least 0"),
    ("llm", {"spending_cap": float("inf")}, "llm.spending_cap: should be a number, and not infinite; it is inf"),
    ("llm", {"spending_cap": True}, "llm.spending_cap: should be a number; it is True .YAML reads yes, on and true so"),
    ("llm", {"reask": -1}, "key llm.reask: should be at least 0"),
]


@pytest.mark.parametrize(("path", "value", "said"), BAD, ids=[f"{p}={str(v)[:20]}" for p, v, _ in BAD])
def test_a_bad_configuration_is_refused_with_key_and_fix(path, value, said):
    with pytest.raises(ConfigError, match=said) as caught:
        parse(changed(path, value))
    assert "config/config.yaml" in str(caught.value) or "only:" in str(caught.value)
    for jargon in ("Input", "constrained", "pattern", "[key]", "discriminator", "literal["):
        assert jargon not in str(caught.value)


def kinds_in(annotation) -> set:
    """The types that values of `annotation` are made of."""
    parts = [part for part in typing.get_args(annotation) if isinstance(part, type) or typing.get_args(part)]
    return set().union(*map(kinds_in, parts)) if parts else {annotation}


def made_of(value, annotation):
    """`value` in the form that `annotation` takes."""
    while typing.get_origin(annotation) in (typing.Annotated, typing.Union, types.UnionType):
        annotation = typing.get_args(annotation)[0]
    shape = typing.get_origin(annotation)
    return {dict: {"a": value}, list: [value], tuple: [value, value]}.get(shape, value)


def test_true_and_false_are_nowhere_taken_for_numbers():
    sections = {
        c
        for m in (schema, every_benchmark, benchmarks, models, methods, llm)
        for c in vars(m).values()
        if is_section(c)
    }
    checked = 0
    for section in sections:
        for name, field in section.model_fields.items():
            kinds = kinds_in(field.annotation)
            if kinds & {int, float} and bool not in kinds:
                with pytest.raises(ValidationError) as caught:
                    section.model_validate({name: made_of(True, field.annotation)})
                assert name in {error["loc"][0] for error in caught.value.errors()}, (section, name)
                checked += 1
    assert checked > 60


def is_section(found) -> bool:
    return isinstance(found, type) and issubclass(found, fields.Section)
