"""Whether a text holds a person's fields, however it writes dates, numbers and addresses."""

from unlearning.data.lume.people import FIELDS, Person
from unlearning.text.fields import dates, has_address, has_digits, has_email
from unlearning.text.folding import fold


def missing(text: str, person: Person) -> list[str]:
    """What of FIELDS, and of the name, `text` does not hold. A numeric date is read as month/day/year, or as ISO."""
    found = {
        "name": fold(person.name) in fold(text),
        "birth_date": person.birth_date in dates(text),
        "ssn": has_digits(text, person.ssn),
        "phone": has_digits(text, person.phone),
        "email": has_email(text, person.email),
        "address": has_address(text, person.address),
    }
    return [field for field in ("name", *FIELDS) if not found[field]]
