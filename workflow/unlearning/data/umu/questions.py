"""What is asked about people, in text and about their pictures: the words, and the options to choose from."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.data.text import capital, fold
from unlearning.data.umu.lists import CHOSEN, FIELDS, OPTIONS
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text
from unlearning.seeds import seed_for


class Questions(NamedTuple):
    """`wordings`: (field, form) -> the words; fields name and description have one form each.

    `shown`: what stands for the name where a picture is asked about; `between`: what separates options.
    """

    wordings: dict[tuple[str, str], str]
    shown: str
    between: str


def read_questions(path: Path | str) -> Questions:
    """The words in the file `path` (questions.yaml). ResourceError: a form is missing, or its words lack {who}."""
    content = read_yaml(path)
    fields = mapping(content.get("fields"), f"{path}, fields")
    found = {(name, "question"): text(content.get(name), f"{path}, {name}") for name in ("name", "description")}
    for field in FIELDS:
        forms = mapping(fields.get(field), f"{path}, fields, {field}")
        for form in ("question", "cloze", *(["classification"] if field in CHOSEN else [])):
            found[field, form] = text(forms.get(form), f"{path}, fields, {field}, {form}")
    for (field, form), words in found.items():
        needed = ["{who}", *(["{options}"] if form == "classification" else [])]
        if lost := [slot for slot in needed if slot not in words.replace("{Who}", "{who}")]:
            raise ResourceError(f"{path}, {field}, {form}: {', '.join(lost)} should stand in {words!r}")
    shown = text(content.get("shown"), f"{path}, shown")
    return Questions(found, shown, text(content.get("between_options"), f"{path}, between_options"))


def worded(words: str, who: Sequence[str], options: Sequence[str] | None = None) -> list[str]:
    """`words` filled in for each of `who`, and each of `options` where there are some."""
    filled = [words.replace("{Who}", capital(name)).replace("{who}", name) for name in who]
    return filled if options is None else [q.replace("{options}", o) for q, o in zip(filled, options, strict=True)]


def options(values: pd.Series, idents: Sequence[str], seed: int) -> tuple[list[list[str]], list[int]]:
    """For each value OPTIONS texts to choose from, itself among them, and its place; by `seed` and its identifier.

    The others are values that other people have, of different spelling but for case and accents. ValueError: there are
    too few.
    """
    spelled = {fold(value): value for value in sorted(values)}
    pool = list(spelled)
    found, places = [], []
    for value, ident in zip(values, idents, strict=True):
        if len(pool) < OPTIONS:
            raise ValueError(
                f"{ident}: people have {len(pool)} different values, too few for {OPTIONS} options; ask for more people"
            )
        draw, own = random.Random(seed_for(seed, "umu options", ident)), fold(value)
        others = [word for word in draw.sample(pool, OPTIONS) if word != own][: OPTIONS - 1]
        mixed = [value, *(spelled[word] for word in others)]
        draw.shuffle(mixed)
        found.append(mixed)
        places.append(mixed.index(value))
    return found, places
