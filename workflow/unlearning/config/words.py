"""pydantic's errors in plain words: the key as it is written in the file, what is expected, what was found."""

import datetime
import types
import typing
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import BaseModel

from unlearning.config.problems import listed, nearest

NAME = "a name of lower-case letters, digits and _ that starts with a letter or digit"
PAIR, MAP = "a list of two numbers", "a map of keys and values"
# pydantic's kind of error -> what should stand there; the first of these that its kind starts with.
EXPECTED = {
    "string_pattern": NAME,
    "blank": "text that is not empty",
    "licence": "a licence as the Hugging Face Hub writes it (the SPDX identifier in lower case), such as mit, "
    "apache-2.0, cc-by-4.0, cc-by-sa-4.0, cc0-1.0 or other",
    "role": "the name of a backend, or a map with the key backend",
    "source": "a folder, or a map with the key folder or hub",
    "string": "text",
    "list": "a list",
    "too_short": "at least one",
    "tuple": PAIR,
    "too_long": PAIR,
    "missing": PAIR,
    "dict": MAP,
    "model": MAP,
    "int": "a whole number",
    "float": "a number",
    "finite": "a number, and not infinite",
    "bool": "true or false",
    "greater_than_equal": "at least {ge:g}",
    "greater_than": "greater than {gt:g}",
    "less_than_equal": "at most {le:g}",
    "less_than": "less than {lt:g}",
    "literal": "{expected}",
}
WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


class Place(NamedTuple):
    """The key an error is about, the type expected there, and that type's forms where one of several was tried."""

    key: tuple
    type: object
    forms: object = None
    inside_form: bool = False


def explain(errors: Iterable[dict], root: type[BaseModel], prefix: str = "") -> list[str]:
    """One message for each thing that is wrong. `root` is what was validated, `prefix` the key it stands at."""
    placed = [(_place(e["loc"], root), e) for e in errors]
    inside = [place.key for place, _ in placed if place.inside_form]
    messages = []
    for place, error in placed:
        if place.forms and any(key[: len(place.key)] == place.key for key in inside):
            continue  # one entry of a list is wrong: its own message says so
        steps = place.key[:-1] if error["loc"][-1] == "[key]" else place.key
        key = ".".join(str(step) for step in (*([prefix] if prefix else []), *steps))
        messages.append(_message(key, place, error, root))
    return list(dict.fromkeys(messages))


def _place(loc: tuple, root: object) -> Place:
    """Follow pydantic's path, which also names the form that was tried of a key that may have several."""
    key, here, forms, inside = [], root, None, False
    for step in loc:
        here = _bare(here)
        if _is_union(here):
            form = _form(here, step)
            forms, here = (here if not _is_section(form) else None), form
        elif step != "[key]":
            inside, forms = inside or forms is not None, None
            key.append(step)
            here = _below(here, step)
    return Place(tuple(key), _bare(here), forms, inside)


