"""Harmless multiple-choice questions at school level, the retain sets of WMDP, from lists of facts. No language model.

WMDP has no questions to retain; SEPS has 100 written for each of its subjects. Source: SEPS, "WMDP Experimental
Details".
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.data.reasons import reason
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text
from unlearning.seeds import seed_for
from unlearning.text.words import contains, normalise

OPTIONS = 4
COLUMNS = ["question_id", "subject", "question", "options", "correct_option", "answer"]
_OF_OTHERS = re.compile(r"\b(all|none|both|neither|any) of (the|these|them)\b|\b[A-D] (and|or) [A-D]\b", re.IGNORECASE)


class Topic(NamedTuple):
    """A list of facts of one kind: `ask` asks for the key of a value, `back` for the value of a key; None: not so."""

    name: str
    ask: str | None
    back: str | None
    facts: tuple[tuple[str, str], ...]  # (key, value); a key that stands several times is a group


class Draft(NamedTuple):
    """A question, its options, and which of them is right."""

    question: str
    options: tuple[str, ...]
    correct: int

    @property
    def answer(self) -> str:
        """The right option."""
        return self.options[self.correct]


def read_facts(path: Path | str) -> list[Topic]:
    """The topics of a file of resources/seps/school. ResourceError: a question without its place for what is known,
    fewer than four keys, a value given twice.
    """
    return [
        _topic(name, mapping(entry, f"{path}: {name}"), f"{path}: {name}") for name, entry in read_yaml(path).items()
    ]


def terms(topics: Sequence[Topic]) -> list[str]:
    """What the facts are about, each once."""
    return list(dict.fromkeys(key for topic in topics for key, _ in topic.facts))


def templated(subject: str, topics: Sequence[Topic], n: int, seed: int) -> pd.DataFrame:
    """Table `choices`: `n` questions about `topics`, no two alike, drawn and put in order by `seed`.

    Wrong options are other keys or values of the same topic. ValueError: the facts give fewer questions.
    """
    drafts: dict[str, Draft] = {}
    for topic in topics:
        for known, found, question in _asked(topic):
            draw = random.Random(seed_for(seed, "school options", question))
            drafts.setdefault(question, shuffled(question, _with_others(topic, known, found, draw), 0, draw))
    good = {question: draft for question, draft in drafts.items() if wrong(draft) is None}
    if len(good) < n:
        raise ValueError(f"school: {n} questions of {subject}, but its facts give {len(good)}; lower per_subject")
    order = sorted(good, key=lambda question: seed_for(seed, "school question", question))
    return table(subject, [good[question] for question in order[:n]])


def table(subject: str, drafts: Sequence[Draft]) -> pd.DataFrame:
    """Table `choices` of `drafts`, numbered."""
    rows = [
        (f"{subject}/{i:03d}", subject, d.question, list(d.options), d.correct, d.answer) for i, d in enumerate(drafts)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"correct_option": "int32"})


def shuffled(question: str, options: Sequence[str], correct: int, draw: random.Random) -> Draft:
    """The question with its options in an order drawn anew, so that no place is the right one more often."""
    order = draw.sample(range(len(options)), len(options))
    return Draft(question, tuple(options[i] for i in order), order.index(correct))


def wrong(draft: Draft) -> tuple[str, str] | None:
    """(check, what it saw) where the question cannot be asked as it is; None where nothing is wrong."""
    told = [normalise(option) for option in draft.options]
    if not draft.question.strip().endswith("?"):
        return reason("choice_question", "the question does not end with a question mark")
    if len(told) != OPTIONS or not 0 <= draft.correct < len(told):
        return reason("choice_options", f"{len(told)} options, the right one at {draft.correct}; should be {OPTIONS}")
    if len(set(told)) < OPTIONS or not all(told):
        return reason("choice_options", "two options are the same, or one is empty")
    if spoken := next((option for option in draft.options if _OF_OTHERS.search(option)), None):
        return reason("choice_options", f"the option {spoken!r} speaks of the others")
    if contains(normalise(draft.question), told[draft.correct], "en"):
        return reason("choice_named", f"the question names the right option {draft.answer!r}")
    return None


def _topic(name: str, entry: dict, where: str) -> Topic:
    if set(entry) - {"ask", "back", "facts"} or not {"ask", "back"} & set(entry):
        raise ResourceError(f"{where}: has {', '.join(entry)}; should have facts, and ask or back or both")
    ask, back = (text(entry[word], f"{where}.{word}") if word in entry else None for word in ("ask", "back"))
    for word, question, place in (("ask", ask, "{value}"), ("back", back, "{key}")):
        if question is not None and question.count(place) != 1:
            raise ResourceError(f"{where}.{word}: {question!r} should hold {place} once")
    found = mapping(entry.get("facts"), f"{where}.facts")
    facts = tuple(
        (text(key, f"{where}.facts"), text(value, f"{where}.facts.{key}"))
        for key, values in found.items()
        for value in (values if isinstance(values, list) else [values])
    )
    if len({normalise(value) for _, value in facts}) < len(facts):
        raise ResourceError(f"{where}.facts: a value stands twice, so its question has two answers")
    if len(found) < OPTIONS:
        raise ResourceError(f"{where}.facts: {len(found)} keys; {OPTIONS} options take as many")
    if back and len(facts) > len(found):
        raise ResourceError(f"{where}.back: a key with several values has several answers; leave back out")
    return Topic(name, ask, back, facts)


def _asked(topic: Topic) -> list[tuple[str, str, str]]:
    """(what is known: key or value, the fact's key, the question) of every question."""
    found = [("value", key, topic.ask.format(value=value)) for key, value in topic.facts if topic.ask]
    return found + [("key", key, topic.back.format(key=key)) for key, _ in topic.facts if topic.back]


def _with_others(topic: Topic, known: str, key: str, draw: random.Random) -> list[str]:
    """The right option, then wrong ones."""
    if known == "value":
        others = [other for other in dict.fromkeys(k for k, _ in topic.facts) if other != key]
        return [key, *draw.sample(others, OPTIONS - 1)]
    values = dict(topic.facts)
    return [values[key], *draw.sample([value for other, value in topic.facts if other != key], OPTIONS - 1)]
