"""Dates, numbers, e-mails and addresses in whatever format: whether a text gives one, however it writes it.

Numeric dates are read as ISO or month/day/year, as in the United States.
"""

import datetime
import re

from unlearning.text.folding import fold
from unlearning.text.words import normalise

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
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
_LENGTHS = {9: (3, 2, 4), 10: (3, 3, 4)}  # digits of a Social Security or phone number -> of its parts
_ADDRESS = re.compile(r"(?P<before>.+,\s*)(?P<state>[A-Z]{2})(?P<after>,?\s*\d{5})\W*")


def gives(text: str, field: str) -> bool:
    """Whether `text` gives `field`, which is in canonical form: anywhere, if its form says what it is, in any format.

    - a date 1984-12-31: in figures, or with the month's name
    - nine digits (Social Security number), ten (phone): plain, or set apart by blanks, dashes, dots, brackets
    - an e-mail address: whatever its case, escaped or linked (mailto) in Markdown
    - "street, city, CA, 92867": the state's name or letters, any punctuation
    - any other: the text is the field, but for case, punctuation and spacing
    """
    field = field.strip()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", field):
        return field in dates(text)
    if field.isdigit() and len(field) in _LENGTHS:
        return has_digits(text, field)
    if re.fullmatch(r"[^\s@]+@[^\s@]+", field):
        return has_email(text, field)
    if _ADDRESS.fullmatch(field):
        return has_address(text, field)
    return normalise(text) == normalise(field)


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


def has_digits(text: str, digits: str) -> bool:
    """Whether the nine or ten `digits` of a number stand in `text`, plain or set apart by parts."""
    parts = _LENGTHS[len(digits)]
    ends = [sum(parts[:n]) for n in range(len(parts) + 1)]
    pieces = [digits[start:end] for start, end in zip(ends, ends[1:], strict=False)]
    return re.search(r"(?<!\d)" + r"[\s().-]{0,2}".join(pieces) + r"(?!\d)", text) is not None


def has_email(text: str, email: str) -> bool:
    """Whether the address stands in `text`, whatever its case, escaped or linked in Markdown."""
    return re.search(rf"(?<![\w.]){re.escape(email.lower())}(?!\w)", text.replace("\\", "").lower()) is not None


def has_address(text: str, address: str) -> bool:
    """Whether "street, city, CA, 92867" stands in `text`, with the state's name or letters and any punctuation."""
    parts = _ADDRESS.fullmatch(address)
    states = (parts["state"], STATES.get(parts["state"], parts["state"]))
    forms = (_plain(f"{parts['before']}{state}{parts['after']}") for state in states)
    return any(f" {form} " in f" {_plain(text)} " for form in forms)


def _plain(text: str) -> str:
    """`text` folded, with single spaces in place of punctuation."""
    return " ".join(re.findall(r"\w+", fold(text)))
