"""Questions about documents by language models: one asks, code checks, three verify.

A question is kept only if all three verifiers, who do not see its answer, find that answer in the document.
"""

from typing import NamedTuple

import pandas as pd

from unlearning.data.lume.made import KNOWLEDGE, Made
from unlearning.data.lume.texts import wrong_question
from unlearning.data.matching import ARTICLES
from unlearning.data.reasons import reason
from unlearning.data.refused import refusal, rejected
from unlearning.data.rounds import Tools, asked
from unlearning.text.words import normalise

VERIFIERS = ("verifier_1", "verifier_2", "verifier_3")


class Questions(NamedTuple):
    """`found`: document -> its (question, answer); `refused`: document -> the (check, why) for which it has none."""

    found: dict[str, tuple[str, str]]
    refused: dict[str, tuple[str, str]]


def questions(documents: dict[str, str], tools: Tools) -> Questions:
    """One verified question about each of `documents` (identifier -> text), or why there is none."""
    found, refused = {}, {}
    idents = list(documents)
    replies = asked(tools, "questioner", "questioner", idents, [{"text": documents[ident]} for ident in idents])
    for ident, (said, failed) in zip(idents, replies.itertuples(index=False), strict=True):
        if said is None:
            refused[ident] = reason("no_reply", failed)
        elif why := _unusable(said, documents[ident]):
            refused[ident] = reason("question", why)
        else:
            found[ident] = (said["question"].strip(), said["answer"].strip())
    for verifier in VERIFIERS:  # the later ones are asked only of what the earlier ones let pass
        idents = list(found)
        inputs = [{"text": documents[ident], "question": found[ident][0]} for ident in idents]
        replies = asked(tools, verifier, "verifier", idents, inputs)
        for ident, (said, failed) in zip(idents, replies.itertuples(index=False), strict=True):
            if why := _doubted(said, failed, found[ident][1]):
                refused[ident] = reason("verifiers", f"{verifier} {why} ({found[ident][0]} {found[ident][1]})")
                del found[ident]
    return Questions(found, refused)


def _unusable(said: dict, text: str) -> str | None:
    if not said["possible"]:
        return "the questioner says that no question is possible"
    if not said["names"]:
        return "the questioner found no proper noun"
    return wrong_question(said["question"].strip(), said["answer"].strip(), text)


def _doubted(said: dict | None, failed: str | None, answer: str) -> str | None:
    """Why a verifier's reply does not confirm `answer`."""
    if said is None:
        return f"gives no reply that can be used: {failed}"
    if not said["answerable"]:
        return "cannot answer the question from the document"
    return None if same(said["answer"], answer) else f"answers {said['answer']!r}"


def same(one: str, other: str) -> bool:
    """Whether two answers are the same words, without case, punctuation and articles at the start."""
    return bool(_bare(one)) and _bare(one) == _bare(other)


def _bare(answer: str) -> str:
    words = normalise(answer).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ARTICLES else words)


def replaced(given: Made, tools: Tools) -> Made:
    """`given` (`real.sample`) with a verified question about each memorised document.

    One about which there is none is in `rejected`, and a spare (role background) takes its place and group, as long as
    there are any; the spares left over are dropped. The funnel gets the steps question, with how many were memorised at
    the end. ValueError: the spares are too few.
    """
    documents = given.documents.set_index("document_id", drop=False)
    spares = list(documents.index[documents["role"] == "background"])
    open_ = {ident: group for ident, group in documents["group"].items() if documents["role"][ident] == "memorised"}
    groups, knowledge, refused = {}, {}, []
    while open_:
        said = questions(documents.loc[list(open_), "text"].to_dict(), tools)
        knowledge |= said.found
        groups |= {ident: open_[ident] for ident in said.found}
        refused += [refusal(ident, *why, 1, text=documents["text"][ident]) for ident, why in said.refused.items()]
        lost = [open_[ident] for ident in open_ if ident in said.refused]
        if len(lost) > len(spares):
            raise ValueError(
                f"{len(lost)} biographies are left without a verified question, but {len(spares)} spare; give more "
                "biographies, or other models for questioner and verifiers"
            )
        open_, spares = dict(zip(spares, lost, strict=False)), spares[len(lost) :]
    kept = documents[documents.index.isin(groups) | (documents["role"] == "nonmember")]
    kept = kept.assign(
        group=pd.Series([groups.get(ident) for ident in kept.index], kept.index, dtype=object),
        role=["memorised" if ident in groups else "nonmember" for ident in kept.index],
    )
    rows = [(ident, 0, *knowledge[ident]) for ident in kept.index if ident in knowledge]
    steps = pd.DataFrame([("task3", "question", len(groups))], columns=["type", "step", "n"])
    return Made(
        kept.reset_index(drop=True), pd.DataFrame(rows, columns=KNOWLEDGE),
        pd.concat([given.rejected, rejected(refused)], ignore_index=True),
        pd.concat([given.funnel, steps], ignore_index=True),
    )  # fmt: skip
