"""The question does not give its own answer away."""

import functools

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.languages import Language
from unlearning.data.matching import comparable, word_forms
from unlearning.data.text import fold, mask_name, per_distinct


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` whose question contains its value, in the template or in the person's name, or None.

    Case, accents, endings, articles and word order do not hide it (`matching.word_forms`): the question holds the value
    when it holds each of its words. Where words are not written apart any occurrence counts.

    Known limits, which only a dictionary would lift. Refused though good: a Thai or Chinese value inside a longer word
    that has nothing to do with it (นม, milk, in ขนม, sweets). Not found: a word of up to four letters whose stem
    changes, a word of up to three that carries its article (Macedonian волк, волците; коњ, коњот), and Thai แดง for
    the value สีแดง.
    """
    question = mask_name(pairs["question"], pairs["name"])
    texts = pd.DataFrame({"question": question, "name": pairs["name"], "value": pairs["value"]})
    in_template = per_distinct(texts, ["question", "value"], functools.partial(_in_template, language=context.language))
    in_name = per_distinct(texts, ["name", "value"], _in_name)
    return in_template.where(in_template.notna(), in_name)


def _in_template(question: str, value: str, language: Language) -> str | None:
    found = [form.search(comparable(question, language)) for form in word_forms(value, language)]
    if not all(found):
        return None
    return f"the question holds its value {value!r} (as {' … '.join(match.group() for match in found)!r})"


def _in_name(name: str, value: str) -> str | None:
    held = f" {fold(value)} " in f" {fold(name)} "
    return f"the name {name!r} in the question holds the value {value!r}" if held else None
