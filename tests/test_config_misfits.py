"""Bad configurations of keys that do not fit each other, and of benchmarks read from files."""

import pytest

from configurations import changed, overlaid, parse
from unlearning.config.problems import ConfigError

GA = {"forget": "ga", "lr": 1, "epochs": 1}
BAD_FILES = [
    (
        "sets/retain/rows",
        [5, 2],
        "benchmarks.tofu.sets.retain.rows: .5, 2.; give .first, end. from 0",
    ),
    (
        "sets/retain/rows",
        [0, 3961],
        "forget01: sets forget01 .forgotten. and retain .retained. share rows of full",
    ),
    ("sets/retain/rows", None, "forget01: sets forget01 .forgotten. and retain .retained. share rows of full"),
    ("sets/retain/train", False, "splits.forget01: .'forget01'. are all there is; keep a set of group retain"),
    ("splits/forget01", ["retain", "forget01"], "splits.forget01: .*are all there is; keep a set of group retain"),
    ("splits/forget01", ["forget1"], "splits.forget01: no set 'forget1'. Did you mean 'forget01'"),
    ("splits/forget01", [], "benchmarks.tofu.splits.forget01: the forget set is empty"),
    ("splits/forget01", ["world_facts"], "splits.forget01: set world_facts needs group forget or retain"),
    ("sets/retain/file", "/data/full.json", "tofu.sets.retain.file: '/data/full.json' .*below the folder sources.tofu"),
    ("sets/retain/align", "../full.json", "tofu.sets.retain.align: '../full.json' .*below the folder sources.tofu"),
    (
        "sets/retain/group",
        "retian",
        "sets.retain.group: should be forget, retain, .*; it is 'retian'. .*'retain'",
    ),
    ("source", "tofuu", "benchmarks.tofu.source: no folder for 'tofuu'; write sources: {tofuu: /path}"),
    ("metrics", ["kps"], "tofu.metrics: kps needs at least two languages .a files benchmark has none.*fit.*rouge_l"),
    ("metrics", ["general_knowledge"], "general_knowledge needs general questions .it takes a set of group utility"),
    ("columns", {}, "forget_quality needs wrong answers in the same words .it takes columns.perturbed"),
]


@pytest.mark.parametrize(("path", "value", "said"), BAD_FILES, ids=[f"{p}={str(v)[:20]}" for p, v, _ in BAD_FILES])
def test_a_bad_benchmark_of_files_is_refused_with_key_and_fix(path, value, said):
    with pytest.raises(ConfigError, match=said):
        parse(changed(f"benchmarks/tofu/{path}", value, overlaid("tofu_files.yaml")))


def test_background_rows_that_there_are_not_are_not_trained_on():
    config = overlaid("tofu_files.yaml")
    tofu = config["benchmarks"]["tofu"]
    tofu["sets"] = {name: tofu["sets"][name] for name in ("retain", "forget01")}
    tofu["metrics"] = ["rouge_l"]
    said = "base_models.tofu_small.target.background_share: 0.3 of background rows, of which benchmark tofu .* has none"
    with pytest.raises(ConfigError, match=said):
        parse(config)
    config["base_models"]["tofu_small"]["target"]["background_share"] = 0
    assert parse(config)


@pytest.mark.parametrize(
    ("attack", "params", "message"),
    [
        ("translate", {"to": "fr"}, r"attacks.translate.params.to \(.*mu2\): no language 'fr'.* There are: af, de, en"),
        ("few_shot", {"group": "world_facts"}, "few_shot.params.group .*: no group 'world_facts'.*nonmember, retain"),
    ],
)
def test_an_attack_names_what_the_benchmark_has(attack, params, message):
    config = changed(f"attacks/{attack}/params", params)
    parse(config)  # not used, not refused
    config["experiments"]["mu2_small"]["attacks"] = {f"{attack}+probab": "all"}
    with pytest.raises(ConfigError, match=message):
        parse(config)


def test_an_attack_in_another_language_needs_one():
    config = overlaid("tofu_files.yaml")
    name = next(n for n, e in config["experiments"].items() if e["benchmark"] == "tofu")
    config["experiments"][name]["attacks"] = {"translate": "all"}
    wanted = r"attack translate does not fit benchmark tofu: translate needs at least two languages \(a files benchmark"
    with pytest.raises(ConfigError, match=wanted):
        parse(config)


def test_pictures_are_shuffled_and_scored_where_there_are_any():
    config = changed("attacks/shuffled", {"attack": "shuffle_images"})
    config["experiments"]["mu2_small"]["attacks"] = {"shuffled": "all"}
    pictures = r"needs questions in text and about pictures \(a mu2 benchmark has none\)"
    with pytest.raises(ConfigError, match=f"attack shuffled does not fit benchmark mu2: shuffle_images {pictures}"):
        parse(config)
    for metric in ("modality_accuracy", "modality_rouge", "utility_average", "abstained", "picture_use"):
        with pytest.raises(ConfigError, match=f"mu2.metrics: {metric} {pictures}"):
            parse(changed("benchmarks/mu2/metrics", [metric]))


def test_attention_maps_and_sharded_weights_are_refused_together():
    shifting = {"forget": "attention_shift", "retain": "gd", "lr": 1e-3, "epochs": 1}
    config = changed("methods/npo_gd", shifting, changed("scale", {"processes": 2, "sharding": "full"}))
    with pytest.raises(ConfigError, match="methods: npo_gd reads attention maps.*set scale.sharding: none"):
        parse(config)
    parse(changed("scale", {"processes": 2}, config))


def test_sensitive_spans_by_entities_need_spacy(monkeypatch):
    config = changed("methods/x", {**GA, "forget": "palu", "params": {"spans": "entities"}})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="methods.x.params.spans: entities needs spaCy, which is not installed"):
        parse(config)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    parse(config)
