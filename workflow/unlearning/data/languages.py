"""What is known about each language: resource level, script, and how to find a word in its text."""

from pathlib import Path
from typing import NamedTuple

from unlearning.data.yaml_files import ResourceError, mapping, read_yaml

ALLOWED = {"resource": ("high", "low"), "script": ("latin", "other"), "spaces": (True, False)}


class Language(NamedTuple):
    """One language. `unicode_scripts` are Unicode script names; `spaces` says whether words are written apart."""

    code: str
    name: str
    resource: str
    script: str
    unicode_scripts: tuple[str, ...]
    spaces: bool


def read_languages(path: Path | str) -> dict[str, Language]:
    """{code: Language} from the file at `path`; ResourceError names the language and the key that is wrong."""
    return {code: _language(code, mapping(entry, f"{path}, {code}"), path) for code, entry in read_yaml(path).items()}


def _language(code: str, entry: dict, path: Path | str) -> Language:
    missing = [key for key in Language._fields[1:] if key not in entry]
    unknown = [key for key in entry if key not in Language._fields[1:]]
    if missing or unknown:
        raise ResourceError(f"{path}, {code}: missing keys {missing}, unknown keys {unknown}")
    for key, allowed in ALLOWED.items():
        if entry[key] not in allowed:
            raise ResourceError(f"{path}, {code}.{key}: {entry[key]!r}; allowed: {', '.join(map(str, allowed))}")
    return Language(code, **{**entry, "unicode_scripts": tuple(entry["unicode_scripts"])})


def check_setting(train: list[str], holdout: list[str], resource: dict[str, str]) -> None:
    """Refuse a setting that cannot measure cross-lingual spread.

    Training and hold-out languages are disjoint, neither is empty, and each side has as many high-resource as
    low-resource languages (mu2-Bench's rule). `resource` is {language code: high or low}. Raises ValueError.
    """
    unknown = sorted({*train, *holdout} - set(resource))
    if unknown:
        raise ValueError(f"setting: unknown languages {unknown}; known: {', '.join(sorted(resource))}")
    both = sorted(set(train) & set(holdout))
    if both:
        raise ValueError(f"setting: {both} are train and holdout languages at once; give each one role")
    for role, codes in (("train", train), ("holdout", holdout)):
        high = [code for code in codes if resource[code] == "high"]
        low = [code for code in codes if resource[code] == "low"]
        if not codes or len(high) != len(low):
            raise ValueError(
                f"setting: the {role} languages are not balanced: {len(high)} high-resource {high}, "
                f"{len(low)} low-resource {low}; give as many of each, at least one"
            )


def known(code: str, languages: dict[str, Language], path: Path | str) -> Language:
    """`languages[code]`; ResourceError lists the languages of the file at `path` when there is no such code."""
    if code not in languages:
        raise ResourceError(f"language {code!r} is not in {path}; languages there: {', '.join(languages)}")
    return languages[code]
