"""The offline judge: the rule judge's verdict, in the words that an LLM judge replies with. No LLM is asked."""

import json
from collections.abc import Mapping

from unlearning.judges.rule import Forms, verdict
from unlearning.text.words import normalise


def answer(inputs: Mapping) -> str:
    """Reply verdict or grade (by input `scale`: right is 10, wrong 0), or one of each of `answers` by its number."""
    if "answers" in inputs:
        said = [_judged(case)[0] for case in inputs["answers"]]
        return json.dumps({f"answer_{i}": value for i, value in enumerate(said, 1)})
    value, reason = _judged(inputs)
    return json.dumps(
        {"score" if inputs["scale"] == "grade" else "correct": value, "reason": reason}, ensure_ascii=False
    )


def _judged(case: Mapping) -> tuple[bool | int, str]:
    right, wrong, options = (tuple(case.get(name, ())) for name in ("right", "wrong", "options"))
    forms = Forms(normalise(case["reference"]), right, wrong, case["language"], options)
    right, reason = verdict(case["answer"], forms)
    return (10 * right if case["scale"] == "grade" else right), reason
