"""The configuration: overlays, runs, parameters, and the page that describes it."""

import copy
import json
import subprocess
import sys

import pytest
import yaml

from configurations import DEFAULT, ROOT, changed, overlaid, parse
from unlearning.config import check_experiments, docs, parameters
from unlearning.config.check_benchmarks import OFFERS
from unlearning.config.check_methods import method_for
from unlearning.config.load import load
from unlearning.config.overlay import check_files
from unlearning.config.problems import ConfigError
from unlearning.config.runs import candidates_of, epochs_of, plan, several_epochs
from unlearning.registry import available, declared

BAD_TEXTS = [
    ("", "overlay.yaml is empty"),
    ("# a comment\n", "overlay.yaml is empty"),
    ("- a\n", "overlay.yaml should have keys at the top"),
    ("methods:\n\tga: {lr: 1}\n", "overlay.yaml, line 2: a tab"),
    ("methods:\n  ga: {lr: 1\n", "overlay.yaml, line 3: not readable as YAML"),
    ("device: cpu\ndevice: cuda\n", "overlay.yaml, line 2: key device stands in line 1 already"),
    ("a:\n  b: {c: 1, c: 2}\n", "overlay.yaml, line 2: key a.b.c stands in line 2 already"),
    ("a:\n  - {c: 1}\n  - {d: 1, d: 2}\n", "overlay.yaml, line 3: key a.d stands in line 3 already"),
]