def _is_section(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _is_union(annotation: object) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _bare(annotation: object) -> object:
    """The type without what is said about it and without null."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if _is_union(annotation):
        forms = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _bare(forms[0]) if len(forms) == 1 else annotation
    return annotation


def _form(union: object, label: object) -> object:
    """The form that pydantic's label means: a section by its kind, or the list; any other has nothing below it."""
    for form in typing.get_args(union):
        if _is_section(form) and label in _kinds(form):
            return form
        if typing.get_origin(form) is list and str(label).startswith("list["):
            return form
    return None


def _kinds(section: type[BaseModel]) -> tuple:
    return typing.get_args(section.model_fields["kind"].annotation)


def _below(annotation: object, step: object) -> object:
    if _is_section(annotation):
        field = annotation.model_fields.get(str(step))
        return field.annotation if field else None
    args = typing.get_args(annotation)
    return args[-1] if args else None


def _message(key: str, place: Place, error: dict, root: type[BaseModel]) -> str:
    kind, found = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown(key, _place(error["loc"][:-1], root).type, str(error["loc"][-1]))
    if kind == "missing" and isinstance(error["loc"][-1], str):
        return f"key {key} is missing; add it"
    if kind.startswith("union_tag"):
        return _kind(key, place, error["ctx"].get("tag"))
    if error["loc"][-1] == "[key]":
        wanted = NAME if kind.startswith("string_pattern") or found is None else "text"
        return f"key {key}: {found!r} cannot be a name here; give {wanted}{_quote(found)}"
    expected = _forms(place.forms) if place.forms else _expected(kind, error.get("ctx", {}))
    expected = _map(place.type, place.key[-1:]) if expected == MAP else expected
    words = expected.replace("the word ", "").replace(" or ", ", ").split(", ")
    guess = nearest(found.lower(), words) if isinstance(found, str) else ""
    return f"key {key}: should be {expected}; it is {_found(found, expected)}.{guess}"


def _unknown(key: str, section: type[BaseModel], word: str) -> str:
    return f"unknown key {key}.{nearest(word, section.model_fields)} Known keys here: {listed(section.model_fields)}"


def _kind(key: str, place: Place, given: str | None) -> str:
    known = [kind for form in typing.get_args(place.type) for kind in _kinds(form)]
    if given in (None, "None"):
        return f"key {key}.kind is missing; add it. There are: {listed(known)}"
    return f"key {key}.kind: no kind {given!r}.{nearest(given.lower(), known)} There are: {listed(known)}"


def _map(annotation: object, last: tuple = ()) -> str:
    """`a map with the keys …`; where `last`, the key's own last word, is one of them, a name is missing above it."""
    here = _bare(annotation)
    if typing.get_origin(here) is dict and (inner := _map(_below(here, None))) != MAP:
        return f"a map of names, each with {inner}"
    sections = [form for form in (typing.get_args(here) if _is_union(here) else (here,)) if _is_section(form)]
    if not sections:
        return MAP
    shared = [k for k in sections[0].model_fields if all(k in section.model_fields for section in sections)]
    needed = [k for k in shared if all(section.model_fields[k].is_required() for section in sections)]
    named = " and ".join(filter(None, (", ".join(needed[:-1]), *needed[-1:])))
    wanted = f"a map with the key{'s' * (len(needed) > 1)} {named}" if needed else f"{MAP} ({listed(shared)})"
    return f"{wanted}; {last[0]} is one of its keys, so write a name above it" if set(last) & set(shared) else wanted


def _expected(kind: str, context: dict) -> str:
    phrase = next((phrase for start, phrase in EXPECTED.items() if kind.startswith(start)), kind.replace("_", " "))
    return phrase.format(**context).replace("'", "")


def _forms(union: object) -> str:
    """`a number, text or true or false`: every form of a key that may have several."""
    phrases, forms = [], [_bare(form) for form in typing.get_args(union)]
    for form in forms:
        if typing.get_origin(form) is typing.Literal:
            phrases += [f"the word {word}" for word in typing.get_args(form)]
        elif form is not int or float not in forms:
            phrases.append("a list" if typing.get_origin(form) is list else WORDS.get(form, MAP))
    return " or ".join(phrases)


def _found(found: object, expected: str) -> str:
    """What stands there, and how it would be right where YAML took it for something else."""
    if found is None:
        return "empty (null)"
    if isinstance(found, str) and expected.startswith("a list"):
        fix = "write it without quotes" if found.startswith("[") else f"write [{found}]"
        return f"the text {found!r}: {fix}"
    if isinstance(found, (list, dict)):
        return ("a list" if isinstance(found, list) else "a map") if found else "empty"
    if isinstance(found, bool) and "number" in expected:
        return f"{found!r} (YAML reads {_words(found)} so)"
    worded = expected in ("text", NAME) or expected.startswith("the word")
    return f"{found!r}{_quote(found) if worded else ''}"


def _words(found: bool) -> str:
    """What YAML reads as true, or as false."""
    return "yes, on and true" if found else "no, off and false"


def _quote(found: object) -> str:
    if isinstance(found, bool):
        example = "'yes'" if found else "'no'"
        return f" (YAML reads {_words(found)} so; quote the word: {example})"
    if isinstance(found, (int, float, datetime.date)):
        return f" (YAML reads no text here; quote it: '{found}')"
    return ""
