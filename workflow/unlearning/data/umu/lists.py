"""What invented people are made of: lists of values for their fields, and a grammar for the texts about them."""

from pathlib import Path
from typing import NamedTuple

from unlearning.data.lume.grammar import PRONOUNS, Line, read_slots
from unlearning.data.text import fold
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text

FIELDS = ("gender", "birthplace", "birth_date", "occupation", "education", "hobby")
CHOSEN = ("birthplace", "birth_date", "occupation", "education", "hobby")  # with enough values to choose one of OPTIONS
OPTIONS = 4
BACKGROUND, INTERESTS = ("origin", "career"), ("hobby", "taste")  # slots of the two texts about a person


class Lists(NamedTuple):
    """`values`: of birthplace, occupation, education and hobby. `genders`: pronoun -> gender. `born`: years, both
    included. `words` and `slots`: the grammar of the texts."""

    values: dict[str, list[str]]
    genders: dict[str, str]
    born: tuple[int, int]
    words: dict[str, list[str]]
    slots: dict[str, list[Line]]


def read_lists(places: Path | str, people: Path | str) -> Lists:
    """The lists in the files `places` (country -> regions) and `people` (.yaml).

    ResourceError: something is missing; a value holds a period or another value of its field, so that an answer could
    not be told from another.
    """
    regions, content = read_yaml(places), read_yaml(people)
    values = {"birthplace": [f"{text(region, f'{places}, {country}')}, {country}" for country, named in regions.items()
                             for region in named]}  # fmt: skip
    for field in ("occupation", "education", "hobby"):
        values[field] = [text(value, f"{people}, {field}") for value in content.get(field) or ()]
    genders = mapping(content.get("gender"), f"{people}, gender")
    if set(genders) != set(PRONOUNS):
        raise ResourceError(f"{people}, gender: should give a gender for each of {', '.join(PRONOUNS)}")
    for field, given in (values | {"gender": [*genders.values()]}).items():
        _tell_apart(given, f"{places if field == 'birthplace' else people}, {field}")
    first, last = content["born"]
    slots = read_slots(content.get("slots"), f"{people}, slots")
    if missing := [slot for slot in (*BACKGROUND, *INTERESTS) if slot not in slots]:
        raise ResourceError(f"{people}, slots: {', '.join(missing)} missing")
    return Lists(values, genders, (first, last), mapping(content.get("words"), f"{people}, words"), slots)


def _tell_apart(values: list[str], where: str) -> None:
    folded = [fold(value) for value in values]
    if not values:
        raise ResourceError(f"{where}: lists no values")
    for place, value in enumerate(folded):
        if "." in value:
            raise ResourceError(f"{where}: {values[place]!r} holds a period; write it without")
        if within := [v for at, v in enumerate(values) if at != place and value in folded[at]]:
            raise ResourceError(
                f"{where}: {values[place]!r} stands in {within[0]!r} too; use words that tell them apart"
            )
