"""Benchmarks of kind umu: the paper's sizes, what the data offer, and mistakes that are told before anything runs."""

import copy

import pytest

from configurations import DEFAULT, parse
from unlearning.config.check_benchmarks import among, background, lacking, offers
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.config.umu import Umu
from unlearning.data.umu.lists import FIELDS

UMU = {
    "kind": "umu",
    "people": {"memorised": 8, "known": 2, "background": 4},
    "forget": {"p": 2},
    "metrics": ["rouge_l"],
}


def config(umu: dict | None = None, **further) -> dict:
    """The default with a benchmark umu and an experiment on it, and no others."""
    found = copy.deepcopy(DEFAULT)
    found["benchmarks"] = {"umu": UMU | (umu or {})}
    found["base_models"]["small"]["architecture"]["vision"] = {"layers": 1}
    found["experiments"] = {"umu": {"benchmark": "umu", "base_models": ["small"], "splits": ["p"], "methods": ["ga"]}}
    return found | further


def test_the_defaults_are_the_papers_sizes():
    entry = Umu(kind="umu", metrics=["rouge_l"])
    assert entry.people.model_dump() == {"memorised": 500, "known": 153, "background": 0}
    assert entry.forget == {"p5": 25, "p10": 50, "p15": 75} and entry.splits == ["p5", "p10", "p15"]
    assert [n / 500 for n in entry.forget.values()] == [0.05, 0.1, 0.15]
    assert (entry.text_side, entry.fields, entry.picture_size, entry.real) == ("text", "all", 224, None)


def test_the_fields_that_may_be_named_are_those_of_the_data():
    assert load(config({"fields": list(FIELDS)})).benchmarks["umu"].fields == list(FIELDS)


def test_what_the_data_offer():
    def built(**keys):
        return Umu(kind="umu", metrics=["rouge_l"], **keys)

    assert offers(built()) == {"modalities", "real_people"} and offers(built(people={"known": 0})) == {"modalities"}
    assert among(built(), ["default"]) == {"languages": {"en"}, "groups": {"retain", "real_people"}}
    assert background(built()) and background(built(people={"known": 0, "background": 4}))
    assert not background(built(people={"known": 0}))
    real = built(people={"known": 0}, source="own", real="p.csv")
    assert "real_people" in offers(real) and background(real)


def test_the_runs():
    assert {run.method for run in parse(config()) if run.benchmark == "umu"} == {"target", "retrain", "ga"}


def test_metrics_of_another_kind_do_not_fit():
    entry = Umu(kind="umu", metrics=["rouge_l"])
    for metric, what in (("kps", "at least two languages"), ("mia", "people never seen"), ("h_avg", "mixed prompts")):
        assert what in lacking(entry, [metric])[0] and "a umu benchmark has none" in lacking(entry, [metric])[0]


BAD = [
    ({"forget": {"p": 8}}, "umu.forget.p: 8 people to forget leave none of the 8 memorised to retain; forget fewer"),
    ({"forget": {}}, "umu.forget: "),
    ({"people": {"memorised": 2, "known": 1}, "forget": {"p": 1}}, "umu.people: 3 people have too few values"),
    ({"people": {"memorised": 1900, "background": 200}}, "umu.people: 2253 people take more .* at most 2000"),
    ({"fields": []}, "umu.fields: the list is empty"),
    ({"fields": ["hobby", "hobby"]}, "umu.fields: listed twice: hobby"),
    ({"fields": ["name"]}, "umu.fields.*gender, birthplace"),
    ({"text_side": "both"}, "umu.text_side: should be text, text_with_image or none; it is 'both'"),
    ({"picture_size": 8}, "umu.picture_size: .*28"),
    ({"real": "profiles.csv"}, "umu.source: give the key of `sources` that names the folder of 'profiles.csv'"),
    ({"source": "own"}, "umu.source: 'own' is not read without real"),
    ({"source": "own", "real": "profiles.csv"}, "umu.source: no folder for 'own'; write sources: {own: /path}"),
    ({"source": "own", "real": "../profiles.csv"}, "umu.real: '../profiles.csv' should be a path below the folder"),
    ({"peple": {}}, "unknown key benchmarks.umu.peple. Did you mean 'people'"),
    ({"metrics": ["knowledge"]}, "knowledge needs LUME's prompts about documents .a umu benchmark has none."),
]  # fmt: skip


@pytest.mark.parametrize(("umu", "said"), BAD)
def test_a_mistake_is_told_with_its_key(umu, said):
    with pytest.raises(ConfigError, match=said):
        parse(config(umu))


ARCHITECTURE, GA = DEFAULT["base_models"]["small"]["architecture"], {"forget": "ga", "lr": 1, "epochs": 1}


def with_model(**vision) -> dict:
    found = config()
    found["base_models"]["small"]["architecture"] = ARCHITECTURE | ({"vision": vision} if vision else {})
    return found


def with_method(**keys) -> dict:
    return config(methods=DEFAULT["methods"] | {"ga": keys})


def with_text_side(side: str) -> dict:
    return config({"text_side": side}, methods=DEFAULT["methods"] | {"ga": GA | {"image_weight": 0}})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (with_model(), r"base_models.small.architecture: reads text only, and umu .* has pictures; give it vision"),
        (with_model(patch_size=10), "architecture.vision.image_size: 56 should be a multiple of patch_size 10"),
        (with_model(heads=5), "architecture.vision.hidden: 64 should be a multiple of heads 5"),
        (with_model(image_szie=28), "unknown key base_models.small.architecture.vision.image_szie. Did you mean"),
        (with_method(method="mp_idk", lr=1, epochs=1), "ga puts questions together, which have pictures here"),
        (with_method(**GA | {"forget": "me"}), "ga looks for tokens of questions or .*set methods.ga.image_weight: 0"),
        (with_method(**GA | {"forget": "palu"}), "ga looks for tokens of questions or sensitive spans"),
        (with_text_side("none"), "ga unlearns questions in text only, of which text_side none teaches none; set"),
        (with_text_side("text_with_image"), "text_side text_with_image teaches none"),
        (with_method(**GA, image_weight=0, text_weight=0), "methods.ga: image_weight and text_weight are both 0"),
        (with_method(**GA, image_weight=-1), "methods.ga.image_weight: should be at least 0"),
        (with_method(method="ngdiff", lr=1, epochs=1, text_weight=2), "methods.ga: method ngdiff knows no modalities"),
    ],
)
def test_models_and_methods_that_cannot_do_with_pictures_are_told(given, told):
    with pytest.raises(ConfigError, match=told):
        load(given)


def test_a_term_that_looks_inside_questions_may_be_used_on_text_alone():
    assert load(with_method(**GA | {"forget": "me"}, image_weight=0)).methods["ga"].image_weight == 0


def with_attack(attack: str, only: str) -> dict:
    found = config(attacks={"shown": {"attack": attack, "only": only}})
    found["experiments"]["umu"]["attacks"] = {"shown": ["target", "retrain"]}
    return found


def test_target_and_retrained_model_may_be_shown_other_peoples_pictures():
    runs = [run for run in parse(with_attack("shuffle_images", "all")) if run.attack == "shown"]
    assert {run.method for run in runs} == {"target", "retrain"}
    for attack, only in (("shuffle_images", "forget"), ("few_shot", "all")):
        with pytest.raises(ConfigError, match="attacks.shown: the target is asked once for all splits.*set only: all"):
            load(with_attack(attack, only))
