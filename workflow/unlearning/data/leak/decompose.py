"""Splitting a multi-hop question into single hops by the templates: from its text alone, never from its match."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from unlearning.data.leak.compose import SEPARATOR
from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.leak.templates import Phrases, fill


class Hop(NamedTuple):
    """A single-hop question: of whom, which relation, and what the facts answer (names; several where they differ)."""

    subject: str
    relation: str
    answers: tuple[str, ...]


class Split(NamedTuple):
    """A question's hops and the further entities it names."""

    hops: tuple[Hop, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Splitter:
    """What reads questions back: `split` gives every reading of a question."""

    phrases: Phrases
    knowledge: Knowledge

    def split(self, question: str) -> list[Split]:
        """Every way in which the templates read `question`; none where they do not."""
        readers: list[Callable[[str], Iterator[Split]]] = [self._asked, self._rule, self._backwards, self._shared]
        return list(dict.fromkeys(found for reader in (*readers, self._excluding) for found in reader(question)))

    def _asked(self, question: str) -> Iterator[Split]:
        for relation, inner in self._of("questions", question):
            yield from (Split(self._hops(path, relation), ()) for path in self._paths(inner))

    def _rule(self, question: str) -> Iterator[Split]:
        for rule, wording in _bucket(self._rules, question):
            for part in read(wording, question):
                if self.knowledge.entities(part["subject"]):
                    yield Split(self._hops((part["subject"], rule.first), rule.second), ())

    @functools.cached_property
    def _rules(self) -> dict:
        """Each rule in each wording, with only the subject left open, by how the wording starts."""
        return _buckets(
            (frame, (rule, fill(frame, rule=rule.rule, property=rule.property, subject="{subject}")))
            for rule in self.phrases.rules.values()
            for frame in self.phrases.frames["mp"]
        )

    def _backwards(self, question: str) -> Iterator[Split]:
        for frame in self.phrases.frames["mt"]:
            for part in read(frame, question):
                named = part["candidates"].split(SEPARATOR)
                for relation, denied, inner in self._denials(part["denial"]):
                    for sought, *relations in self._paths(inner, self.phrases.frames["sought"]):
                        if sought in self.phrases.frames["sought"]:
                            hops = [h for name in named for h in self._hops((name, *relations), relation)]
                            yield Split(tuple(dict.fromkeys(hops)), (denied,))

    def _shared(self, question: str) -> Iterator[Split]:
        for frame in self.phrases.frames["cc"]:
            for part in read(frame, question):
                readings = [list(self._paths(part[key])) for key in ("shared_1", "shared_2", "other_1", "other_2")]
                for paths in itertools.product(*readings):
                    if all(len(path) > 1 for path in paths):
                        yield Split(tuple(h for path in paths for h in self._hops(path[:-1], path[-1])), ())

    def _excluding(self, question: str) -> Iterator[Split]:
        for frame in self.phrases.frames["ds"]:
            for part in read(frame, question):
                listed, excluded = part["candidates"].split(SEPARATOR), part["excluded"].split(SEPARATOR)
                if len(listed) - len(excluded) == 1 and set(excluded) < set(listed):
                    for path in self._paths(part["value"]):
                        if len(path) > 1:
                            yield Split(self._hops(path[:-1], path[-1]), tuple(listed))

    def _of(self, kind: str, text: str) -> Iterator[tuple[str, str]]:
        """The relations whose wordings of `kind` fit `text`, with what stands in the slot."""
        for relation, before, after in _bucket(self._ends[kind], text):
            if text.endswith(after) and _starts(text, before) and len(before) + len(after) < len(text):
                yield relation, text[len(before) : len(text) - len(after)]

    @functools.cached_property
    def _ends(self) -> dict[str, dict]:
        """By kind, each wording's relation and what stands before and after its slot, by how the wording starts."""
        return {
            kind: _buckets(
                (wording, (name, *wording.split("{s}")))
                for name, relation in self.phrases.relations.items()
                for wording in getattr(relation, kind)
            )
            for kind in ("questions", "nouns")
        }

    def _paths(self, phrase: str, variables: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """The readings of a noun phrase: a known name (or one of `variables`), then the relations followed from it."""
        if phrase in variables or self.knowledge.entities(phrase):
            yield (phrase,)
        for relation, inner in self._of("nouns", phrase):
            for path in self._paths(inner, variables):
                yield (*path, relation)

    def _denials(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Readings of a denial: relation, the object denied, the phrase it is denied of."""
        for relation, wording in self.phrases.relations.items():
            for denial in wording.denials:
                for part in read(denial, text):
                    if self.knowledge.entities(part["o"]):
                        yield relation, part["o"], part["s"]

    def _hops(self, path: tuple[str, ...], last: str) -> tuple[Hop, ...]:
        """One hop per relation of `path` and then `last`, each asked of what the hop before is answered by."""
        named, *relations = path
        hops, subject, at = [], named, set(self.knowledge.entities(named))
        for relation in (*relations, last):
            at = self.knowledge.follow(at, [relation])
            answers = tuple(sorted({self.knowledge.label(entity) for entity in at}))
            hops.append(Hop(subject, relation, answers))
            subject = answers[0] if answers else ""
        return tuple(hops)


def _buckets(wordings: Iterable[tuple[str, tuple]]) -> dict[tuple[str, ...], list[tuple]]:
    """What belongs to each wording, by the wording's first two words; by none where a slot is among them."""
    found: dict[tuple[str, ...], list[tuple]] = {}
    for wording, belongs in wordings:
        found.setdefault(_start(wording.partition("{")[0]), []).append(belongs)
    return found


def _bucket(buckets: dict[tuple[str, ...], list[tuple]], text: str) -> list[tuple]:
    """What belongs to the wordings that may start like `text`."""
    return buckets.get(_start(text), []) + buckets.get((), [])


def _start(text: str) -> tuple[str, ...]:
    words = text.lower().split(" ", 2)
    return tuple(words[:2]) if len(words) > 2 else ()


def read(wording: str, text: str) -> Iterator[dict[str, str]]:
    """Every way of filling the slots of `wording` that gives `text` (its first letter's case aside).

    No slot is filled with nothing.
    """
    first, rest = _pieces(wording)
    return _read(rest, text[len(first) :], {}) if _starts(text, first) else iter(())


@functools.cache
def _pieces(wording: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What stands before the first slot, then each slot's name and what stands behind it."""
    first, *rest = wording.split("{")
    return first, tuple(tuple(piece.split("}", 1)) for piece in rest)


def _starts(text: str, before: str) -> bool:
    return text.startswith(before[1:], 1) and text[:1].lower() == before[:1].lower() if before else True


def _read(pieces: tuple[tuple[str, str], ...], text: str, found: dict[str, str]) -> Iterator[dict[str, str]]:
    if not pieces:
        if not text:
            yield found
        return
    (name, literal), *others = pieces
    for end in _positions(literal, text) if others else [len(text) - len(literal)]:
        if end > 0 and text.startswith(literal, end):
            yield from _read(others, text[end + len(literal) :], found | {name: text[:end]})


def _positions(literal: str, text: str) -> Iterator[int]:
    at = text.find(literal, 1)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def decompose(composed: pd.DataFrame, phrases: Phrases, knowledge: Knowledge) -> pd.DataFrame:
    """Table `decomposed`: each question of `composed` split by the templates; `failed` says why one was not.

    A question fails when no template reads it with entities of the fact base, or when there are several readings.
    """
    splitter, rows = Splitter(phrases, knowledge), []
    for row in composed.itertuples(index=False):
        readings = splitter.split(row.question)
        failed = None
        if not readings:
            failed = "no template reads it with entities of the facts: a foreign entity or other words"
        elif len(readings) > 1:
            failed = f"{len(readings)} readings"
        hops, names = ([], []) if failed else ([hop._asdict() for hop in readings[0].hops], list(readings[0].names))
        rows.append((row.match_id, row.variant, hops, names, failed))
    return pd.DataFrame(rows, columns=["match_id", "variant", "hops", "names", "failed"])
