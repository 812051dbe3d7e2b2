"""Small fact bases by hand, and the phrases of the resources."""

import os
from functools import cache
from pathlib import Path

import pandas as pd

from unlearning.data.leak.knowledge import COLUMNS, fact_id, index
from unlearning.data.leak.templates import read_phrases

RESOURCES = Path(__file__).resolve().parents[1] / "resources" / "leak"
SHARED = Path(os.environ.get("UNLEARNING_SHARED", Path(__file__).resolve().parents[2] / "shared"))
MQUAKE = SHARED / "data" / "mquake" / "MQuAKE-CF-3k.json.gz"


@cache
def phrases(name="mquake"):
    """The wordings for MQuAKE's relations, or those of the invented world."""
    return read_phrases(
        RESOURCES / "templates" / f"{name}.yaml", RESOURCES / "frames.yaml", RESOURCES / "rules" / f"{name}.yaml"
    )


def facts(*triples, aliases=None, labels=None, keep=()):
    """A table `facts` of (subject, relation, object) identifiers; all to be forgotten but those of numbers `keep`.

    An entity is called by its identifier unless `labels` says otherwise; `aliases`: identifier -> further names.
    """
    aliases, labels, rows = aliases or {}, labels or {}, []
    for number, (subject, relation, object_) in enumerate(triples):
        name, value = labels.get(subject, subject), labels.get(object_, object_)
        said = phrases().relations[relation]
        rows.append({
            "fact_id": fact_id(subject, relation, object_), "subject_id": subject, "subject": name,
            "subject_aliases": aliases.get(subject, []), "relation": relation, "relation_label": said.label,
            "object_id": object_, "object": value, "object_aliases": aliases.get(object_, []), "question": f"{name}?",
            "statement": f"{name}: {value}.", "cloze": f"{name}:", "group": "retain" if number in keep else "forget",
            "case_ids": [], "spans": [],
        })  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def known(*triples, **given):
    """The index of `facts`."""
    return index(facts(*triples, **given))
