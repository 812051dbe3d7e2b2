"""What a model must reply: one pydantic model for each kind, its JSON schema, and the reading of what it wrote.

Kind `text` is any text that is not empty.
"""

import functools
import json
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, create_model

# of the schema: noise, or refused by some endpoints
UNSENT = ("title", "description", "default", "minLength", "minItems", "maxItems")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Grade = Annotated[int, Field(ge=0, le=10)]
Rating = Annotated[int, Field(ge=0, le=100)]


class Answer(BaseModel):
    """A reply: no other keys, and numbers, truth values and texts as themselves, not as one another."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Translation(Answer):
    """A text in another language."""

    translation: Text


class Equivalence(Answer):
    """Whether two words mean the same."""

    equivalent: bool
    reason: str


class Refinement(Answer):
    """An English question and answer in better grammar."""

    question: Text
    answer: Text


class PairTranslation(Answer):
    """A question, its answer and the answer in other words, in another language."""

    question: Text
    answer: Text
    paraphrase: Text


class Verdict(Answer):
    """Whether an answer is right."""

    correct: bool
    reason: str


class Graded(Answer):
    """How good an answer is, 0 worst to 10 best."""

    score: Grade
    reason: str


class Grades(Answer):
    """How good each of several answers is, 0 worst to 10 best, in their order."""

    scores: list[Grade]


class Fact(Answer):
    """What a passage states, with the names it uses and the words that say so."""

    subject: Text
    subject_aliases: list[Text]
    relation: Text
    object: Text
    object_aliases: list[Text]
    quote: Text


class Facts(Answer):
    """All that a passage states; it may be nothing."""

    facts: list[Fact]


class Composition(Answer):
    """A multi-hop question in three wordings, and other forms of its answer."""

    question_1: Text
    question_2: Text
    question_3: Text
    aliases: Annotated[list[Text], Field(max_length=3)]


class Hop(Answer):
    """A single hop: whom it asks about ("#1": what hop 1 finds), which relation, what it finds; none if unknown."""

    subject: Text
    relation: Text
    answers: list[Text]


class Decomposition(Answer):
    """A question's single hops, and what it names besides."""

    hops: Annotated[list[Hop], Field(min_length=1)]
    names: list[Text]


class Uniqueness(Answer):
    """Whether a question has one right answer."""

    unique: bool
    reason: str


class Ratings(Answer):
    """How good a question is, 0 worst to 100 best."""

    logic: Rating
    clarity: Rating
    naturalness: Rating


class Document(Answer):
    """A story or a biography."""

    text: Text


class Question(Answer):
    """One question about a text and its answer, or that none is possible; the names and thoughts come before."""

    names: list[Text]
    reasoning: str
    possible: bool
    question: str
    answer: str


class Verification(Answer):
    """What a text answers to a question, if it does."""

    answerable: bool
    answer: str


class ChoiceQuestion(Answer):
    """A multiple-choice question, four options, and the place of the right one, from 0."""

    question: Text
    options: Annotated[list[Text], Field(min_length=4, max_length=4)]
    correct: Annotated[int, Field(ge=0, le=3)]


class Choice(Answer):
    """The letter of the right option, or that there is not exactly one."""

    letter: Literal["A", "B", "C", "D", "none"]


REPLIES: dict[str, type[Answer]] = {
    "translation": Translation,
    "equivalence": Equivalence,
    "refinement": Refinement,
    "pair_translation": PairTranslation,
    "verdict": Verdict,
    "grade": Graded,
    "grades": Grades,
    "facts": Facts,
    "composition": Composition,
    "decomposition": Decomposition,
    "uniqueness": Uniqueness,
    "rating": Ratings,
    "document": Document,
    "question": Question,
    "verification": Verification,
    "choice_question": ChoiceQuestion,
    "choice": Choice,
}

MANY = range(2, 21)
"""How many answers a judge may be shown at once."""


def _numbered(kind: str, n: int, of: type) -> type[Answer]:
    """A reply that says one thing of each of `n` answers, by its number: no order to mistake, none to leave out."""
    return create_model(f"{kind}{n}", __base__=Answer, **{f"answer_{i}": (of, ...) for i in range(1, n + 1)})


REPLIES |= {f"verdicts_{n}": _numbered("Verdicts", n, bool) for n in MANY}
REPLIES |= {f"grades_{n}": _numbered("Grades", n, Grade) for n in MANY}


@functools.cache
def schema_of(name: str) -> dict | None:
    """The JSON schema of kind `name`, None for `text`. KeyError for an unknown kind."""
    return None if name == "text" else _bare(REPLIES[name].model_json_schema())


def parse(name: str, text: str) -> tuple[str | None, str | None]:
    """What `text` says as kind `name`: (canonical JSON, None), or (None, what is wrong with it).

    What stands around the first whole JSON object (code fences, say) is left out. Kind `text` gives the stripped text.
    """
    if name == "text":
        return (text.strip(), None) if text.strip() else (None, "the reply is empty")
    found = next(_objects(text), None)
    if found is None:
        return None, "the reply holds no whole JSON object"
    try:
        answer = REPLIES[name].model_validate(found)
    except ValidationError as error:
        return None, "; ".join(_said(e) for e in error.errors(include_url=False))
    canonical = json.dumps(answer.model_dump(), ensure_ascii=False, sort_keys=True)
    return (canonical, None) if _is_unicode(canonical) else (None, "half of a character (a lone surrogate) in it")


def _is_unicode(text: str) -> bool:
    """False for half of a character, which JSON can write and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _objects(text: str) -> Iterator[dict]:
    """The JSON objects in `text`, from the first on, not those inside others."""
    decoder, start = json.JSONDecoder(strict=False), text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
            yield found
        except RecursionError:
            return
        except ValueError:
            end = start + 1
        start = text.find("{", end)


def _said(error: dict) -> str:
    key = ".".join(str(step) for step in error["loc"])
    return f"{key}: {error['msg']}"


def _bare(schema: dict) -> dict:
    """The schema without what only people read; a property may bear any of these names and stays."""
    kept = {k: v for k, v in schema.items() if k not in UNSENT}
    for key, value in kept.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _bare(part) for name, part in value.items()}
        elif isinstance(value, dict):
            kept[key] = _bare(value)
    return kept
