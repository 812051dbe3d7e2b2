"""Coax: a text before or after the question that talks a model out of refusing, or the start of its own answer.

Our own wording, in resources/attacks/jailbreak_prefix.yaml. Beyond leak-resistant unlearning, which adds no text.
"""

import pandas as pd

from unlearning.answer.prompted import with_question
from unlearning.train.data import refusals_in

KIND = "prompts"
PARAMS = {"place": "prefix"}
LIMITS = {"place": ("prefix", "suffix", "prefill")}
NEEDS = ("phrases",)


def prompts(items: pd.DataFrame, place: str, phrases: dict[str, dict[str, str]]) -> pd.DataFrame:
    """`items` with the phrase for `place` in each item's language, English where it has none.

    prefix and suffix stand in the question's turn, on lines of their own; prefill is the start of the answer, which the
    model goes on from. `phrases`: place -> language -> text.
    """
    said = [refusals_in(phrases[place], code) for code in items["language"]]
    asked = [_with(messages, place, text) for messages, text in zip(items["messages"], said, strict=True)]
    return items.assign(messages=asked)


def _with(messages: list[dict], place: str, text: str) -> list[dict]:
    if place == "prefill":
        return [*messages, {"role": "assistant", "content": text}]
    return with_question(messages, lambda asked: f"{text}\n{asked}" if place == "prefix" else f"{asked}\n{text}")
