"""What a person may say of judges in the configuration."""

import pytest

from configurations import DEFAULT, changed, parse
from unlearning.config.doors import door_settings
from unlearning.config.load import load
from unlearning.config.problems import ConfigError


def with_judges(**keys) -> dict:
    config = DEFAULT
    for key, value in keys.items():
        config = changed(f"benchmarks/mu2/{key}", value, config)
    return config


def test_the_rule_judges_by_default_and_nobody_else():
    entry = load(DEFAULT).benchmarks["mu2"]
    assert entry.judge == "rule" and entry.second_judges == [] and entry.judging.size == 1


@pytest.mark.parametrize(("judging", "size"), [({}, 1), ({"form": "pair"}, 2), ({"form": "list", "list_size": 12}, 12)])
def test_the_form_says_how_many_answers_stand_in_a_prompt(judging, size):
    assert load(with_judges(judge="llm", judging=judging)).benchmarks["mu2"].judging.size == size


def test_a_language_model_judges_offline_until_its_role_has_a_backend():
    config = with_judges(judge="llm", second_judges=["rule"])
    assert parse(config) and door_settings(load(config), "judge")["backend"] == {"kind": "offline"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"second_judges": ["lm"]}, "second_judges: no judge 'lm'. Did you mean 'llm'?"),
        ({"second_judges": ["rule"]}, "second_judges: rule judges twice"),
        ({"judge": "llm", "second_judges": ["rule", "rule"]}, "second_judges: rule judges twice"),
        ({"judging": {"list_size": 21}}, "list_size"),
        ({"judging": {"scale": "stars"}}, "scale"),
        ({"metrics": ["se", "kappa"]}, "kappa needs a second judge (it takes second_judges)"),
    ],
)
def test_mistakes_about_judges_are_named(keys, message):
    with pytest.raises(ConfigError) as refused:
        parse(with_judges(**keys))
    assert message in str(refused.value)


def test_replies_must_have_room_for_every_answer_of_a_list():
    config = with_judges(judge="llm", judging={"form": "list", "list_size": 10})
    with pytest.raises(ConfigError, match="roles.judge.max_tokens, 100; give it at least 120"):
        parse(config | {"roles": {"judge": {"backend": "offline", "max_tokens": 100}}})
    assert parse(config | {"roles": {"judge": {"backend": "offline", "max_tokens": 120}}})
