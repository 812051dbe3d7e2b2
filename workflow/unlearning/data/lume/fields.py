"""Whether a text holds a person's fields, however it writes dates, numbers and addresses."""

import datetime
import re

from unlearning.data.lume.people import FIELDS, MONTHS, Person
from unlearning.data.text import fold

ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
TENS = {"twenty": 20, "thirty": 30}
STATES = {
    "AK": "Alaska", "AL": "Alabama", "AR": "Arkansas", "AZ": "Arizona", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "IA": "Iowa",
    "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
    "MA": "Massachusetts", "MD": "Maryland", "ME": "Maine", "MI": "Michigan", "MN": "Minnesota", "MO": "Missouri",
    "MS": "Mississippi", "MT": "Montana", "NC": "North Carolina", "ND": "North Dakota", "NE": "Nebraska",
    "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NV": "Nevada", "NY": "New York", "OH": "Ohio",
    "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VA": "Virginia", "VT": "Vermont",
    "WA": "Washington", "WI": "Wisconsin", "WV": "West Virginia", "WY": "Wyoming",
}  # fmt: skip
_NUMERIC = re.compile(r"(?<!\d)(\d{4}|\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{1,2})(?!\d)")
_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_SMALL = re.compile(r"\b(?:the|of|in|on|day|month|year)\b")
_WORDS = {word: str(number) for number, word in enumerate(ORDINALS, start=1)} | {
    f"{ten}{join}{word}": str(value + number)
    for ten, value in TENS.items() for number, word in enumerate(ORDINALS[:9], start=1) for join in ("-", " ")
} | {"thirtieth": "30"}  # fmt: skip
_ORDINAL = re.compile("|".join(rf"\b{word}\b" for word in sorted(_WORDS, key=len, reverse=True)))


def missing(text: str, person: Person) -> list[str]:
    """What of FIELDS, and of the name, `text` does not hold. A numeric date is read as month/day/year, or as ISO."""
    found = {
        "name": fold(person.name) in fold(text),
        "birth_date": person.birth_date in dates(text),
        "ssn": _digits(text, person.ssn, (3, 2, 4)),
        "phone": _digits(text, person.phone, (3, 3, 4)),
        "email": re.search(rf"(?<![\w.]){re.escape(person.email)}(?!\w)", text.replace("\\", "").lower()) is not None,
        "address": any(f" {form} " in f" {_plain(text)} " for form in _addresses(person)),
    }
    return [field for field in ("name", *FIELDS) if not found[field]]


def dates(text: str) -> set[str]:
    """The dates that `text` gives in full, as 1984-12-31: in figures, or with the month's name ("1st of May 1970")."""
    found = set()
    for one, two, three in _NUMERIC.findall(text):
        year, month, day = (one, two, three) if len(one) == 4 else (three, one, two)
        found.add(_iso(year, month, day) if len(year) == 4 else None)
    words = _ORDINAL.sub(lambda hit: _WORDS[hit[0]], _SMALL.sub(" ", _SUFFIX.sub("", fold(text).replace(",", " "))))
    words = " ".join(words.split())
    for number, name in enumerate(MONTHS, start=1):
        month = name.lower()
        short = month if len(month) < 4 else f"(?:{month}|{month[:3]}\\.?)"
        for order in (rf"{short} (?P<d>\d{{1,2}})", rf"(?P<d>\d{{1,2}}) {short}"):
            pattern = rf"\b{order} (?P<y>\d{{4}})\b"
            found |= {_iso(hit["y"], str(number), hit["d"]) for hit in re.finditer(pattern, words)}
    return found - {None}


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _digits(text: str, digits: str, parts: tuple[int, ...]) -> bool:
    """Whether `digits` stand in `text`, plain or set apart by parts."""
    ends = [sum(parts[:n]) for n in range(len(parts) + 1)]
    pieces = [digits[start:end] for start, end in zip(ends, ends[1:], strict=False)]
    return re.search(r"(?<!\d)" + r"[\s().-]{0,2}".join(pieces) + r"(?!\d)", text) is not None


def _addresses(person: Person) -> list[str]:
    return [
        _plain(f"{person.street} {person.city} {state} {person.zip}") for state in (person.state, STATES[person.state])
    ]


def _plain(text: str) -> str:
    """`text` folded, with single spaces in place of punctuation."""
    return " ".join(re.findall(r"\w+", fold(text)))
