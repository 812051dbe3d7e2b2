"""The judge that is a language model: it is shown question, reference and answer, and says how right the answer is.

Scale `verdict`: right or wrong. Scale `grade`: 0 (nothing of the reference) to 10 (all of it), score = grade/10.
Form `single` shows one answer a prompt, `pair` two, `list` several, of one language; each (question, reference, answer)
is shown once, however often it was given. Grades of SEPS's stress test have meanings of their own, as in the paper. An
empty answer is wrong, grade 0, without asking.
Sources: μ²-Bench, "Semantic Equivalence" (verdict); SEPS, the LLM score (grade).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from unlearning.answer.parts import stress_test
from unlearning.judges.rule import forms_of, places
from unlearning.llm.prompts import Prompt, prompt_table
from unlearning.llm.requests import Sampling

NEEDS = ("answers", "items", "complete")
PROMPTS = {
    "verdict": {"single": "judge_single", "pair": "judge_pair", "list": "judge_list"},
    "grade": {"single": "judge_grade", "pair": "judge_grade_list", "list": "judge_grade_list"},
}
"""scale -> form -> the file in resources/prompts."""

RIGHT_FROM = 7  # ASSUME: a graded answer is right from "nearly all; what is off is minor and misleads nobody"
SHOWN = ["question", "reference", "answer"]
CASE = ["language", "stress", *SHOWN]
"""What tells cases apart: the stress test's have grades with other meanings."""
EMPTY = (0.0, False, "empty answer; the judge was not asked", None)


class Batch(NamedTuple):
    """What one prompt shows: places in the table of distinct cases, in the order of the prompt."""

    prompt_id: str
    cases: tuple[int, ...]


def prompts(
    answers: pd.DataFrame, items: pd.DataFrame, prompt: Prompt, sampling: Sampling, scale: str, size: int
) -> pd.DataFrame:
    """Table `prompts` of role judge: every distinct case of table `answers` once, `size` a prompt (1: form single).

    `prompt` is the file that `PROMPTS` names for the form and `scale`. ValueError for an answer to an unknown item, and
    for a prompt of several questions.
    """
    cases, _ = _cases(answers, items, scale)
    shown = [{**case, "scale": scale} for case in _shown(cases, items)]
    tables = []
    for n, batches in _by_length(_batches(cases, size)).items():
        inputs = [shown[b.cases[0]] if size == 1 else {"answers": [shown[i] for i in b.cases]} for b in batches]
        asking = prompt if size == 1 else prompt._replace(reply=f"{prompt.reply.rpartition('_')[0]}_{n}")
        tables.append(prompt_table(asking, "judge", [batch.prompt_id for batch in batches], inputs, sampling))
    return pd.concat(tables, ignore_index=True) if tables else prompt_table(prompt, "judge", [], [], sampling)


def verdicts(
    completions: pd.DataFrame, answers: pd.DataFrame, items: pd.DataFrame, scale: str, size: int
) -> pd.DataFrame:
    """Table `verdicts`: one row an answer, from what came back for the `prompts` of the same answers, items and size.

    Where no usable reply came, score and correct are null and `failed` says why; `raw` holds what the judge wrote.
    """
    cases, codes = _cases(answers, items, scale)
    replies = {row["prompt_id"]: row for row in completions.to_dict("records")}
    found: dict[int, tuple] = {}
    for batch in _batches(cases, size):
        for number, case in enumerate(batch.cases, 1):
            key = f"answer_{number}" if size > 1 else {"verdict": "correct", "grade": "score"}[scale]
            found.setdefault(case, _read(replies[batch.prompt_id], key, scale))
    rows = [EMPTY if code < 0 else found[code] for code in codes]
    told = pd.DataFrame(rows, columns=["score", "correct", "raw", "failed"], dtype=object)
    asked = answers[["item_id", "sample", "part"]].reset_index(drop=True).assign(judge="llm")
    return pd.concat([asked, told.astype({"score": float})], axis=1)


def _read(reply: Mapping, key: str, scale: str) -> tuple[float | None, bool | None, str | None, str | None]:
    """(score, correct, raw, failed) of one answer."""
    if not isinstance(reply["parsed"], str):
        return None, None, reply["text"], reply["failed"]
    said = json.loads(reply["parsed"])[key]
    score, correct = (said / 10, said >= RIGHT_FROM) if scale == "grade" else (float(said), said)
    return score, correct, reply["text"], None


def _cases(answers: pd.DataFrame, items: pd.DataFrame, scale: str) -> tuple[pd.DataFrame, np.ndarray]:
    """(distinct cases in a fixed order, which of them each answer is; −1 for an empty one)."""
    at = places(answers, items)
    asked, item = np.unique(at, return_inverse=True)
    used = items.iloc[asked]
    questions = np.array([_question(messages) for messages in used["messages"]], dtype=object)
    frame = pd.DataFrame(
        {
            "stress": (stress_test(used).to_numpy() & (scale == "grade"))[item],
            "place": at, "item_id": answers["item_id"].to_numpy(), "language": used["language"].to_numpy()[item],
            "question": questions[item], "reference": used["reference"].to_numpy()[item],
            "answer": answers["text"].str.strip().to_numpy(),
        }
    )  # fmt: skip
    distinct = frame[frame["answer"] != ""].sort_values([*CASE, "item_id"]).drop_duplicates(["stress", *SHOWN])
    keys = [pd.MultiIndex.from_frame(table[["stress", *SHOWN]]) for table in (distinct, frame)]
    codes = keys[0].get_indexer(keys[1])
    return distinct.reset_index(drop=True), codes


def _question(messages: Sequence[Mapping]) -> str:
    """The question asked: the message, or the whole conversation where there are several."""
    said = [(m["role"], m["content"]) for m in messages]
    return said[0][1] if len(said) == 1 else "\n".join(f"{role}: {content}" for role, content in said)


def _shown(cases: pd.DataFrame, items: pd.DataFrame) -> list[dict]:
    """What is filled in for each case; an offline judge reads language and the right and wrong forms too."""
    forms = forms_of(items.iloc[cases["place"]])
    rows = cases[CASE].to_dict("records")
    return [
        row | {"right": f.right, "wrong": f.wrong} | ({"options": f.options} if f.options else {})
        for row, f in zip(rows, forms, strict=True)
    ]


def _batches(cases: pd.DataFrame, size: int) -> list[Batch]:
    """Cases of one language and kind of grade side by side, `size` at a time.

    One left over is shown beside the first once more.
    """
    contents = cases[CASE].to_numpy().tolist()
    batches = []
    for alike in cases.groupby(["language", "stress"], sort=True).indices.values():
        for start in range(0, len(alike), size):
            chosen = alike[start : start + size].tolist()
            if size > 1 and len(chosen) == 1:
                chosen.append(int(alike[0]))
            content = json.dumps([contents[i] for i in chosen], ensure_ascii=False)
            batches.append(Batch(hashlib.sha256(content.encode()).hexdigest()[:16], tuple(chosen)))
    return batches


def _by_length(batches: list[Batch]) -> dict[int, list[Batch]]:
    """number of answers shown -> the prompts that show so many."""
    found: dict[int, list[Batch]] = {}
    for batch in batches:
        found.setdefault(len(batch.cases), []).append(batch)
    return found
