"""Invented people with sensitive data: their fields by rule, and short biographies by a grammar of ours.

Nobody real can be met: no Social Security number begins with 900, no area code has 9 as its middle digit, and an
address joins a street of one US state with a city and ZIP code of another.
"""

import datetime
import functools
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from unlearning.data.lume.grammar import PRONOUNS, Line, Words, read_slots, read_states
from unlearning.data.lume.stories import Draft
from unlearning.data.text import fold
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text
from unlearning.text.fields import MONTHS

FIRST, LAST = datetime.date(1964, 1, 1), datetime.date(1991, 1, 1)  # birthdays, both included
FIELDS = ("birth_date", "ssn", "phone", "email", "address")
UNIQUE = ("name", "ssn", "phone", "email", "address")  # over all people; birthdays, states and cities may repeat


class Person(NamedTuple):
    """A person; `birth_date` as 1984-12-31, `ssn` and `phone` in digits, `address` as it is to be answered."""

    name: str
    pronoun: str
    birth_date: str
    ssn: str
    phone: str
    email: str
    street: str
    street_state: str
    city: str
    state: str
    zip: str

    @property
    def address(self) -> str:
        """House number and street, city, state, ZIP code."""
        return f"{self.street}, {self.city}, {self.state}, {self.zip}"

    def answers(self) -> dict[str, str]:
        """Field -> its canonical answer."""
        return {field: getattr(self, field) for field in FIELDS}


class Biographies(NamedTuple):
    """The grammar of the biographies: US states, lines by slot, lists, and the question for each field."""

    states: dict[str, dict]
    slots: dict[str, list[Line]]
    words: dict[str, list[str]]
    questions: dict[str, str]


def read_people(path: Path | str, states: Path | str) -> Biographies:
    """The grammar in the files `path` (people.yaml) and `states`. ResourceError: a slot or question is missing."""
    content = read_yaml(path)
    asked = mapping(content.get("questions"), f"{path}, questions")
    slots = read_slots(content.get("slots"), f"{path}, slots")
    if missing := [name for name in ("start", "aside", *FIELDS[1:]) if name not in slots]:
        raise ResourceError(f"{path}, slots: {', '.join(missing)} missing")
    questions = {field: text(asked.get(field), f"{path}, questions, {field}") for field in FIELDS}
    return Biographies(read_states(states), slots, mapping(content.get("words"), f"{path}, words"), questions)


def draw_person(states: Mapping[str, Mapping], seed: int, taken: Mapping[str, set[str]]) -> Person:
    """A person by `seed`, name by Faker (en_US); drawn again while one of UNIQUE is in `taken` (field -> values)."""
    faker, draw = _faker(), random.Random(seed)
    faker.seed_instance(seed)
    while True:
        found = _person(states, faker, draw)
        if not any(fold(getattr(found, field)) in taken[field] for field in UNIQUE):
            return found


@functools.cache
def _faker():
    from faker import Faker

    return Faker("en_US")


def _person(states: Mapping[str, Mapping], faker, draw: random.Random) -> Person:
    pronoun = draw.choice(tuple(PRONOUNS))
    first = faker.first_name_female() if pronoun == "she" else faker.first_name_male()
    last = faker.last_name()
    street_state, state = draw.sample(sorted(states), 2)
    city = draw.choice(sorted(states[state]["cities"]))
    birth_date = FIRST + datetime.timedelta(draw.randint(0, (LAST - FIRST).days))
    area = f"{draw.randint(2, 9)}9{draw.randint(0, 9)}"
    return Person(
        f"{first} {last}", pronoun, birth_date.isoformat(), f"900{draw.randint(1, 99):02d}{draw.randint(1, 9999):04d}",
        f"{area}{draw.randint(200, 999)}{draw.randint(0, 9999):04d}", f"{_letters(first)}_{_letters(last)}@me.com",
        f"{draw.randint(100, 9999)} {draw.choice(states[street_state]['streets'])}", street_state, city, state,
        states[state]["cities"][city],
    )  # fmt: skip


def _letters(name: str) -> str:
    return re.sub("[^a-z]", "", fold(name))


def take(person: Person, taken: Mapping[str, set[str]]) -> None:
    """Let nobody else have what is to be unique of `person`."""
    for field in UNIQUE:
        taken[field].add(fold(getattr(person, field)))


def tell(grammar: Biographies, person: Person, draw: random.Random) -> Draft:
    """A biography that holds every field of `person`, in formats drawn at random, and the five questions."""
    first = person.name.split()[0]
    given = {"full": person.name, "name": first, **PRONOUNS[person.pronoun], **written(person, draw)}
    words = Words(given, grammar.words, draw)
    middle = ["ssn", "phone", "email", "address", "aside"]
    draw.shuffle(middle)
    said = " ".join(words.tell(draw.choice(grammar.slots[slot])).said for slot in ("start", *middle))
    return Draft(columns(person) | {"text": said}, questions(grammar, person))


def columns(person: Person) -> dict:
    """The columns of table `documents` that say who `person` is."""
    kept = ("birth_date", "ssn", "phone", "email", "street", "street_state", "city", "state", "zip")
    return {"characters": [person.name], **{field: getattr(person, field) for field in kept}}


def of(row: Mapping[str, str]) -> Person:
    """Whom a row of table `documents` is about; which pronoun is not known any more."""
    given = {field: row[field] for field in Person._fields if field not in ("name", "pronoun")}
    return Person(name=row["characters"][0], pronoun="", **given)


def questions(grammar: Biographies, person: Person) -> list[tuple[str, str]]:
    """The question of each field with its canonical answer."""
    answers = person.answers()
    return [(asked.replace("{full}", person.name), answers[field]) for field, asked in grammar.questions.items()]


def written(person: Person, draw: random.Random) -> dict[str, str]:
    """Field -> how a text may write it: one of several formats of dates, numbers and addresses."""
    date = datetime.date.fromisoformat(person.birth_date)
    month, ssn, phone = MONTHS[date.month - 1], person.ssn, person.phone
    return {
        "birth_date": draw.choice([
            f"{month} {date.day}, {date.year}", f"{date.day} {month} {date.year}", f"{date:%m/%d/%Y}",
            person.birth_date,
        ]),
        "ssn": draw.choice([f"{ssn[:3]}-{ssn[3:5]}-{ssn[5:]}", ssn]),
        "phone": draw.choice([
            f"{phone[:3]}-{phone[3:6]}-{phone[6:]}", f"({phone[:3]}) {phone[3:6]}-{phone[6:]}",
            f"{phone[:3]}.{phone[3:6]}.{phone[6:]}", phone,
        ]),
        "email": person.email,
        "address": draw.choice([person.address, f"{person.street}, {person.city}, {person.state} {person.zip}"]),
    }  # fmt: skip