@pytest.mark.parametrize(("text", "said"), BAD_TEXTS, ids=[repr(text) for text, _ in BAD_TEXTS])
def test_a_broken_overlay_is_named_with_its_line(tmp_path, text, said):
    (tmp_path / "overlay.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        check_files([tmp_path / "overlay.yaml"])


def test_whole_overlays_pass(tmp_path):
    json_with_tabs, merged = tmp_path / "a.json", tmp_path / "b.yaml"
    json_with_tabs.write_text('{\n\t"device": "cpu"\n}', encoding="utf-8")
    merged.write_text("a: &a {b: 1}\nc: {<<: *a, d: 2}\ne: *a\n", encoding="utf-8")
    check_files([*(ROOT / "config").glob("*.yaml"), json_with_tabs, merged])


def test_a_key_given_twice_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "twice.yaml").write_text("only: mu2\nonly: mu2\n", encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--configfile", str(tmp_path / "twice.yaml")]
    done = subprocess.run([*command, "--directory", str(ROOT)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "twice.yaml, line 2: key only stands in line 1 already" in done.stdout + done.stderr


@pytest.mark.parametrize("folder", ["forget", "retain", "methods", "attacks"])
def test_limits_are_of_parameters_and_allow_the_defaults(folder):
    for name in available(folder):
        params, limits = (declared(f"unlearning.{folder}.{name}", c, {}) for c in ("PARAMS", "LIMITS"))
        assert set(limits) <= set(params)
        assert not list(parameters.check("here", params, [f"unlearning.{folder}.{name}"], "parameter"))


def test_a_method_with_its_own_terms_needs_none():
    assert load(changed("methods/x", {"method": "tv", "lr": 1, "epochs": 1})).methods["x"].forget is None


def test_what_a_metric_may_ask_of_questions_is_known():
    for name in available("metrics"):
        assert set(declared(f"unlearning.metrics.{name}", "ITEMS", ())) <= set(OFFERS)


def test_checking_a_configuration_loads_nothing_heavy():
    program = (
        "import sys, unlearning.config.load, unlearning.config.runs, unlearning.config.resources\n"
        "print(sorted({'torch', 'transformers', 'pandas', 'numpy', 'snakemake'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(ROOT / "workflow"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_problem_is_listed_at_once():
    config = changed("methods/npo_gd/forget", "npoo")
    config["benchmarks"]["mu2"]["judge"] = "oracle"
    with pytest.raises(ConfigError) as caught:
        load(config)
    assert "npoo" in str(caught.value) and "oracle" in str(caught.value)


def test_the_default_is_valid_and_its_runs_are_unique():
    runs = plan(load(DEFAULT))
    assert len(set(runs)) == len(runs)
    for experiment in DEFAULT["experiments"].values():
        methods = {r.method for r in runs if r.benchmark == experiment["benchmark"]}
        assert methods == {"target", "retrain", *experiment["methods"]}


def test_numbers_in_scientific_notation_are_numbers():
    assert load(changed("methods/npo_gd/params", {"beta": "1e-2"})).methods["npo_gd"].params == {"beta": 0.01}
    assert load(changed("methods/npo_gd/lr", "1e-5")).methods["npo_gd"].lr == 1e-5


def test_a_parameter_that_is_found_from_the_model_may_be_null_or_a_whole_number():
    for layer in (None, 1):
        rmu = {"forget": "rmu", "lr": 1e-4, "epochs": 1, "params": {"layer": layer}}
        assert load(changed("methods/ga", rmu)).methods["ga"].params == {"layer": layer}


def test_two_experiments_share_their_runs():
    config = copy.deepcopy(DEFAULT)
    config["experiments"]["again"] = copy.deepcopy(config["experiments"]["mu2_small"])
    assert plan(load(config)) == plan(load(DEFAULT))


def test_a_base_model_may_change_a_methods_keys():
    config = load(changed("base_models/small/methods", {"npo_gd": {"lr": "2e-5"}}))
    assert method_for(config, "small", "npo_gd").lr == 2e-5
    assert config.methods["npo_gd"].lr == load(DEFAULT).methods["npo_gd"].lr


def test_a_base_models_parameters_join_the_methods_own():
    config = load(changed("base_models/small/methods", {"ga_kl": {"lr": 1e-5}, "npo": {"params": {"beta": 0.5}}}))
    assert method_for(config, "small", "npo").params == {"beta": 0.5}
    assert method_for(config, "small", "ga_kl").params == {"direction": "ref_theta"}


SEARCHED = {"candidates": {"lr": ["1e-4", 2e-4], "params.beta": [0.1, 0.5]}, "select": "mu2_retain_ps"}


def searched(**keys):
    """The default with a search of npo_gd."""
    return changed("methods/npo_gd", {**DEFAULT["methods"]["npo_gd"], **SEARCHED, **keys})


def test_candidates_are_every_combination_numbered_from_one():
    config = load(searched())
    assert candidates_of(config, "small", "npo_gd") == {
        "npo_gd~1": {"lr": 1e-4, "params.beta": 0.1}, "npo_gd~2": {"lr": 1e-4, "params.beta": 0.5},
        "npo_gd~3": {"lr": 2e-4, "params.beta": 0.1}, "npo_gd~4": {"lr": 2e-4, "params.beta": 0.5},
    }  # fmt: skip
    assert candidates_of(config, "small", "npo") == {}
    second = method_for(config, "small", "npo_gd~2")
    assert (second.lr, second.params, second.epochs) == (1e-4, {"beta": 0.5}, 20)


def test_a_candidate_is_the_method_that_its_values_written_out_would_be():
    plain = load(changed("methods/npo_gd/lr", 1e-4))
    assert method_for(load(searched()), "small", "npo_gd~1") == method_for(plain, "small", "npo_gd")


def test_a_base_model_may_have_its_own_candidates():
    config = searched()
    config["base_models"]["small"]["methods"] = {"npo_gd": {"candidates": {"epochs": [5, 10]}, "lr": 1e-3}}
    config = load(config)
    assert candidates_of(config, "small", "npo_gd") == {"npo_gd~1": {"epochs": 5}, "npo_gd~2": {"epochs": 10}}
    assert method_for(config, "small", "npo_gd~1").lr == 1e-3
    assert [epochs_of(config, "small", m) for m in ("npo_gd", "npo_gd~1", "npo_gd~2")] == [10, 5, 10]


def test_a_search_changes_no_run():
    assert plan(load(searched())) == plan(load(DEFAULT))


def test_a_method_that_is_searched_cannot_be_scored_by_epoch():
    config = searched()
    config["experiments"]["mu2_small"]["score_epochs"] = "all"
    with pytest.raises(ConfigError, match="mu2_small.score_epochs: method npo_gd is chosen among candidates"):
        load(config)


def test_a_criterion_that_reads_what_the_benchmark_lacks_is_refused(monkeypatch):
    def told(module, name, default=None):
        return ("forget_quality",) if name == "METRICS" else declared(module, name, default)

    monkeypatch.setattr(check_experiments, "declared", told)
    said = "methods.npo_gd.select: mu2_retain_ps does not fit benchmark mu2: forget_quality needs wrong answers"
    with pytest.raises(ConfigError, match=said):
        load(searched())


def test_epochs_asked_for_are_scored_without_attack_and_the_last_one_with():
    config = changed("experiments/mu2_small/score_epochs", [0, 1, 3], changed("only", "mu2"))
    config["experiments"]["mu2_small"] |= {"methods": ["ga", "npo_gd"], "attacks": {"quantize": ["npo_gd"]}}
    runs = plan(load(config))
    found = [(r.method, r.epoch, r.attack) for r in runs]
    assert found == [
        ("target", 12, "none"), ("retrain", 8, "none"), ("ga", 1, "none"), ("ga", 3, "none"),
        ("npo_gd", 1, "none"), ("npo_gd", 3, "none"), ("npo_gd", 20, "none"), ("npo_gd", 20, "quantize"),
    ]  # fmt: skip
    assert several_epochs(runs) == {("mu2", "small", "ga"): [1, 3], ("mu2", "small", "npo_gd"): [1, 3, 20]}
    config["experiments"]["mu2_small"]["score_epochs"] = "all"
    assert several_epochs(plan(load(config)))["mu2", "small", "npo_gd"] == list(range(1, 21))
    assert several_epochs(plan(load(DEFAULT))) == {}


def test_an_attack_on_all_methods_leaves_target_and_retrained_alone():
    runs = plan(load(changed("experiments/mu2_small/attacks", {"quantize+probab": "all"}, changed("only", "mu2"))))
    attacked = {r.method for r in runs if r.attack != "none"}
    assert attacked == set(DEFAULT["experiments"]["mu2_small"]["methods"])


def test_the_reference_of_the_configuration_is_up_to_date():
    page = (ROOT / "config/README.md").read_text(encoding="utf-8")
    assert page == docs.render(), "config/README.md is out of date: run `make docs`"


@pytest.mark.parametrize("overlay", sorted(p.name for p in (ROOT / "config").glob("*.yaml") if p.name != "config.yaml"))
def test_every_overlay_is_valid(overlay):
    assert parse(overlaid(overlay))


PAPERS = sorted(f"paper/{p.name}" for p in (ROOT / "config/paper").glob("*.yaml"))


@pytest.mark.parametrize("overlays", [*([name] for name in PAPERS), PAPERS, PAPERS[::-1]], ids=" ".join)
def test_the_papers_are_valid_alone_and_together_and_run_the_same_either_way(overlays):
    check_files(ROOT / "config" / name for name in overlays)
    runs = parse(overlaid(*overlays))
    assert set(runs) == {run for name in overlays for run in parse(overlaid(name))}
    assert not {run.base_model for run in runs} & DEFAULT["base_models"].keys()


def test_what_the_papers_switch_off_is_valid_once_its_files_are_named():
    config = overlaid(*PAPERS)
    off = [e for name, e in config["experiments"].items() if name not in DEFAULT["experiments"] and "enabled" in e]
    assert len(off) == 5
    for experiment in off:
        experiment["enabled"] = True
    config["sources"] |= {"mquake": "somewhere"}
    assert {e["benchmark"] for e in off} <= {run.benchmark for run in parse(config)}


def test_the_papers_share_no_name_but_say_the_same_of_what_they_share():
    written = [yaml.safe_load((ROOT / "config" / name).read_text(encoding="utf-8")) for name in PAPERS]
    for section in ("benchmarks", "base_models", "methods", "attacks", "sources"):
        names = [name for overlay in written for name in overlay.get(section, {})]
        assert len(set(names)) == len(names), section
    for key in ("gpus", "scale", "backends", "roles", "prices"):
        assert len({json.dumps(overlay[key], sort_keys=True) for overlay in written if key in overlay}) == 1, key
    assert all(m["billions"] > 0 for overlay in written for m in overlay["base_models"].values())


def test_every_profile_reruns_for_the_same_reasons():
    profiles = {p.parent.name: yaml.safe_load(p.read_text()) for p in (ROOT / "profiles").glob("*/profile.yaml")}
    assert profiles["default"]["rerun-triggers"] == ["mtime", "params", "input", "software-env"]
    for name, profile in profiles.items():
        for key in ("rerun-triggers", "max-checksum-file-size"):
            assert profile[key] == profiles["default"][key], f"profiles/{name}: {key}"
