"""Wordings of relations, of the types of multi-hop question, and the rules of modus ponens, from YAML files."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.text import capital
from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text

VARIANTS = 3
SLOTS = {"questions": {"s"}, "nouns": {"s"}, "statements": {"s", "o"}, "denials": {"s", "o"}}
FRAMES = {
    "mp": {"rule", "property", "subject"},
    "mt": {"candidates", "denial"},
    "sought": set(),
    "cc": {"shared_1", "shared_2", "other_1", "other_2"},
    "ds": {"value", "candidates", "excluded"},
}
_SLOT = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class Relation:
    """A relation's label and wordings with {s} for the subject and {o} for the object; three of each or more."""

    label: str
    questions: tuple[str, ...]
    statements: tuple[str, ...]
    nouns: tuple[str, ...]
    denials: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """A general rule of modus ponens: `property` of a thing is `second` of its `first`."""

    first: str
    second: str
    property: str
    rule: str


@dataclass(frozen=True)
class Phrases:
    """All that composing and splitting by templates needs."""

    relations: dict[str, Relation]
    frames: dict[str, tuple[str, ...]]
    rules: dict[tuple[str, str], Rule]


def read_phrases(relations: Path | str, frames: Path | str, rules: Path | str) -> Phrases:
    """The three resource files. ResourceError: a slot missing or unknown, too few wordings, one twice."""
    found = read_relations(relations)
    return Phrases(found, _frames(frames), read_rules(rules, found))


def read_relations(path: Path | str) -> dict[str, Relation]:
    """The wordings of relations in the file at `path`."""
    return {name: _relation(entry, f"{path}, {name}") for name, entry in read_yaml(path).items()}


def _relation(entry: object, where: str) -> Relation:
    entry = mapping(entry, where)
    if set(entry) != {"label", *SLOTS}:
        raise ResourceError(f"{where}: has {', '.join(entry)}; should have label, {', '.join(SLOTS)}")
    wordings = {kind: _wordings(entry[kind], slots, f"{where}, {kind}") for kind, slots in SLOTS.items()}
    return Relation(text(entry["label"], f"{where}, label"), **wordings)


def _wordings(found: object, slots: set[str], where: str) -> tuple[str, ...]:
    if not isinstance(found, list) or len(found) < VARIANTS or len({str(w) for w in found}) < len(found):
        raise ResourceError(f"{where}: should be a list of {VARIANTS} different wordings or more")
    for wording in found:
        if sorted(_SLOT.findall(text(wording, where))) != sorted(slots):
            raise ResourceError(f"{where}: {wording!r} should have once each: {', '.join(sorted(slots)) or 'no slot'}")
    return tuple(found)


def _frames(path: Path | str) -> dict[str, tuple[str, ...]]:
    content = read_yaml(path)
    if set(content) != set(FRAMES):
        raise ResourceError(f"{path}: has {', '.join(content)}; should have {', '.join(FRAMES)}")
    return {kind: _wordings(content[kind], slots, f"{path}, {kind}") for kind, slots in FRAMES.items()}


def read_rules(path: Path | str, relations: dict[str, Relation]) -> dict[tuple[str, str], Rule]:
    """The rules of modus ponens at `path`, by their two relations, which `relations` has."""
    rules = {}
    for number, entry in enumerate(read_yaml(path).get("rules") or [], start=1):
        where = f"{path}, rule {number}"
        entry = mapping(entry, where)
        if set(entry) != {"first", "second", "property", "rule"}:
            raise ResourceError(f"{where}: has {', '.join(entry)}; should have first, second, property, rule")
        rule = Rule(**{key: text(value, f"{where}, {key}") for key, value in entry.items()})
        if unknown := {rule.first, rule.second} - set(relations):
            raise ResourceError(f"{where}: unknown relation {', '.join(sorted(unknown))}")
        if (rule.first, rule.second) in rules or rule.rule in {other.rule for other in rules.values()}:
            raise ResourceError(
                f"{where}: a rule of {rule.first} and {rule.second}, or these words, stand above already"
            )
        rules[rule.first, rule.second] = rule
    return rules


def generic(label: str) -> Relation:
    """Plain wordings of a relation that has only a label, as those extracted from a text."""
    return Relation(
        label,
        (f"What is the {label} of {{s}}?", f"Who or what is the {label} for {{s}}?", f"Name the {label} of {{s}}."),
        (f"the {label} of {{s}} is {{o}}", f"{{s}} has the {label} {{o}}", f"{{o}} is the {label} of {{s}}"),
        (f"the {label} of {{s}}", f"the {label} that {{s}} has", f"the {label} belonging to {{s}}"),
        (f"the {label} of {{s}} is not {{o}}", f"{{s}} does not have the {label} {{o}}",
         f"{{o}} is not the {label} of {{s}}"),
    )  # fmt: skip


def with_generic(phrases: Phrases, knowledge: Knowledge) -> Phrases:
    """`phrases` with plain wordings for the relations of `knowledge` that it lacks."""
    plain = {name: generic(label) for name, label in knowledge.relations.items()}
    return Phrases(plain | phrases.relations, phrases.frames, phrases.rules)


def sentence(words: str) -> str:
    """`words` with a capital and a full stop."""
    return f"{capital(words)}."


def wordings(facts: pd.DataFrame, relations: dict[str, Relation]) -> pd.DataFrame:
    """Table `wordings`: each fact's single-hop question and statement in every wording of its relation.

    A model that learns one variant can be tested on the others. KeyError: a relation without wordings.
    """
    rows = [
        (
            row.fact_id,
            variant,
            capital(fill(question, s=row.subject)),
            sentence(fill(said, s=row.subject, o=row.object)),
        )
        for row in facts.itertuples(index=False)
        for variant, (question, said) in enumerate(
            zip(relations[row.relation].questions, relations[row.relation].statements, strict=False)
        )
    ]
    return pd.DataFrame(rows, columns=["fact_id", "variant", "question", "statement"])


def fill(wording: str, **parts: str) -> str:
    """`wording` with its slots filled; what is filled in is never read as a slot again."""
    return _SLOT.sub(lambda slot: parts[slot.group(1)], wording)
