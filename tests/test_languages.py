"""Languages and the settings made of them."""

import pytest

from mu2_sources import SOURCES
from unlearning.data.languages import check_setting, known, read_languages
from unlearning.data.yaml_files import ResourceError


def test_the_languages_are_twelve_and_balanced_settings_pass():
    languages = read_languages(SOURCES / "languages.yaml")
    assert sorted(languages) == sorted("en de id af es lv zh ko ur el mk th".split())
    resource = {code: language.resource for code, language in languages.items()}
    check_setting(["en", "de", "id", "af"], ["es", "lv", "th", "mk"], resource)
    check_setting(["zh", "ko", "ur", "el"], ["es", "lv", "th", "mk"], resource)


@pytest.mark.parametrize(
    ("train", "holdout", "message"),
    [
        (["en", "af"], ["af", "es"], r"\['af'\] are train and holdout languages at once"),
        (["en", "de"], ["es", "lv"], r"train languages are not balanced: 2 high-resource \['en', 'de'\], 0 low"),
        (["en", "af"], ["lv"], r"holdout languages are not balanced: 0 high-resource \[\], 1 low-resource \['lv'\]"),
        (["en", "af"], [], r"holdout languages are not balanced"),
        (["en", "fr"], ["es", "lv"], r"unknown languages \['fr'\]"),
    ],
)
def test_an_overlapping_or_unbalanced_setting_is_refused(train, holdout, message):
    resource = {"en": "high", "de": "high", "es": "high", "af": "low", "lv": "low"}
    with pytest.raises(ValueError, match=message):
        check_setting(train, holdout, resource)


def test_a_mistake_in_the_languages_is_named(tmp_path):
    path = tmp_path / "languages.yaml"
    path.write_text("en: {name: English, resource: rich, script: latin, unicode_scripts: [Latin], spaces: true}\n")
    with pytest.raises(ResourceError, match=r"en.resource: 'rich'; allowed: high, low"):
        read_languages(path)
    with pytest.raises(ResourceError, match="language 'fr' is not in here; languages there: en"):
        known("fr", {"en": None}, "here")
