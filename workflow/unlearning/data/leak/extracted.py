"""From extracted (subject, relation, object) tuples to facts: the text route after the extractor."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable

import pandas as pd

from unlearning.data.leak.knowledge import COLUMNS, fact_id
from unlearning.data.leak.leaks import occurrences
from unlearning.data.leak.names import clean_aliases
from unlearning.data.leak.templates import fill, generic, sentence
from unlearning.data.refused import refusal, rejected
from unlearning.data.sentences import sentences
from unlearning.data.text import capital, fold

MOST_WORDS = 12  # of a name; more is a clause
VAGUE = frozenset(
    "he she it they we i you him her them us me this that these those who which someone somebody something anyone "
    "anybody anything everyone everybody everything one there here unknown none nobody nothing n/a".split()
)


def good_tuples(extracted: pd.DataFrame, chunks: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of `extracted` of use, and the table `rejected` of the others with the first reason each.

    Refused: an empty part; a pronoun or another vague word as subject or object; a part of more than 12 words; subject
    and object the same; subject or object in none of their names in the chunk; a quote that the chunk does not hold.
    ValueError: a chunk that `chunks` lacks.
    """
    texts = {(row.document, row.chunk): row.text for row in chunks.itertuples(index=False)}
    if gone := set(zip(extracted["document"], extracted["chunk"], strict=True)) - set(texts):
        raise ValueError(f"extracted: chunk {min(gone)} is not in the table of chunks")
    reasons = [_refused(row, texts[row.document, row.chunk]) for row in extracted.itertuples(index=False)]
    rows = [
        refusal(f"{row.document}#{row.chunk}#{number}", "quality", why, 0, subject=row.subject, relation=row.relation,
                object=row.object)
        for number, (row, why) in enumerate(zip(extracted.itertuples(index=False), reasons, strict=True))
        if why
    ]  # fmt: skip
    kept = extracted[[why is None for why in reasons]].reset_index(drop=True)
    return kept, rejected(rows)


def _refused(row, text: str) -> str | None:
    parts = {"subject": row.subject, "relation": row.relation, "object": row.object}
    if empty := [part for part, said in parts.items() if not re.search(r"\w", said)]:
        return f"no {empty[0]}"
    for part in ("subject", "object"):
        if fold(parts[part]) in VAGUE:
            return f"the {part} {parts[part]!r} names nobody and nothing"
    if long := [part for part, said in parts.items() if len(said.split()) > MOST_WORDS]:
        return f"the {long[0]} has more than {MOST_WORDS} words"
    if fold(row.subject) == fold(row.object):
        return "subject and object are the same"
    for part, aliases in (("subject", row.subject_aliases), ("object", row.object_aliases)):
        if not any(occurrences(name, text) for name in (parts[part], *aliases)):
            return f"the {part} {parts[part]!r} is not in the chunk"
    if isinstance(row.quote, str) and not _found(row.quote, text):
        return "the quote is not in the chunk"
    return None


def _found(quote: str, text: str) -> tuple[int, int] | None:
    """The span of `quote` in `text`, whatever its white space and case."""
    words = [re.escape(word) for word in quote.split()]
    found = re.search(r"\s+".join(words), text, re.IGNORECASE) if words else None
    return found.span() if found else None


def locate(row, text: str) -> tuple[int, int]:
    """Where in its chunk's `text` a row of `extracted` is said: its quote, else the first sentence with both its
    ends, else the whole chunk.
    """
    if isinstance(row.quote, str) and (span := _found(row.quote, text)):
        return span
    ends = [(row.subject, *row.subject_aliases), (row.object, *row.object_aliases)]
    for start, end in sentences(text):
        if all(any(occurrences(name, text[start:end]) for name in names) for names in ends):
            return start, end
    return 0, len(text)


def merge(extracted: pd.DataFrame, chunks: pd.DataFrame, forget: Container[str]) -> pd.DataFrame:
    """Table `facts` of the good tuples: one row per fact, with every span of the documents that says it.

    Names that agree but for case, accents and spaces, or that share an alias (a pronoun is none), are one entity; it
    is called by its commonest name, the earliest on a tie. Relations agree but for case and accents. Facts that some
    document of `forget` says are to be forgotten. Question and statement are plain wordings (`templates.generic`).
    """
    entity, names = _entities(extracted)
    texts = {(row.document, row.chunk): (row.start, row.text) for row in chunks.itertuples(index=False)}
    rows: dict[str, dict] = {}
    for row in extracted.itertuples(index=False):
        subject, object_ = entity[fold(row.subject)], entity[fold(row.object)]
        if subject == object_:  # an alias made them one
            continue
        relation = fold(row.relation).replace(":", "%3a")
        ident = fact_id(subject, relation, object_)
        made = rows.setdefault(ident, _row(ident, subject, relation, object_, names, " ".join(row.relation.split())))
        offset, text = texts[row.document, row.chunk]
        start, end = locate(row, text)
        span = {"document": row.document, "chunk": row.chunk, "start": offset + start, "end": offset + end}
        if span not in made["spans"]:
            made["spans"].append(span)
        if row.document in forget:
            made["group"] = "forget"
    return pd.DataFrame(list(rows.values()), columns=list(COLUMNS))


def _row(ident: str, subject: str, relation: str, object_: str, names: dict[str, list[str]], label: str) -> dict:
    (name, *aliases), (value, *other), said = names[subject], names[object_], generic(label)
    cloze = fill(said.statements[0].removesuffix(" {o}"), s=name)
    return {
        "fact_id": ident, "subject_id": subject, "subject": name, "subject_aliases": aliases, "relation": relation,
        "relation_label": label, "object_id": object_, "object": value, "object_aliases": other,
        "question": capital(fill(said.questions[0], s=name)), "cloze": capital(cloze),
        "statement": sentence(fill(said.statements[0], s=name, o=value)), "group": "retain", "case_ids": [],
        "spans": [],
    }  # fmt: skip


def _entities(extracted: pd.DataFrame) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Folded name -> entity, and entity -> its names, the commonest first."""
    group: dict[str, str] = {}

    def root(name: str) -> str:
        group.setdefault(name, name)
        while group[name] != name:
            name = group[name]
        return name

    counts: Counter[str] = Counter()
    aliases: dict[str, None] = {}
    for name, others in _named(extracted):
        counts[name] += 1
        aliases |= dict.fromkeys(others)
        one = root(fold(name))
        for other in others:
            group[root(fold(other))] = one
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts, key=lambda n: -counts[n]):  # stable: the earliest of equals first
        found[root(fold(name))].append(name)
    for name in aliases:
        found[root(fold(name))].append(name)
    ids = {one: fold(names[0]).replace(":", "%3a") for one, names in found.items()}
    names = {ids[one]: [names[0], *clean_aliases(names[0], names[1:])] for one, names in found.items()}
    return {name: ids[root(name)] for name in group}, names


def _named(extracted: pd.DataFrame) -> Iterable[tuple[str, list[str]]]:
    for row in extracted.itertuples(index=False):
        for name, others in ((row.subject, row.subject_aliases), (row.object, row.object_aliases)):
            yield (
                " ".join(name.split()),
                [" ".join(other.split()) for other in others if fold(other) not in VAGUE and re.search(r"\w", other)],
            )
