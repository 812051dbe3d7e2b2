"""MQuAKE's file (JSON, also gzipped) as a table `facts`: the original triples; counterfactual ones never enter.

Zhong et al. 2023. Everything is joined on Wikidata identifiers, as labels repeat ("Cambridge" is two cities).
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from unlearning.data.leak.knowledge import COLUMNS, fact_id
from unlearning.data.leak.names import clean_aliases


class MquakeError(ValueError):
    """The file is not MQuAKE's; the message names the file, the case, the key and what is expected."""


def read_mquake(path: Path | str) -> pd.DataFrame:
    """The unique original triples of the cases at `path` as a table `facts`, in the order of their first case.

    A fact is to be forgotten when some case's edit is of its subject and relation, whatever other cases' edits say of
    them. An entity's aliases are those the file gives it wherever it is an answer, so a subject has some only where it
    is also an object of an original triple. MquakeError: not readable, or a case without what is needed.
    """
    rows, names, edited = {}, {}, set()
    for case in _cases(Path(path)):
        where = f"{path}, case {case.get('case_id', '?')}"
        for triple, labels, hop in _hops(case, where):
            subject, relation, object_ = triple
            ident = fact_id(*triple)
            names.setdefault(subject, [labels[0]])
            names.setdefault(object_, [labels[2]]).extend([labels[2], hop["answer"], *hop["answer_alias"]])
            row = rows.setdefault(ident, {
                "fact_id": ident, "subject_id": subject, "relation": relation, "relation_label": labels[1],
                "object_id": object_, "question": hop["question"], "cloze": hop["cloze"], "case_ids": [],
            })  # fmt: skip
            if case["case_id"] not in row["case_ids"]:
                row["case_ids"].append(case["case_id"])
        edited |= {(edit[0], edit[1]) for edit in case["orig"]["edit_triples"]}
    aliases = {entity: clean_aliases(found[0], found[1:]) for entity, found in names.items()}
    for row in rows.values():
        subject, object_ = row["subject_id"], row["object_id"]
        row |= {"subject": names[subject][0], "subject_aliases": aliases[subject]}
        row |= {"object": names[object_][0], "object_aliases": aliases[object_], "spans": []}
        row["statement"] = f"{row['cloze']} {row['object']}."
        row["group"] = "forget" if (subject, row["relation"]) in edited else "retain"
    return pd.DataFrame(list(rows.values()), columns=list(COLUMNS))


def _cases(path: Path) -> list[dict]:
    if not path.is_file():
        raise MquakeError(f"{path}: no such file; give the path of MQuAKE's JSON file (or the same gzipped)")
    content = path.read_bytes()
    try:
        cases = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (ValueError, OSError, EOFError) as error:
        raise MquakeError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise MquakeError(f"{path}: should be a JSON array of cases, one object each")
    return cases


def _hops(case: dict, where: str) -> Iterator[tuple[list, list, dict]]:
    """Each original triple of `case` with its labels and its single-hop question."""
    try:
        triples, labels, hops = case["orig"]["triples"], case["orig"]["triples_labeled"], case["single_hops"]
        edits = case["orig"]["edit_triples"]
        needed = [[hop[key] for key in ("question", "cloze", "answer", "answer_alias")] for hop in hops]
    except (KeyError, TypeError) as error:
        raise MquakeError(
            f"{where}: lacks {error}; a case has case_id, single_hops (question, cloze, answer, answer_alias) and "
            "orig with triples, triples_labeled and edit_triples"
        ) from None
    if not len(triples) == len(labels) == len(needed) or not edits or "case_id" not in case:
        raise MquakeError(
            f"{where}: {len(triples)} triples, {len(labels)} labelled ones, {len(hops)} single_hops, {len(edits)} "
            "edit_triples; the first three should be as many, there should be an edit and a case_id"
        )
    return zip(triples, labels, hops, strict=True)
