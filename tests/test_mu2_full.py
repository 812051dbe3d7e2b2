"""The paper-size overlay and its two settings; what is refused of them, and of route llm."""

import pytest
import yaml
from snakemake.utils import update_config

from mu2_sources import ROOT, SOURCES
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.config.resources import check_resources
from unlearning.config.runs import plan
from unlearning.data.languages import read_languages
from unlearning.data.phrasebook import read_pools

LANGUAGES = {code: language.resource for code, language in read_languages(SOURCES / "languages.yaml").items()}
POOLS = {attribute: len(pool) for attribute, pool in read_pools(SOURCES / "pools.yaml").items()}


def config(**mu2):
    """The checked configuration of the paper-size overlay, with changes to its benchmark."""
    raw = {}
    for name in ("config", "mu2_full"):
        update_config(raw, yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")))
    top = {key: mu2.pop(key) for key in ("backends", "roles") if key in mu2}
    update_config(raw, {"benchmarks": {"mu2": mu2}, **top})
    checked = load(raw)
    check_resources(checked, POOLS, LANGUAGES)
    return checked


def test_it_is_the_size_of_the_paper():
    found = config()
    mu2 = found.benchmarks["mu2"]
    assert (mu2.cut.memorised, mu2.cut.nonmember, mu2.cut.attributes) == (200, 50, "all") and len(POOLS) == 20
    assert mu2.forget | {} == {"p20": 4, "p1": 2, "p3": 6, "p5": 10}  # 1, 3 and 5 % of 200; p20 is the default's
    languages = {c for s in mu2.settings.values() for c in (*s.train, *s.holdout)}
    assert languages == set(LANGUAGES) and len(languages) == 12
    assert (200 + 50) * 20 * len(languages) == 60_000
    assert {(run.setting, run.split) for run in plan(found)} == {
        (s, p) for s in ("s1", "s2") for p in ("p1", "p3", "p5")
    }


def test_settings_are_the_papers_and_share_their_holdout_languages():
    settings = config().benchmarks["mu2"].settings
    assert settings["s1"].train == ["en", "de", "id", "af"] and settings["s2"].train == ["zh", "ko", "ur", "el"]
    assert settings["s1"].holdout == settings["s2"].holdout == ["es", "lv", "th", "mk"]
    for setting in settings.values():
        assert not set(setting.train) & set(setting.holdout)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"train": ["zh", "ko", "ur", "el"], "holdout": ["es", "lv", "th", "el"]}, "el both in train and in holdout"),
        ({"train": ["zh", "ko", "ur", "th"], "holdout": ["es", "lv", "af", "mk"]}, "not balanced"),
        (
            {"train": ["zh", "ur", "ko", "xx"], "holdout": ["es", "lv", "th", "mk"]},
            "no language with a phrasebook 'xx'",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_refused(setting, message):
    with pytest.raises(ConfigError, match=message):
        config(settings={"s2": setting})


SERVED = {"served": {"kind": "openai", "model": "m"}}


def test_route_llm_takes_a_translator_and_a_back_translator_that_knows_the_languages():
    with pytest.raises(ConfigError, match="benchmarks.mu2.route: role translator has no offline engine"):
        config(route="llm")
    roles = {"translator": "served"}
    assert config(route="llm", backends=SERVED, roles=roles).benchmarks["mu2"].back_translator.service == "google"
    with pytest.raises(ConfigError, match="role backtranslator has no offline engine"):
        config(route="llm", backends=SERVED, roles=roles, back_translator={"service": "llm"})
    with pytest.raises(
        ConfigError, match=r"benchmarks.mu2.back_translator.service: deepl is not known to translate af, ko"
    ):
        config(route="llm", backends=SERVED, roles=roles, back_translator={"service": "deepl"})
    with pytest.raises(ConfigError, match="There are: google, mymemory"):
        config(route="llm", backends=SERVED, roles=roles, back_translator={"service": "bing"})
    assert config(back_translator={"service": "bing"})  # not looked at where phrasebooks translate
