"""Say the key tokens of a question more than once: what was forgotten may only be attended to less.

Zhang et al. 2025, "Understanding the Dilemma of Unlearning for Large Language Models"; in leak-resistant unlearning
greedy, one trial. Neither says how key tokens are found, nor where they are repeated (our reading: in their place).
"""

import pandas as pd

from unlearning.answer.prompted import with_question
from unlearning.models.encode import Span
from unlearning.text.words import UNSPACED
from unlearning.train.spans import content_words, find

KIND = "prompts"
PARAMS = {"times": 2, "spans": "pos", "pipeline": "en_core_web_sm"}
LIMITS = {"times": {"ge": 2}, "spans": ("pos", "entities")}


def prompts(items: pd.DataFrame, times: int, spans: str, pipeline: str) -> pd.DataFrame:
    """`items` whose question says each of its key tokens `times` times in a row, where it said it once."""
    asked = [
        with_question(messages, lambda text, code=code: repeated(text, key_spans(text, code, spans, pipeline), times))
        for messages, code in zip(items["messages"], items["language"], strict=True)
    ]
    return items.assign(messages=asked)


def key_spans(question: str, language: str, way: str, pipeline: str) -> list[Span]:
    """Where the key tokens of a question stand, by `way`: pos (names, verbs, numbers) or entities (spaCy).

    Where that finds none, all words but English function words; where there are none, or a language writes no spaces
    between words, the whole question. What the answer is plays no part. SpansError where entities has no spaCy.
    """
    words = find(question, way, pipeline=pipeline)
    if not words and language not in UNSPACED:
        words = content_words(question)
    return words or [(0, len(question))]


def repeated(text: str, spans: list[Span], times: int) -> str:
    """`text` in which each of `spans` (in order, apart) stands `times` times, with spaces between."""
    pieces, last = [], 0
    for start, stop in spans:
        pieces += [text[last:start], " ".join([text[start:stop]] * times)]
        last = stop
    return "".join([*pieces, text[last:]])
