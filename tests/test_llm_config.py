"""The configuration of language models: who answers for a role, at what price, and never a secret in it."""

import copy
from pathlib import Path

import pytest
import yaml

from unlearning.config.check_llm import offline_problem
from unlearning.config.doors import door_code, door_gpus, door_settings, sampling_settings, unset_keys
from unlearning.config.llm import ROLES
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.llm.requests import Sampling
from unlearning.registry import available, module_file

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
BACKENDS = {
    "served": {"kind": "openai", "model": "large", "base_url": "http://localhost:8000/v1"},
    "gpu": {"kind": "vllm", "model": "m", "revision": "abc"},
    "cpu": {"kind": "vllm", "model": "m", "device": "cpu"},
    "local": {"kind": "transformers", "model": "large"},
}
PRICES = {"large": {"input": 0.15, "output": 0.60}}


def configured(**keys):
    return load(copy.deepcopy(DEFAULT) | {"backends": BACKENDS} | keys)


def test_a_role_nobody_named_is_offline():
    settings = door_settings(configured(), "refiner")
    assert settings == {"name": "offline", "backend": {"kind": "offline"}, "reask": 0, "cap": None, "price": None}
    assert door_code(configured(), "refiner") == ["unlearning.llm.backends.offline", "unlearning.llm.offline.refiner"]


def test_a_role_may_be_a_name_or_a_map():
    roles = {"refiner": "gpu", "judge": {"backend": "served", "temperature": "1e-1", "max_tokens": 64}}
    config = configured(roles=roles, llm={"reask": 1})
    assert door_settings(config, "refiner")["backend"] == {
        "kind": "vllm", "model": "m", "revision": "abc", "dtype": "auto", "max_length": 4096, "memory_share": 0.9,
        "device": "auto",
    }  # fmt: skip
    judge = door_settings(config, "judge")
    assert (judge["name"], judge["reask"], judge["backend"]["key_env"]) == ("served", 1, "OPENAI_API_KEY")
    assert Sampling(**sampling_settings(config, "judge")) == Sampling(0.1, 1.0, 64, 0)
    assert Sampling(**sampling_settings(config, "refiner")) == Sampling()
    assert door_code(config, "judge") == ["unlearning.llm.backends.openai"]


def test_only_endpoints_have_a_price_and_only_what_has_one_is_capped():
    config = configured(roles={"judge": "served", "refiner": "local"}, prices=PRICES, llm={"spending_cap": "2.5"})
    judge, refiner = door_settings(config, "judge"), door_settings(config, "refiner")
    assert (judge["price"], judge["cap"]) == (PRICES["large"], 2.5)
    assert (refiner["price"], refiner["cap"]) == (None, None)  # the same model, run at home
    free = configured(roles={"judge": "served"})
    assert door_settings(free, "judge")["price"] is None


def test_a_cap_needs_the_price_of_every_paid_model_that_is_used():
    said = r"llm.spending_cap: model 'large' \(backends.served, role judge\) has no price. Did you mean 'larg'"
    with pytest.raises(ConfigError, match=said):
        configured(roles={"judge": "served"}, prices={"larg": {"input": 1, "output": 1}}, llm={"spending_cap": 1})
    configured(roles={"judge": "gpu"}, llm={"spending_cap": 1})


def test_a_model_in_a_backends_place_and_a_backend_in_a_models_are_told():
    with pytest.raises(ConfigError, match=r"roles.judge: no backend 'large'.* model of backends.served: write served"):
        configured(roles={"judge": "large"})
    with pytest.raises(ConfigError, match=r"has no price. Prices are by model, not by backend. Add prices: \{large"):
        configured(roles={"judge": "served"}, prices={"served": PRICES["large"]}, llm={"spending_cap": 1})


def test_a_cap_of_nothing_is_a_cap():
    config = configured(roles={"judge": "served"}, prices=PRICES, llm={"spending_cap": 0})
    assert door_settings(config, "judge")["cap"] == 0.0


def test_gpus_are_asked_for_where_vllm_runs_on_them():
    roles = {"judge": "gpu", "writer": "cpu", "refiner": "local", "translator": "served"}
    config = configured(roles=roles, gpus={"complete": 2}, device="cpu")
    assert [door_gpus(config, role) for role in (*roles, "equivalence")] == [2, 0, 0, 0, 0]


@pytest.mark.parametrize("entry", [{"key_env": "sk-very-secret-1"}, {"base_url": "https://me:very-secret-1@host/v1"},
                                   {"base_url": "https://host/v1?key=very-secret-1"}, {"api_key": "very-secret-1"},
                                   {"key_env": "very_secret_1"}, {"base_url": "very-secret-1"}],
                         ids=lambda entry: str(*entry))  # fmt: skip
def test_a_secret_in_the_configuration_is_refused_and_not_shown(entry):
    with pytest.raises(ConfigError, match="key_env|base_url|api_key") as caught:
        configured(backends={"served": BACKENDS["served"] | entry})
    assert "secret-1" not in str(caught.value) and "secret_1" not in str(caught.value)


@pytest.mark.parametrize("route", ["llm", "phrasebook"])
def test_a_back_translators_key_in_the_configuration_is_refused_and_not_shown(route):
    config = copy.deepcopy(DEFAULT) | {"backends": BACKENDS, "roles": {"translator": "served"}}
    back = {"service": "microsoft", "key_env": {"api_key": "very-secret-1:fx"}}
    config["benchmarks"]["mu2"] |= {"route": route, "back_translator": back}
    with pytest.raises(ConfigError, match="back_translator.key_env.api_key: .*environment variable") as caught:
        load(config)
    assert "secret-1" not in str(caught.value)


def test_an_api_key_that_is_not_there_is_told_with_who_looks_for_it(monkeypatch):
    for name in ("OPENAI_API_KEY", "OWN_KEY", "YANDEX_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    served = {"name": "served", "backend": {"kind": "openai", "key_env": "OWN_KEY"}}
    jobs = [
        {"door": {"name": "offline", "backend": {"kind": "offline"}}},
        {"door": served, "back_translator": None},
        {"doors": {"judge": served | {"name": "again"}, "refiner": {"name": "free", "backend": {"key_env": None}}}},
        {"doors": {}, "back_translator": {"service": "yandex", "key_env": {}}},
        {"doors": {}, "back_translator": {"service": "deepl", "key_env": {"api_key": "OWN_KEY"}}},
        {"doors": {}, "back_translator": {"service": "llm", "key_env": {}}},
    ]
    own, yandex = unset_keys(jobs)
    assert own.startswith("the environment variable OWN_KEY is not set (export OWN_KEY=…): backends.served.key_env ")
    assert "YANDEX_API_KEY is not set" in yandex and "back_translator.service yandex" in yandex
    monkeypatch.setenv("OWN_KEY", "k")
    assert unset_keys(jobs) == [yandex] and unset_keys([{"language": "en"}]) == []


def test_who_uses_a_role_can_ask_whether_anyone_answers_for_it():
    config = configured(roles={"judge": "gpu"})
    assert list(offline_problem(config, "judge", "benchmarks.x.judge")) == []
    assert list(offline_problem(config, "refiner", "benchmarks.x.route")) == []
    (told,) = offline_problem(config, "rater_2", "benchmarks.x.raters")
    assert told.startswith("benchmarks.x.raters: role rater_2 has no offline engine; give it a backend")


def test_every_offline_engine_belongs_to_a_role():
    assert set(available("llm/offline")) <= set(ROLES)
    assert all(module_file(module) for role in available("llm/offline") for module in door_code(configured(), role))
