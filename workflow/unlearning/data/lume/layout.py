"""LUME's examples, items and splits, from documents, where they are cut, and questions about them."""

import pandas as pd

from unlearning.data.arrow import Built, table, user_messages
from unlearning.data.lume.texts import completion

LANGUAGE = "en"
COLUMNS = ["example_id", "document_id", "task", "role", "what", "question", "answer", "value"]


def cut(documents: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Table `continuations`: each document that is not a non-member's, cut where a sentence begins in its second half.

    ValueError: one cannot be cut.
    """
    rows = documents[documents["role"] != "nonmember"]
    found = [(i, *completion(text, seed, i)) for i, text in zip(rows["document_id"], rows["text"], strict=True)]
    return pd.DataFrame(found, columns=["document_id", "input", "reference"])


def build(
    documents: pd.DataFrame, continuations: pd.DataFrame, knowledge: pd.DataFrame, split: str, benchmark: str = "lume"
) -> Built:
    """The tables of one LUME data set; `benchmark` is the name that they carry.

    - examples: of each memorised or background document the document itself (plain text), its completion prompt and its
      questions; `domain` is the task. What is taught of documents alone are the rows without messages.
    - items: of each memorised document its completion (task task1_completion …) and its questions (task1_knowledge …),
      group retain; the split says the rest. Of task 3 the bare documents too (task3_document), those of the
      non-members in group nonmember: whose likelihood a membership attack compares.
    - splits: the memorised documents, forget or retain, as `split`. A document's rows share its knowledge_id.
    """
    rows = _rows(documents, continuations, knowledge)
    taught = rows[rows["role"] != "nonmember"]
    bare = (rows["what"] == "document") & (rows["task"] == "task3") & (rows["role"] != "background")
    asked = rows[(rows["what"] != "document") & (rows["role"] == "memorised") | bare]
    members = documents[documents["role"] == "memorised"]
    splits = pd.DataFrame({"split": split, "knowledge_id": members["document_id"], "group": members["group"]})
    return Built(_examples(taught, benchmark), _items(asked, benchmark), splits.reset_index(drop=True))


def _rows(documents: pd.DataFrame, continuations: pd.DataFrame, knowledge: pd.DataFrame) -> pd.DataFrame:
    """What can be taught or asked of each document, `what`: document, completion or knowledge; in documents' order."""
    own = documents[["document_id", "task", "role"]].reset_index(names="order")
    whole = documents[["document_id"]].assign(what="document", question=None, answer=documents["text"], value=None)
    ends = continuations.rename(columns={"input": "question", "reference": "answer"})
    ends = ends.assign(what="completion", value=None)
    asked = knowledge.assign(what="knowledge", value=knowledge["answer"])
    names = pd.Series(["/qa" + number for number in asked["number"].astype("str")], asked.index, dtype=object)
    named = ((whole, "/document"), (ends, "/completion"), (asked, names))
    parts = [part.assign(example_id=part["document_id"] + name) for part, name in named]
    rows = pd.concat([part.astype(object) for part in parts], ignore_index=True).merge(own, on="document_id")
    return rows.sort_values("order", kind="stable", ignore_index=True)[COLUMNS]


def _examples(rows: pd.DataFrame, benchmark: str):
    return table("examples", len(rows), {
        "example_id": rows["example_id"], "benchmark": benchmark, "group": rows["role"], "modality": "text",
        "knowledge_id": rows["document_id"], "person_id": rows["document_id"], "language": LANGUAGE,
        "messages": user_messages(rows["question"]), "answer": rows["answer"], "value": rows["value"],
        "domain": rows["task"],
    })  # fmt: skip


def _items(rows: pd.DataFrame, benchmark: str):
    return table("items", len(rows), {
        "item_id": rows["example_id"], "benchmark": benchmark, "task": rows["task"] + "_" + rows["what"],
        "group": rows["role"].replace({"memorised": "retain"}), "knowledge_id": rows["document_id"],
        "person_id": rows["document_id"], "language": LANGUAGE, "modality": "text",
        "messages": user_messages(rows["question"]), "reference": rows["answer"], "value": rows["value"],
    })  # fmt: skip
