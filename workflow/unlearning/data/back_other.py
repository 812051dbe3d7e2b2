"""Back into English without a translation service: by a language model, or backwards through the phrasebooks."""

import re
from collections.abc import Sequence

from unlearning.data.back_services import Back
from unlearning.data.languages import Language
from unlearning.data.phrasebook import PLACEHOLDER, TEMPLATES, Phrasebook
from unlearning.data.rounds import asked
from unlearning.data.text import fold


def by_model(tools, language: Language) -> Back:
    """`back(texts)` by role backtranslator; None where its reply was of no use."""

    def back(texts: Sequence[str]) -> list[str | None]:
        distinct = list(dict.fromkeys(texts))
        inputs = [{"language": language.name, "language_code": language.code, "text": text} for text in distinct]
        replies = asked(tools, "backtranslator", "backtranslator", [str(i) for i in range(len(distinct))], inputs)
        said = dict(zip(distinct, (reply and reply["translation"] for reply in replies["parsed"]), strict=True))
        return [said[text] for text in texts]

    return back


def through_phrasebook(book: Phrasebook, english: Phrasebook) -> Back:
    """`back(texts)` by finding the value, or the template and the value, that a text of `book` was made of.

    For tests and for words of the phrasebook only: None for every other text.
    """
    entries = [(entry, english.attributes[attribute]) for attribute, entry in book.attributes.items()]
    values = {fold(text): value for entry, _ in entries for value, text in entry.values.items()}
    sentences = [
        (_pattern(getattr(entry, part), entry.values), getattr(own, part), _backwards(entry.values))
        for part in TEMPLATES
        for entry, own in entries
    ]

    def one(text: str) -> str | None:
        if fold(text) in values:
            return values[fold(text)]
        for pattern, template, own in sentences:
            if found := pattern.fullmatch(text):
                value = own.get(found.groupdict().get("value"), "")
                return template.replace("{value}", value).replace("{name}", found["name"])
        return None

    return lambda texts: [one(text) for text in texts]


def _backwards(values: dict[str, str]) -> dict[str, str]:
    return {text: value for value, text in values.items()}


def _pattern(template: str, values: dict[str, str]) -> re.Pattern:
    """A pattern for what `template` makes of any name and any of `values`."""
    among = "|".join(re.escape(text) for text in sorted(values.values(), key=len, reverse=True))
    groups = {"{name}": "(?P<name>.+)", "{value}": f"(?P<value>{among})"}
    return re.compile("".join(groups.get(piece, re.escape(piece)) for piece in PLACEHOLDER.split(template)))
