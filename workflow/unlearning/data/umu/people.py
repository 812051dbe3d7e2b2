"""UMU-Bench's invented people: names by Faker, fields from lists, texts by a grammar, faces drawn."""

import datetime
import json
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unlearning.data.lume.grammar import PRONOUNS, Words
from unlearning.data.text import fold
from unlearning.data.umu.drawing import picture, png
from unlearning.data.umu.faces import draw_face
from unlearning.data.umu.lists import BACKGROUND, INTERESTS, Lists
from unlearning.seeds import seed_for
from unlearning.text.fields import MONTHS

if TYPE_CHECKING:
    from PIL import Image

ROLES = ("memorised", "known", "background")
COLUMNS = [
    "person_id", "name", "role", "gender", "birthplace", "birth_date", "occupation", "education", "hobby",
    "background", "interests", "face", "image",
]  # fmt: skip
COARSE = 14  # pixels of a side at which faces are compared; finer pictures differ by as much or more
LEAST = 20.0  # mean absolute difference of two faces, of 255
MOST = 2_000  # people of whom so different faces were drawn
ATTEMPTS = 1_000


def invent(lists: Lists, counts: Mapping[str, int], size: int, seed: int) -> pd.DataFrame:
    """Table `people`: `counts[role]` people of each of ROLES, faces of `size` x `size` pixels, all by `seed`.

    Values are dealt out as from a shuffled pack, so that a role uses each of a list's values before any a second time.
    Names differ; no two faces are less than LEAST apart. Each person's draws are their own, so more people of a role
    leave the others as they were, unless names or faces would be alike. ValueError: unknown role, a number below 0,
    more people than there are different faces.
    """
    if set(counts) - set(ROLES) or any(n < 0 for n in counts.values()):
        raise ValueError(f"counts {dict(counts)}: should give numbers of people for {', '.join(ROLES)}")
    from faker import Faker

    faker, names, seen = Faker("en_US"), set(), Seen()
    rows = []
    for role in ROLES:
        packs = {field: _dealt(values, seed, f"{role}/{field}") for field, values in lists.values.items()}
        pronouns = _dealt(list(PRONOUNS), seed, f"{role}/gender")
        for number in range(counts.get(role, 0)):
            ident, pronoun = f"{role}{number:04d}", next(pronouns)
            draw = random.Random(seed_for(seed, "umu person", ident))
            name = _name(faker, pronoun, seed_for(seed, "umu name", ident), names)
            born = _day(lists.born, draw)
            fields = {
                "gender": lists.genders[pronoun],
                "birth_date": written(born),
                **{field: next(pack) for field, pack in packs.items()},
            }
            face, image = seen.new(pronoun, born.year, size, random.Random(seed_for(seed, "umu face", ident)), ident)
            texts = tell(lists, fields, pronoun, draw)
            rows.append({
                "person_id": ident, "name": name, "role": role, **fields, **texts,
                "face": json.dumps(face, sort_keys=True), "image": {"bytes": png(image), "path": f"{ident}.png"},
            })  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object)


def written(day: datetime.date) -> str:
    """A date in words, none of which is part of another date's: March 5, 1975."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def tell(lists: Lists, fields: Mapping[str, str], pronoun: str, draw: random.Random) -> dict[str, str]:
    """`background` and `interests` of somebody with these fields: two sentences each, without the name."""
    words = Words(dict(fields) | PRONOUNS[pronoun], lists.words, draw)
    named = {"background": BACKGROUND, "interests": INTERESTS}
    return {
        text: " ".join(words.tell(draw.choice(lists.slots[slot])).said for slot in slots)
        for text, slots in named.items()
    }


class Seen:
    """The faces that there are, each far enough from all others."""

    def __init__(self):
        self._coarse = np.empty((0, COARSE * COARSE * 3), np.int16)

    def new(
        self, pronoun: str, year: int, size: int, draw: random.Random, ident: str
    ) -> tuple[dict[str, str], "Image.Image"]:
        """Attributes and picture of one more face. ValueError: ATTEMPTS draws gave none far enough from all others."""
        for _ in range(ATTEMPTS):
            face = draw_face(pronoun, year, draw)
            image = picture(face, size)
            small = coarse(image, COARSE)
            if not len(self._coarse) or np.abs(self._coarse - small).mean(1).min() >= LEAST:
                self._coarse = np.vstack([self._coarse, small])
                return face, image
        raise ValueError(f"{ident}: {ATTEMPTS} faces were all like another person's; ask for fewer people")


def coarse(image: "Image.Image", side: int) -> np.ndarray:
    """The picture at `side` x `side` pixels, each the mean of what it covers, as one row of 0 to 255."""
    from PIL import Image

    return np.asarray(image.convert("RGB").resize((side, side), Image.Resampling.BOX), np.int16).ravel()


def _dealt(values: list[str], seed: int, purpose: str) -> Iterator[str]:
    """`values` in random order, then all of them in another order, and so on."""
    turn = 0
    while True:
        pack = list(values)
        random.Random(seed_for(seed, "umu pack", f"{purpose}/{turn}")).shuffle(pack)
        yield from pack
        turn += 1


def _name(faker, pronoun: str, seed: int, taken: set[str]) -> str:
    faker.seed_instance(seed)
    for _ in range(ATTEMPTS):
        first = faker.first_name_female() if pronoun == "she" else faker.first_name_male()
        name = f"{first} {faker.last_name()}"
        if fold(name) not in taken:
            taken.add(fold(name))
            return name
    raise ValueError(f"{ATTEMPTS} names were all taken; ask for fewer people")


def _day(years: tuple[int, int], draw: random.Random) -> datetime.date:
    first, last = datetime.date(years[0], 1, 1), datetime.date(years[1], 12, 31)
    return first + datetime.timedelta(draw.randint(0, (last - first).days))
